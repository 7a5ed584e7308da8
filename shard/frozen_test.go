package shard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/table/provider"
)

var freeze = flag.Bool("freeze", false, "write the frozen shards of edition 2026 that do not exist yet")

// frozen is a shard of edition 2026 in testdata/frozen, written by version 0.1.0, in manifest.json.
type frozen struct {
	Name       string     `json:"name"`
	Profile    string     `json:"profile"`
	StripeRows int64      `json:"stripe_rows,omitempty"`
	NullsApart bool       `json:"nulls_apart,omitempty"`
	EndsApart  bool       `json:"offsets_apart,omitempty"`
	Packed     [][]string `json:"packed,omitempty"`
	Second     string     `json:"alternative,omitempty"` // profile of second encodings
	Rows       int64      `json:"rows"`
	Features   []string   `json:"features"`
	Encodings  []string   `json:"encodings"` // of all blocks and of the trees in them
	Digests    []string   `json:"digests"`   // of the columns
}

func (f frozen) path() string { return filepath.Join("testdata", "frozen", f.Name+".amudai.shard") }

// superseded are shards of the same rows and options whose bytes are read, but no longer written.
func (f frozen) superseded(t testing.TB) []string {
	paths, err := filepath.Glob(filepath.Join("testdata", "frozen", "superseded", f.Name+".*.amudai.shard"))
	require.NoError(t, err)
	return paths
}

func (f frozen) options(t testing.TB) shard.WriterOptions {
	p, err := encoding.ParseProfile(f.Profile)
	require.NoError(t, err)
	var second *shard.Alternative
	if f.Second != "" {
		q, err := encoding.ParseProfile(f.Second)
		require.NoError(t, err)
		second = &shard.Alternative{Edition: shard.Edition2026, Profile: q}
	}
	return shard.WriterOptions{Alternative: second, Edition: shard.Edition2026, Profile: p, StripeRows: f.StripeRows, NullsApart: f.NullsApart, OffsetsApart: f.EndsApart, Packed: f.Packed, CreationTime: Created, Program: "TestFrozen"}
}

// neverChosen are encodings of the reference that edition 2026 chose for none of the columns when it was frozen. The shards of the
// reference have them.
var neverChosen = []encoding.Code{encoding.TruncateU64, encoding.FSST, encoding.ZigZag}

const manifest = "testdata/frozen/manifest.json"

// TestFrozen holds every version of this library to the bytes of edition 2026: it reads the shards of its first version,
// and writes the same bytes for the same rows and options. Bytes of versions before 0.1.0, and of other compressors, are read.
func TestFrozen(t *testing.T) {
	if *freeze {
		freezeEdition(t)
	}
	text, err := os.ReadFile(manifest)
	require.NoError(t, err)
	var list []frozen
	require.NoError(t, json.Unmarshal(text, &list))
	have := map[string]bool{}
	total := 0
	for _, f := range list {
		want, err := os.ReadFile(f.path())
		require.NoError(t, err)
		total += len(want)
		for _, name := range append(f.Features, f.Encodings...) {
			have[name] = true
		}
		for _, path := range f.superseded(t) {
			old, err := os.ReadFile(path)
			require.NoError(t, err)
			s, batches := readFrozen(t, old)
			before := describe(t, s, old, f, batches)
			for _, name := range append(before.Features, before.Encodings...) {
				have[name] = true
			}
			before.Features, before.Encodings = f.Features, f.Encodings // other choices
			require.Equal(t, f, before, path)
		}
		t.Run(f.Name, func(t *testing.T) {
			s, batches := readFrozen(t, want)
			require.Equal(t, f, describe(t, s, want, f, batches))
			var out bytes.Buffer
			writeFrozen(t, &out, batches, f.options(t))
			require.True(t, bytes.Equal(want, out.Bytes()), "the same rows and options give other bytes than in version 0.1.0: a change of bytes is a new edition (CONTRIBUTING.md)")
		})
	}
	have["external-parquet"] = true // TestFrozenImport
	have["deleted-records"] = true  // TestFrozenLife
	for _, row := range edition.Table {
		require.True(t, have[row.Name], "no frozen shard has the feature %s", row.Name)
	}
	var missing []encoding.Code
	for code := range encoding.Code(math.MaxUint16) {
		if code.Known() && !have[code.String()] {
			missing = append(missing, code)
		}
	}
	require.Equal(t, neverChosen, missing, "encodings that no frozen shard has")
	require.Less(t, total, 2<<20)
}

func readFrozen(t testing.TB, data []byte) (*shard.Shard, []arrow.RecordBatch) {
	ctx := context.Background()
	s, err := shard.OpenReaderAt(ctx, bytes.NewReader(data), int64(len(data)), shard.OpenOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	var batches []arrow.RecordBatch
	for b, err := range s.Scan(ctx, shard.ScanOptions{}) {
		require.NoError(t, err)
		b.Retain()
		batches = append(batches, b.RecordBatch)
	}
	return s, batches
}

func writeFrozen(t testing.TB, out *bytes.Buffer, batches []arrow.RecordBatch, o shard.WriterOptions) {
	ctx := context.Background()
	w, err := shard.NewWriter(ctx, out, batches[0].Schema(), o)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(ctx, b))
	}
	require.NoError(t, w.Close(ctx))
}

// describe fills in the facts of a shard.
func describe(t testing.TB, s *shard.Shard, data []byte, f frozen, batches []arrow.RecordBatch) frozen {
	ctx := context.Background()
	p, err := s.Properties(ctx)
	require.NoError(t, err)
	e, _ := p.Get(shardfile.PropertyEdition)
	require.Equal(t, "2026", e)
	f.Rows, f.Features, f.Encodings, f.Digests = s.NumRows(), []string{}, encodingsOf(t, data), nil
	if names, ok := p.Get(shardfile.PropertyFeatures); ok {
		for _, name := range bytes.Split([]byte(names.(string)), []byte(",")) {
			f.Features = append(f.Features, string(name))
		}
	}
	for i := range batches[0].NumCols() {
		var column []arrow.Array
		for _, b := range batches {
			column = append(column, b.Column(int(i)))
		}
		f.Digests = append(f.Digests, columnDigest(column))
	}
	return f
}

// encodingsOf is the names of the encodings in a shard.
func encodingsOf(t testing.TB, data []byte) []string {
	in := provider.Input{Name: "shard", At: bytes.NewReader(data), Size: int64(len(data))}
	info, err := shard.New(shard.FormatOptions{}).Inspect(t.Context(), in, provider.InspectOptions{Detail: 3})
	require.NoError(t, err)
	names := []string{}
	for _, l := range info.Lists {
		if tree := slices.Index(l.Columns, "tree"); tree >= 0 {
			for _, row := range l.Rows {
				names = append(names, regexp.MustCompile(`[A-Z]\w*`).FindAllString(row[tree].(string), -1)...)
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !isEncoding(name) })
}

func isEncoding(name string) bool {
	for code := range encoding.Code(math.MaxUint16) {
		if code.Known() && code.String() == name {
			return true
		}
	}
	return false
}
