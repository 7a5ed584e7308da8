package shardwriter_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

var created = time.Date(2024, 2, 29, 12, 0, 0, 123456700, time.UTC)

// testSchema has two fields, the second one with a child: ids 0, 1, 2.
func testSchema(t testing.TB) []byte {
	t.Helper()
	b, err := schema.Build([]schema.Field{
		{Name: "a", Type: schema.Int64, Signed: true},
		{Name: "b", Type: schema.List, Children: []schema.Field{{Type: schema.String}}},
	})
	require.NoError(t, err)
	return b
}

// testStripe returns a finished stripe whose buffers hold text. Node b has no buffer if rows is 0.
func testStripe(t testing.TB, rows int, text string) *stripe.Finished {
	t.Helper()
	n := uint64(rows)
	buffer := func(kind shardpb.BufferKind, s string) stripe.Buffer {
		spool := storage.NewSpool(nil, t.TempDir())
		_, err := spool.Write([]byte(s + strings.Repeat("m", 56)))
		require.NoError(t, err)
		return stripe.Buffer{Desc: &shardpb.EncodedBuffer{Kind: kind, BlockCount: proto.Uint64(1)}, Data: spool, MapOffset: int64(len(s))}
	}
	field := func() *shardpb.FieldDescriptor {
		return &shardpb.FieldDescriptor{PositionCount: n, NullCount: proto.Uint64(0), RawDataSize: proto.Uint64(8 * n)}
	}
	f := &stripe.Finished{Rows: int64(rows), RawBytes: 24 * n, Nodes: []stripe.Node{{ID: 0, Field: field()}, {ID: 2, Field: field()}, {ID: 1, Field: field()}}}
	if rows > 0 {
		f.Nodes[0].Buffers = []stripe.Buffer{buffer(shardpb.BufferKind_DATA, text)}
		f.Nodes[1].Buffers = []stripe.Buffer{buffer(shardpb.BufferKind_DATA, "items of "+text), buffer(shardpb.BufferKind_PRESENCE, "")}
		f.Nodes[2].Buffers = []stripe.Buffer{buffer(shardpb.BufferKind_OFFSETS, "offsets")}
	}
	return f
}

func writeShard(t testing.TB, location string, o shardwriter.Options, stripes int) {
	t.Helper()
	ctx := context.Background()
	if o.CreationTime.IsZero() {
		o.CreationTime = created
	}
	w, err := shardwriter.Create(ctx, location, testSchema(t), o)
	require.NoError(t, err)
	for i := range stripes {
		f := testStripe(t, 10*i, fmt.Sprintf("stripe %d ", i))
		require.NoError(t, w.AppendStripe(ctx, f, shardwriter.StripeOptions{Properties: []shardfile.Property{{Name: "number", Value: i}}}))
		f.Release()
	}
	require.NoError(t, w.Close(ctx))
}

// checkShard reads and checks a shard of writeShard.
func checkShard(t testing.TB, f *shardfile.File, stripes int) {
	t.Helper()
	ctx := context.Background()
	require.Equal(t, stripes, f.NumStripes())
	s, err := f.Schema(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 3, s.IDCount())
	rows := 0
	for i := range stripes {
		st := f.Stripe(i)
		require.EqualValues(t, 10*i, st.Rows())
		require.EqualValues(t, rows, st.Position())
		rows += 10 * i
		p, err := st.Properties(ctx)
		require.NoError(t, err)
		require.Equal(t, []shardfile.Property{{Name: "number", Value: int64(i)}}, shardfile.PropertiesFromProto(p.CustomProperties))
		for id := range uint32(3) {
			d, err := st.Descriptor(ctx, id)
			require.NoError(t, err)
			require.EqualValues(t, 10*i, d.Field.PositionCount)
			require.Len(t, d.Encodings, 1)
		}
		if i > 0 {
			require.Equal(t, fmt.Sprintf("stripe %d ", i), string(bufferData(t, st, 0, 0)))
			require.Equal(t, fmt.Sprintf("items of stripe %d ", i), string(bufferData(t, st, 2, 0)))
			require.Equal(t, "offsets", string(bufferData(t, st, 1, 0)))
		}
	}
	require.EqualValues(t, rows, f.Rows())
}

