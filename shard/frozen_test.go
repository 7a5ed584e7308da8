package shard_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/shardtest"
	"github.com/amudai/amudai-go/shard"
)

var freeze = flag.Bool("freeze", false, "write the frozen shards of edition 2026 that do not exist yet")

// frozen is a shard of edition 2026 in testdata/frozen, written by version 0.1.0, in manifest.json.
type frozen struct {
	Name       string   `json:"name"`
	Profile    string   `json:"profile"`
	StripeRows int64    `json:"stripe_rows,omitempty"`
	Rows       int64    `json:"rows"`
	Features   []string `json:"features"`
	Digests    []string `json:"digests"` // of the columns
}

func (f frozen) path() string { return filepath.Join("testdata", "frozen", f.Name+".amudai.shard") }

func (f frozen) options(t testing.TB) shard.WriterOptions {
	p, err := encoding.ParseProfile(f.Profile)
	require.NoError(t, err)
	return shard.WriterOptions{Profile: p, StripeRows: f.StripeRows, CreationTime: shardtest.Created}
}

const manifest = "testdata/frozen/manifest.json"

// TestFrozen holds every version of this library to the bytes of edition 2026: it reads the shards of its first version,
// and writes the same bytes for the same rows and options.
func TestFrozen(t *testing.T) {
	if *freeze {
		freezeEdition(t)
	}
	text, err := os.ReadFile(manifest)
	require.NoError(t, err)
	var list []frozen
	require.NoError(t, json.Unmarshal(text, &list))
	var features []string
	total := 0
	for _, f := range list {
		want, err := os.ReadFile(f.path())
		require.NoError(t, err)
		total += len(want)
		features = append(features, f.Features...)
		t.Run(f.Name, func(t *testing.T) {
			s, batches := readFrozen(t, want)
			require.Equal(t, f, describe(t, s, f, batches))
			var out bytes.Buffer
			writeFrozen(t, &out, batches, f.options(t))
			require.True(t, bytes.Equal(want, out.Bytes()), "the bytes of edition 2026 have changed: a change of bytes is a new edition (CONTRIBUTING.md)")
		})
	}
	for _, row := range edition.Table {
		require.Contains(t, features, row.Name, "no frozen shard has this feature")
	}
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
func describe(t testing.TB, s *shard.Shard, f frozen, batches []arrow.RecordBatch) frozen {
	ctx := context.Background()
	p, err := s.Properties(ctx)
	require.NoError(t, err)
	e, _ := p.Get(shardfile.PropertyEdition)
	require.Equal(t, "2026", e)
	f.Rows, f.Features, f.Digests = s.NumRows(), []string{}, nil
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
		f.Digests = append(f.Digests, arrowtest.Digest(column))
	}
	return f
}

// freezeEdition writes a shard for each Arrow type, and the smallest one that it finds for each feature.
func freezeEdition(t *testing.T) {
	require.NoError(t, os.MkdirAll(filepath.Dir(manifest), 0o755))
	var list []frozen
	if text, err := os.ReadFile(manifest); err == nil {
		require.NoError(t, json.Unmarshal(text, &list))
	}
	add := func(f frozen, data []byte) {
		if slices.ContainsFunc(list, func(old frozen) bool { return old.Name == f.Name }) {
			return
		}
		s, batches := readFrozen(t, data)
		list = append(list, describe(t, s, f, batches))
		require.NoError(t, os.WriteFile(f.path(), data, 0o644))
	}
	for i, dt := range arrowgen.Types() {
		g := arrowgen.New(uint64(i))
		g.Nulls = []float64{0, 0.2, 0.9}[i%3]
		batch := g.Batch(arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil), 300)
		f := frozen{Name: fmt.Sprintf("type-%02d-%v", i, dt.ID()), Profile: encoding.Profile(i % 5).String()}
		if i%4 == 3 {
			f.StripeRows = 200
		}
		var out bytes.Buffer
		writeFrozen(t, &out, []arrow.RecordBatch{batch}, f.options(t))
		add(f, out.Bytes())
	}
	smallest := map[string][]byte{}
	of := map[string]frozen{}
	for _, column := range candidates(t) {
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize} {
			f := frozen{Profile: p.String()}
			var out bytes.Buffer
			writeFrozen(t, &out, []arrow.RecordBatch{column}, f.options(t))
			s, batches := readFrozen(t, out.Bytes())
			for _, name := range describe(t, s, f, batches).Features {
				if old := smallest[name]; old == nil || out.Len() < len(old) {
					f.Name = "feature-" + name
					smallest[name], of[name] = out.Bytes(), f
				}
			}
		}
	}
	for name, data := range smallest {
		add(of[name], data)
	}
	slices.SortFunc(list, func(a, b frozen) int { return cmp.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(list, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(manifest, append(text, '\n'), 0o644))
}

// candidates are columns that suit the encodings, each as a table.
func candidates(t testing.TB) (out []arrow.RecordBatch) {
	for _, rows := range []int{100, 1000, 5000} {
		for _, b := range shardtest.Batches(rows)[:2] {
			for i, c := range b.Columns() {
				out = append(out, array.NewRecordBatch(arrow.NewSchema([]arrow.Field{b.Schema().Field(i)}, nil), []arrow.Array{c}, b.NumRows()))
			}
		}
	}
	return out
}
