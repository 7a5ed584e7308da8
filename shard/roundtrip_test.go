package shard

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/storage"
)

// table is columns of equal length with their schema.
type table struct {
	schema  *arrow.Schema
	columns []arrow.Array
	rows    int
}

func (t table) batch(from, to int) arrow.RecordBatch {
	columns := make([]arrow.Array, len(t.columns))
	for i, c := range t.columns {
		columns[i] = array.NewSlice(c, int64(from), int64(to))
		defer columns[i].Release()
	}
	return array.NewRecordBatch(t.schema, columns, int64(to-from))
}

func randomTable(g *arrowgen.Gen, types []arrow.DataType, rows int) table {
	t := table{rows: rows}
	var fields []arrow.Field
	for i, dt := range types {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: dt, Nullable: true})
		t.columns = append(t.columns, g.Array(dt, rows))
	}
	meta := arrow.NewMetadata([]string{"key"}, []string{"value"})
	t.schema = arrow.NewSchema(fields, &meta)
	return t
}

// writeTable writes a table in batches of the given number of rows.
func writeTable(t require.TestingT, location string, data table, o WriterOptions, batch int) {
	ctx := context.Background()
	w, err := Create(ctx, location, data.schema, o)
	require.NoError(t, err)
	for from := 0; from < data.rows; from += batch {
		b := data.batch(from, min(from+batch, data.rows))
		err := w.Write(ctx, b)
		b.Release()
		require.NoError(t, err)
	}
	require.NoError(t, w.Close(ctx))
}

// requireScan compares a scan with the table, and returns the sizes of the batches.
func requireScan(t require.TestingT, s *Shard, data table, o ScanOptions) (sizes []int64) {
	row := 0
	for batch, err := range s.Scan(context.Background(), o) {
		require.NoError(t, err)
		n := int(batch.NumRows())
		for i, c := range batch.Columns() {
			want := array.NewSlice(data.columns[i], int64(row), int64(row+n))
			if !arrow.TypeEqual(want.DataType(), c.DataType()) {
				// Arrow looks into maps below large lists and views, where equal types differ.
				require.Equal(t, want.DataType().String(), c.DataType().String())
			}
			if k := arrowutil.Difference(want, c); k >= 0 {
				require.Fail(t, "values differ", "column %d (%v) row %d: %s, expected %s", i, c.DataType(), row+k, c.ValueStr(k), want.ValueStr(k))
			}
			want.Release()
		}
		row += n
		sizes = append(sizes, int64(n))
	}
	require.Equal(t, data.rows, row)
	return sizes
}

// editionFor is an edition that holds the types: unions are not in edition reference.
func editionFor(types []arrow.DataType, e edition.Edition) edition.Edition {
	isUnion := func(dt arrow.DataType) bool { return kinds.Of(dt) == kinds.Choice }
	if slices.ContainsFunc(types, func(dt arrow.DataType) bool { return kinds.Has(dt, isUnion) }) {
		return edition.E2026
	}
	return e
}

// TestEveryType writes and reads a column of every type, alone.
func TestEveryType(t *testing.T) {
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		for i, dt := range arrowgen.Types() {
			t.Run(fmt.Sprintf("%v-%v", e, dt), func(t *testing.T) {
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				defer mem.AssertSize(t, 0)
				data := randomTable(arrowgen.New(uint64(i)), []arrow.DataType{dt}, 700)
				store := storage.NewMemory()
				if editionFor([]arrow.DataType{dt}, e) != e {
					_, err := Create(t.Context(), "mem://x/s", data.schema, WriterOptions{Store: store, Edition: e})
					require.ErrorIs(t, err, fault.ErrUnsupported)
					return
				}
				writeTable(t, "mem://x/s", data, WriterOptions{Store: store, Edition: e, StripeRows: 300, Allocator: mem}, 191)
				s, err := Open(context.Background(), "mem://x/s", OpenOptions{Store: store})
				require.NoError(t, err)
				defer s.Close()
				got, err := s.ArrowSchema(t.Context())
				require.NoError(t, err)
				require.True(t, got.Equal(data.schema), "%v", got)
				require.True(t, got.Metadata().Equal(data.schema.Metadata()))
				requireScan(t, s, data, ScanOptions{BatchRows: 128, Allocator: mem})
			})
		}
	}
}