// bufferData returns the data part of a buffer.
func bufferData(t testing.TB, s *shardfile.Stripe, id uint32, k int) []byte {
	t.Helper()
	ctx := context.Background()
	d, err := s.Descriptor(ctx, id)
	require.NoError(t, err)
	b := d.Encodings[0].GetNative().Buffers[k]
	require.Zero(t, b.Buffer.Range.Start%8)
	require.Equal(t, b.Buffer.Range.End, b.BlockMap.Range.End)
	r, err := s.Artifact(ctx, id, b.Buffer)
	require.NoError(t, err)
	data := make([]byte, b.BlockMap.Range.Start-b.Buffer.Range.Start)
	require.NoError(t, r.ReadAt(ctx, data, int64(b.Buffer.Range.Start)))
	return data
}

func openShard(t testing.TB, location string, o shardfile.OpenOptions) *shardfile.File {
	t.Helper()
	f, err := shardfile.Open(context.Background(), location, o)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestWriteAndOpen(t *testing.T) {
	for _, layout := range []shardwriter.Layout{shardwriter.SingleFile, shardwriter.TwoLevel} {
		for _, stripes := range []int{0, 1, 2, 5} {
			for _, e := range []edition.Edition{edition.E2026, edition.Reference} {
				t.Run(fmt.Sprintf("%v-%d-%v", layout, stripes, e), func(t *testing.T) {
					location := filepath.Join(t.TempDir(), "a.amudai.shard")
					writeShard(t, location, shardwriter.Options{Layout: layout, Edition: e, Properties: []shardfile.Property{{Name: "k", Value: "v"}}}, stripes)
					f := openShard(t, location, shardfile.OpenOptions{})
					checkShard(t, f, stripes)
					compareRoot(t, f, stripes, e)
					if e == edition.Reference {
						requireAligned(t, f, stripes, 64)
					}
					files, err := filepath.Glob(filepath.Join(filepath.Dir(location), "*"))
					require.NoError(t, err)
					want := 1
					if layout == shardwriter.TwoLevel {
						want += max(stripes-1, 0) // the first stripe has no data
					}
					require.Len(t, files, want)
					urls, err := f.URLs(context.Background())
					require.NoError(t, err)
					require.Len(t, urls, want-1)
				})
			}
		}
	}
}

// requireAligned checks that the buffers of all stripes with data begin at multiples of a number of bytes.
func requireAligned(t *testing.T, f *shardfile.File, stripes int, alignment uint64) {
	for i := 1; i < stripes; i++ {
		for id := range uint32(3) {
			d, err := f.Stripe(i).Descriptor(context.Background(), id)
			require.NoError(t, err)
			require.Zero(t, d.Encodings[0].GetNative().Buffers[0].Buffer.Range.Start%alignment)
		}
	}
}

func compareRoot(t *testing.T, f *shardfile.File, stripes int, e edition.Edition) {
	ctx := context.Background()
	p, err := f.Properties(ctx)
	require.NoError(t, err)
	require.Equal(t, created, shardfile.Time(p.CreationMin.Ticks))
	require.Equal(t, []shardfile.Property{{Name: "k", Value: "v"}}, shardfile.PropertiesFromProto(p.CustomProperties))
	standard := shardfile.PropertiesFromProto(p.StandardProperties)
	require.Len(t, standard, 3)
	require.Equal(t, []shardfile.Property{{Name: shardfile.PropertyEdition, Value: e.String()}, {Name: shardfile.PropertyWriter, Value: shardfile.DefaultWriter}}, standard[:2])
	require.Equal(t, shardfile.PropertyChecksumTree, standard[2].Name)
	for id := range uint32(3) {
		d, err := f.FieldDescriptor(ctx, id)
		require.NoError(t, err)
		if stripes == 0 {
			require.Nil(t, d)
		} else {
			require.EqualValues(t, f.Rows(), d.PositionCount)
		}
	}
}

func TestSameBytes(t *testing.T) {
	for _, layout := range []shardwriter.Layout{shardwriter.SingleFile, shardwriter.TwoLevel} {
		var before map[string][]byte
		for range 2 {
			dir := t.TempDir()
			writeShard(t, filepath.Join(dir, "x"), shardwriter.Options{Layout: layout}, 4)
			files := readDir(t, dir)
			if before != nil {
				require.Equal(t, before, files)
			}
			before = files
		}
	}
}

func readDir(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = b
	}
	return files
}

