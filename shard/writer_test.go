package shard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

var created = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func TestWriterOptionsAreChecked(t *testing.T) {
	data := numbered(1, 1)
	for name, o := range map[string]WriterOptions{
		"StripeRows":   {StripeRows: -1},
		"StripeBytes":  {StripeBytes: -1},
		"MemoryBytes":  {MemoryBytes: -1},
		"Parallelism":  {Parallelism: -1},
		"Profile":      {Profile: 99},
		"Edition":      {Edition: 99},
		"Layout":       {Layout: 99},
		"CreationTime": {CreationTime: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		_, err := Create(context.Background(), "mem://x/y", data.schema, o)
		require.ErrorContains(t, err, "WriterOptions."+name)
	}
	_, err := Open(context.Background(), "mem://x/y", OpenOptions{MaxBlockBytes: -1})
	require.ErrorContains(t, err, "MaxBlockBytes")
}

// TestSameBytes writes the same rows with different batches and parallelism.
func TestSameBytes(t *testing.T) {
	data := numbered(5000, 6)
	var before []byte
	for _, batch := range []int{5000, 1, 333} {
		if batch == 1 && testing.Short() {
			continue
		}
		for _, parallelism := range []int{1, 4} {
			location := filepath.Join(t.TempDir(), "s")
			writeTable(t, location, data, WriterOptions{CreationTime: created, StripeBytes: 100_000, Parallelism: parallelism}, batch)
			b, err := os.ReadFile(location)
			require.NoError(t, err)
			if before != nil {
				require.True(t, string(before) == string(b), "batches of %d rows, %d at a time", batch, parallelism)
			}
			before = b
		}
	}
}

func TestStripeCuts(t *testing.T) {
	ctx := context.Background()
	data := numbered(1000, 1)
	for _, c := range []struct {
		o    WriterOptions
		want []int64
	}{
		{WriterOptions{}, []int64{1000}},
		{WriterOptions{StripeRows: 400}, []int64{400, 400, 200}},
		{WriterOptions{StripeRows: 500}, []int64{500, 500}},
		{WriterOptions{StripeBytes: 8 * 300}, []int64{300, 300, 300, 100}},
		{WriterOptions{StripeBytes: 8*300 + 1}, []int64{301, 301, 301, 97}},
		{WriterOptions{StripeBytes: 1, StripeRows: 999}, nil},
	} {
		for _, batch := range []int{1000, 7} {
			c.o.Store = storage.NewMemory()
			writeTable(t, "mem://x/s", data, c.o, batch)
			s, err := Open(ctx, "mem://x/s", OpenOptions{Store: c.o.Store})
			require.NoError(t, err)
			var got []int64
			for i := range s.NumStripes() {
				got = append(got, s.file.Stripe(i).Rows())
			}
			if c.want == nil {
				require.Len(t, got, 1000)
			} else {
				require.Equal(t, c.want, got)
			}
			require.NoError(t, s.Close())
		}
	}
}

func TestCutStripeAndProperties(t *testing.T) {
	ctx := context.Background()
	data := numbered(30, 2)
	store := storage.NewMemory()
	w, err := Create(ctx, "mem://x/s", data.schema, WriterOptions{Store: store, CreationTime: created, Properties: []Property{{Name: "a", Value: "1"}}})
	require.NoError(t, err)
	require.NoError(t, w.CutStripe(ctx)) // nothing to cut
	require.NoError(t, w.SetProperty("a", int64(2)))
	require.NoError(t, w.SetProperty("b", []byte{1}))
	require.NoError(t, w.SetFieldProperty("c1", "unit", "m"))
	require.Error(t, w.SetFieldProperty("c9", "unit", "m"))
	require.Error(t, w.SetStripeProperty("bad", struct{}{}))
	for i := range 3 {
		require.NoError(t, w.SetStripeProperty("stripe", int64(i)))
		b := data.batch(10*i, 10*i+10)
		require.NoError(t, w.Write(ctx, b))
		b.Release()
		require.EqualValues(t, 10*i+10, w.Rows())
		require.NoError(t, w.CutStripe(ctx))
		require.Equal(t, i+1, w.NumStripes())
	}
	require.NoError(t, w.Close(ctx))
	require.ErrorIs(t, w.Write(ctx, data.batch(0, 1)), shardwriter.ErrEnded)
	require.NoError(t, w.Abort(ctx))

	s, err := Open(ctx, "mem://x/s", OpenOptions{Store: store})
	require.NoError(t, err)
	defer s.Close()
	p, err := s.Properties(ctx)
	require.NoError(t, err)
	require.Equal(t, created, p.CreatedMin)
	require.Equal(t, created, p.CreatedMax)
	a, _ := p.Get("a")
	require.Equal(t, int64(2), a)
	e, _ := p.Get(shardfile.PropertyEdition)
	require.Equal(t, "2026", e, "the default")
	unknown, err := s.UnknownFeatures(ctx)
	require.NoError(t, err)
	require.Empty(t, unknown)
	for i := range 3 {
		_, custom, err := s.StripeProperties(ctx, i)
		require.NoError(t, err)
		require.Equal(t, []Property{{Name: "stripe", Value: int64(i)}}, custom)
	}
	_, custom, err := s.FieldProperties(ctx, "c1")
	require.NoError(t, err)
	require.Equal(t, []Property{{Name: "unit", Value: "m"}}, custom)
	d, err := s.statistics(ctx, "c0")
	require.NoError(t, err)
	require.Equal(t, "29", d.Max.ValueStr(0))
	second, err := s.file.Stripe(1).Descriptor(ctx, schemaID(t, s, "c0"))
	require.NoError(t, err)
	require.EqualValues(t, 10, second.GetField().GetRangeStats().GetMinValue().GetI64Value())
	require.Zero(t, second.GetField().GetNullCount())
}

func TestWriteRefuses(t *testing.T) {
	ctx := context.Background()
	data := numbered(10, 2)
	dir := t.TempDir()
	w, err := Create(ctx, filepath.Join(dir, "s"), data.schema, WriterOptions{})
	require.NoError(t, err)
	other := numbered(10, 1)
	require.ErrorContains(t, w.Write(ctx, other.batch(0, 10)), "columns")
	renamed := data
	renamed.schema = arrow.NewSchema([]arrow.Field{{Name: "z", Type: data.schema.Field(0).Type}, data.schema.Field(1)}, nil)
	require.ErrorContains(t, w.Write(ctx, renamed.batch(0, 10)), `"z"`)
	require.NoError(t, w.Write(ctx, data.batch(0, 10))) // a refused batch does no harm
	require.NoError(t, w.Close(ctx))

	// A value that does not fit ends the shard with an error that has its place.
	ts := &arrow.TimestampType{Unit: arrow.Nanosecond}
	b := array.NewTimestampBuilder(memory.DefaultAllocator, ts)
	for i := range 20 {
		b.Append(arrow.Timestamp(100*i + i/15))
	}
	times := table{schema: arrow.NewSchema([]arrow.Field{{Name: "t", Type: ts}}, nil), columns: []arrow.Array{b.NewArray()}, rows: 20}
	w, err = Create(ctx, filepath.Join(dir, "t"), times.schema, WriterOptions{Times: arrowmap.TimesAsTicks, Edition: edition.E2026, Profile: encoding.MinimalSize})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, times.batch(0, 13)))
	err = w.Write(ctx, times.batch(13, 20))
	require.ErrorContains(t, err, "row 15 of the shard")
	require.ErrorContains(t, err, `column "t"`)
	require.ErrorContains(t, w.Write(ctx, times.batch(0, 1)), "only be aborted")
	require.Error(t, w.Close(ctx))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	required := data
	required.schema = arrow.NewSchema([]arrow.Field{{Name: "c0", Type: data.schema.Field(0).Type}, {Name: "c1", Type: data.schema.Field(1).Type}}, nil)
	w, err = Create(ctx, filepath.Join(dir, "u"), required.schema, WriterOptions{})
	require.NoError(t, err)
	defer w.Abort(ctx)
	if data.columns[1].NullN() > 0 {
		require.ErrorContains(t, w.Write(ctx, required.batch(0, 10)), "not nullable")
	}
}