// TestRoundTrip writes random tables under random options and scans them under
// random options.
func TestRoundTrip(t *testing.T) {
	types := arrowgen.Types()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		g := arrowgen.New(rapid.Uint64().Draw(t, "seed"))
		g.Unions = true
		g.Nulls = rapid.SampledFrom([]float64{0, 0.01, 0.5, 1}).Draw(t, "nulls")
		var chosen []arrow.DataType
		for range rapid.IntRange(0, 5).Draw(t, "columns") {
			if rapid.Bool().Draw(t, "nested") {
				chosen = append(chosen, g.Type(3))
				continue
			}
			chosen = append(chosen, rapid.SampledFrom(types).Draw(t, "type"))
		}
		data := randomTable(g, chosen, rapid.IntRange(0, 3000).Draw(t, "rows"))
		o := WriterOptions{
			Layout:      rapid.SampledFrom([]Layout{SingleFile, TwoLevel}).Draw(t, "layout"),
			Edition:     editionFor(chosen, rapid.SampledFrom([]edition.Edition{edition.Reference, edition.E2026}).Draw(t, "edition")),
			Profile:     encoding.Profile(rapid.IntRange(0, 4).Draw(t, "profile")),
			StripeRows:  rapid.SampledFrom([]int64{0, 1 << 10, 777}).Draw(t, "stripe rows"),
			StripeBytes: rapid.SampledFrom([]int64{0, 0, 5000}).Draw(t, "stripe bytes"),
			MemoryBytes: rapid.SampledFrom([]int64{0, 1}).Draw(t, "memory"),
			Parallelism: rapid.IntRange(0, 3).Draw(t, "parallelism"),
			NullsApart:  rapid.Bool().Draw(t, "nulls apart"),
			Packed:      rapid.SampledFrom([][][]string{nil, {{"*"}}}).Draw(t, "packed"),

			OffsetsApart: rapid.Bool().Draw(t, "offsets apart"),
		}
		if o.Packed == nil && rapid.Bool().Draw(t, "alternative") {
			o.Alternative = &Alternative{
				Edition: editionFor(chosen, rapid.SampledFrom([]edition.Edition{edition.Reference, edition.E2026}).Draw(t, "other edition")),
				Profile: encoding.Profile(rapid.IntRange(0, 4).Draw(t, "other profile")),
			}
		}
		location := filepath.Join(dir, fmt.Sprintf("%d.shard", n))
		writeTable(t, location, data, o, rapid.IntRange(1, 4000).Draw(t, "batch"))
		s, err := Open(context.Background(), location, OpenOptions{})
		require.NoError(t, err)
		defer s.Close()
		so := ScanOptions{
			BatchRows:   rapid.SampledFrom([]int{0, 1000, 17}).Draw(t, "batch rows"),
			Parallelism: rapid.IntRange(0, 3).Draw(t, "scan parallelism"),
			MemoryLimit: rapid.SampledFrom([]int64{0, 0, 2000}).Draw(t, "limit"),
			FetchGap:    rapid.SampledFrom([]int64{0, 1, 5000}).Draw(t, "gap"),
			FetchBytes:  rapid.SampledFrom([]int64{0, 1000}).Draw(t, "fetch"),
		}
		requireScan(t, s, data, so)
		so.Limit = rapid.SampledFrom([]int64{0, 1, 600}).Draw(t, "most")
		so.AsReady = rapid.Bool().Draw(t, "as ready")
		requireRows(t, s, data, between(0, data.rows), so)
	})
}