func TestStripeFilesAreShared(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		w, err := shardwriter.Create(ctx, filepath.Join(dir, name), testSchema(t), shardwriter.Options{Layout: shardwriter.TwoLevel})
		require.NoError(t, err)
		for range 2 {
			f := testStripe(t, 10, "same")
			require.NoError(t, w.AppendStripe(ctx, f, shardwriter.StripeOptions{}))
			f.Release()
		}
		require.NoError(t, w.Close(ctx))
	}
	require.Len(t, readDir(t, dir), 3)

	// Aborting a third writer leaves the file that the others use, and the other file, too: another writer may use it
	// by now.
	w, err := shardwriter.Create(ctx, filepath.Join(dir, "three"), testSchema(t), shardwriter.Options{Layout: shardwriter.TwoLevel})
	require.NoError(t, err)
	f := testStripe(t, 10, "same")
	defer f.Release()
	require.NoError(t, w.AppendStripe(ctx, f, shardwriter.StripeOptions{}))
	f2 := testStripe(t, 10, "other")
	defer f2.Release()
	require.NoError(t, w.AppendStripe(ctx, f2, shardwriter.StripeOptions{}))
	require.NoError(t, w.Abort(ctx))
	require.Len(t, readDir(t, dir), 4)

	// A file of this name with other content is not changed.
	for name := range readDir(t, dir) {
		if strings.HasSuffix(name, shardwriter.StripeSuffix) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("other content"), 0o666))
		}
	}
	w, err = shardwriter.Create(ctx, filepath.Join(dir, "four"), testSchema(t), shardwriter.Options{Layout: shardwriter.TwoLevel})
	require.NoError(t, err)
	require.ErrorIs(t, w.AppendStripe(ctx, f, shardwriter.StripeOptions{}), fs.ErrExist)
	require.NoError(t, w.Abort(ctx))
	require.Len(t, readDir(t, dir), 4)
}

// sharedArtifact is a store in which all shards go to one artifact, which its owner publishes.
type sharedArtifact struct {
	storage.Store
	out storage.Writer
}

func (s sharedArtifact) Create(context.Context, string, storage.CreateOptions) (storage.Writer, error) {
	return unpublished{s.out}, nil
}

type unpublished struct{ storage.Writer }

func (unpublished) Publish(context.Context) error { return nil }