// TestOneStripe: edition 2026 omits descriptors and block maps of a shard of one stripe. Readers must see no
// difference.
func TestOneStripe(t *testing.T) {
	ctx := context.Background()
	data := randomTable(arrowgen.New(7), []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean,
		arrow.ListOf(arrow.PrimitiveTypes.Int32), &arrow.Decimal128Type{Precision: 20, Scale: 2}, arrow.FixedWidthTypes.Timestamp_us,
	}, 100)
	store := storage.NewMemory()
	var all [2][]*shardpb.FieldDescriptor
	var sizes [2]int64
	for i, e := range []edition.Edition{edition.Reference, edition.E2026} {
		location := fmt.Sprintf("mem://x/%v", e)
		writeTable(t, location, data, WriterOptions{Store: store, Edition: e, CreationTime: created}, 100)
		s, err := Open(ctx, location, OpenOptions{Store: store})
		require.NoError(t, err)
		sizes[i] = s.file.Size()
		for _, f := range data.schema.Fields() {
			n, err := s.schema.Path(f.Name)
			require.NoError(t, err)
			d, err := s.file.FieldDescriptor(ctx, n.ID())
			require.NoError(t, err)
			d = proto.CloneOf(d)
			if d.Cardinality != nil {
				d.Cardinality.HllSketch = nil // the stripe has it
			}
			all[i] = append(all[i], d)
		}
		r, err := Verify(ctx, location, OpenOptions{Store: store}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.Empty(t, r.Problems)
		require.Empty(t, r.Notes)
		require.NoError(t, s.Close())
	}
	for i, f := range data.schema.Fields() {
		require.True(t, proto.Equal(all[0][i], all[1][i]), "%s: %v, %v", f.Name, all[0][i], all[1][i])
	}
	require.Less(t, sizes[1], sizes[0]*3/4)
}