func TestSeveralShardsInOneArtifact(t *testing.T) {
	ctx := context.Background()
	location := filepath.Join(t.TempDir(), "many")
	out, err := storage.Local{}.Create(ctx, location, storage.CreateOptions{})
	require.NoError(t, err)
	var ends []int64 // of directories
	for k := range 3 {
		w, err := shardwriter.Create(ctx, location, testSchema(t), shardwriter.Options{Store: sharedArtifact{out: out}, CreationTime: created})
		require.NoError(t, err)
		for i := range k + 1 {
			f := testStripe(t, 10*i, fmt.Sprintf("stripe %d ", i))
			require.NoError(t, w.AppendStripe(ctx, f, shardwriter.StripeOptions{Properties: []shardfile.Property{{Name: "number", Value: i}}}))
			f.Release()
		}
		require.NoError(t, w.Close(ctx))
		ends = append(ends, out.Size()-container.MarkSize)
	}
	require.NoError(t, out.Publish(ctx))
	raw, err := os.ReadFile(location)
	require.NoError(t, err)
	for k, end := range ends {
		start, _, err := container.DirectoryBefore(raw[end-4:end], end)
		require.NoError(t, err)
		r := shardfile.Range{Start: start, End: end}
		f := openShard(t, location, shardfile.OpenOptions{Directory: &r})
		checkShard(t, f, k+1)
		require.Equal(t, r, f.DirectoryRange())
		_, err = shardfile.Open(ctx, location, shardfile.OpenOptions{Directory: &shardfile.Range{Start: r.Start + 1, End: r.End}})
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
	checkShard(t, openShard(t, location, shardfile.OpenOptions{}), 3) // the last one is at the end
}

func TestWriterRefuses(t *testing.T) {
	ctx := context.Background()
	location := filepath.Join(t.TempDir(), "x")
	for name, o := range map[string]shardwriter.Options{
		"Layout":       {Layout: 7},
		"CreationTime": {CreationTime: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)},
		"Properties":   {Properties: []shardfile.Property{{Name: "p", Value: make(chan int)}}},
	} {
		_, err := shardwriter.Create(ctx, location, testSchema(t), o)
		require.ErrorContains(t, err, "WriterOptions."+name)
	}
	w, err := shardwriter.Create(ctx, location, testSchema(t), shardwriter.Options{})
	require.NoError(t, err)
	f := testStripe(t, 3, "x")
	defer f.Release()
	f.Nodes = f.Nodes[:2]
	require.ErrorContains(t, w.AppendStripe(ctx, f, shardwriter.StripeOptions{}), "2 nodes")
	require.ErrorContains(t, w.Close(ctx), "2 nodes")
	require.ErrorIs(t, w.Close(ctx), shardwriter.ErrEnded)
	require.NoError(t, w.Abort(ctx))
	require.Empty(t, readDir(t, filepath.Dir(location)))

	writeShard(t, location, shardwriter.Options{}, 2)
	_, err = shardwriter.Create(ctx, location, testSchema(t), shardwriter.Options{})
	require.ErrorIs(t, err, fs.ErrExist)
	writeShard(t, location, shardwriter.Options{Overwrite: true}, 3)
	checkShard(t, openShard(t, location, shardfile.OpenOptions{}), 3)
}

func TestCancelledWriterLeavesNothing(t *testing.T) {
	for _, layout := range []shardwriter.Layout{shardwriter.SingleFile, shardwriter.TwoLevel} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		w, err := shardwriter.Create(ctx, filepath.Join(dir, "x"), testSchema(t), shardwriter.Options{Layout: layout})
		require.NoError(t, err)
		f := testStripe(t, 3, "x")
		require.NoError(t, w.AppendStripe(ctx, f, shardwriter.StripeOptions{}))
		f.Release()
		cancel()
		require.ErrorIs(t, w.Close(ctx), context.Canceled)
		for name := range readDir(t, dir) {
			require.True(t, layout == shardwriter.TwoLevel && strings.HasSuffix(name, shardwriter.StripeSuffix), name)
		}
	}
}

func TestCopyOfStripes(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for _, from := range []shardwriter.Layout{shardwriter.SingleFile, shardwriter.TwoLevel} {
		for _, to := range []shardwriter.Layout{shardwriter.SingleFile, shardwriter.TwoLevel} {
			a, b := filepath.Join(dir, fmt.Sprint("a", from, to)), filepath.Join(dir, fmt.Sprint("b", from, to))
			writeShard(t, a, shardwriter.Options{Layout: from}, 3)
			src := openShard(t, a, shardfile.OpenOptions{})
			w, err := shardwriter.Create(ctx, b, testSchema(t), shardwriter.Options{Layout: to, CreationTime: created})
			require.NoError(t, err)
			for i := range src.NumStripes() {
				require.NoError(t, w.AddStripe(ctx, shardwriter.Composed{Of: src.Stripe(i)}, nil, shardwriter.StripeOptions{}))
			}
			require.NoError(t, w.Close(ctx))
			checkShard(t, openShard(t, b, shardfile.OpenOptions{}), 3)
			if from == to {
				x, err := os.ReadFile(a)
				require.NoError(t, err)
				y, err := os.ReadFile(b)
				require.NoError(t, err)
				require.True(t, bytes.Equal(x, y))
			}
		}
	}
}
