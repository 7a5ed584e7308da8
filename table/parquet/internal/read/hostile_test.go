package read_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/parquet/internal/read"
	"github.com/amudai/amudai-go/table/provider"
)

func corpus(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "data", name))
	require.NoError(t, err)
	return b
}

func condition(t testing.TB, where string) filter.Expr {
	e, err := filter.Parse(where)
	require.NoError(t, err)
	return e
}

// scan reads a file, and counts the rows.
func scan(ctx context.Context, at io.ReaderAt, size int64, o provider.ReadOptions) (rows int64, err error) {
	src, err := parquet.New(parquet.Options{}).Open(ctx, provider.Input{Name: "x.parquet", At: at, Size: size}, o)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	for {
		batch, err := src.Next(ctx)
		if err != nil || batch == nil {
			return rows, err
		}
		rows += batch.NumRows()
		batch.Release()
	}
}

// mixed is a file with several pages, row groups, encodings and nested columns.
func mixed(t testing.TB) []byte {
	g := arrowgen.New(5)
	batch := g.Batch(arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true})), Nullable: true},
	}, nil), 900)
	b := written(t, batch)
	require.NotNil(t, b)
	return b
}

// hostile are reads that reach all parts of a file.
func hostile(t testing.TB) []provider.ReadOptions {
	return []provider.ReadOptions{
		{},
		{Filter: condition(t, "n > 0 and s <> 'x' or f < 1 or b")},
		{Columns: []string{"l"}, Rows: []provider.RowRange{{From: 100, To: 500}}, Dictionaries: true},
	}
}

// failing fails at one read.
type failing struct {
	io.ReaderAt
	left int
}

var errDisk = errors.New("the disk is gone")

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.left--; f.left == 0 {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestEveryReadFails fails at each read in turn: none is an answer without all rows.
func TestEveryReadFails(t *testing.T) {
	b := corpus(t, "alltypes_tiny_pages.parquet")
	o := provider.ReadOptions{Columns: []string{"id", "string_col", "int_col"}, Filter: condition(t, "int_col = 3 and id between 1000 and 1400")}
	one := parquet.New(parquet.Options{Parallelism: 1})
	rows := func(at io.ReaderAt) (arrow.Table, error) {
		return tabletest.Read(t, one, provider.Input{Name: "x", At: at, Size: int64(len(b))}, o)
	}
	want, err := rows(bytes.NewReader(b))
	require.NoError(t, err)
	require.EqualValues(t, 40, want.NumRows())
	failed := 0
	for k := 1; ; k++ {
		at := &failing{bytes.NewReader(b), k}
		got, err := rows(at)
		if at.left > 0 {
			require.NoError(t, err)
			arrowtest.RequireSameTable(t, want, got)
			break
		}
		if err == nil {
			require.Equal(t, want.NumRows(), got.NumRows(), "read %d", k) // a Bloom filter is done without
			continue
		}
		require.ErrorIs(t, err, errDisk, "read %d", k)
		failed++
	}
	require.Greater(t, failed, 5)
}

// TestDamage changes bytes anywhere: files are errors or tables, without a panic or much memory.
func TestDamage(t *testing.T) {
	files := [][]byte{mixed(t), corpus(t, "data_index_bloom_encoding_stats.parquet"), corpus(t, "datapage_v2.snappy.parquet"), corpus(t, "int32_with_null_pages.parquet")}
	r := rand.New(rand.NewPCG(1, 2))
	var before, after runtime.MemStats
	for i, b := range files {
		o := hostile(t)
		if i > 0 {
			o = []provider.ReadOptions{{}}
		}
		for range sweep.Count(60, 5000) {
			bad := bytes.Clone(b)
			for range 1 + r.IntN(3) {
				at := r.IntN(len(bad))
				if r.IntN(2) == 0 {
					at = len(bad) - 1 - r.IntN(min(len(bad), 1500))
				}
				bad[at] = byte(r.IntN(256))
			}
			runtime.ReadMemStats(&before)
			for _, o := range o {
				_, _ = scan(t.Context(), bytes.NewReader(bad), int64(len(bad)), o)
			}
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<30))
		}
	}
}

// TestLies: page indexes that contradict the pages are errors. Bounds that lie in order cannot be noticed: they leave out rows.
func TestLies(t *testing.T) {
	b := corpus(t, "alltypes_tiny_pages.parquet")
	r, err := storage.FromReaderAt("x", bytes.NewReader(b), int64(len(b))).Open(t.Context(), "x")
	require.NoError(t, err)
	for _, lie := range []struct {
		change func(at, size, first *int64)
		want   string
	}{
		{func(_, _, first *int64) { *first++ }, "by the offset index"},
		{func(_, size, _ *int64) { *size-- }, "page"},
		{func(at, _, _ *int64) { *at += 3 }, "page"},
	} {
		f, err := read.Open(t.Context(), r, nil)
		require.NoError(t, err)
		err = f.Table(false).ReadLying(t.Context(), 0, 2, rowset.All(f.NumRows()), lie.change)
		require.ErrorContains(t, err, lie.want)
		require.ErrorContains(t, err, "row group 0")
	}
}

// TestDictionaries: columns of strings that are stored as codes come as codes, with the same dictionary in all batches of a row group.
func TestDictionaries(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	rb := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 1000 {
		if i%7 == 0 {
			rb.Field(0).AppendNull()
		} else {
			rb.Field(0).(*array.StringBuilder).Append(fmt.Sprint("value ", i%10))
		}
		rb.Field(1).(*array.Int64Builder).Append(int64(i))
	}
	b := written(t, rb.NewRecordBatch())
	for _, o := range []provider.ReadOptions{{BatchRows: 100}, {BatchRows: 100, Filter: condition(t, "s = 'value 3' or n > 900")}} {
		want, err := tabletest.Read(t, parquet.New(parquet.Options{}), input("x", b), o)
		require.NoError(t, err)
		o.Dictionaries = true
		got, err := tabletest.Read(t, parquet.New(parquet.Options{}), input("x", b), o)
		require.NoError(t, err)
		require.Equal(t, arrow.DICTIONARY, got.Schema().Field(0).Type.ID())
		require.Equal(t, arrow.INT64, got.Schema().Field(1).Type.ID())
		var plain []arrow.Array
		dictionaries := map[arrow.ArrayData]bool{}
		for _, c := range got.Column(0).Data().Chunks() {
			dictionaries[c.(*array.Dictionary).Dictionary().Data()] = true
			p, err := arrowutil.Plain(memory.DefaultAllocator, c)
			require.NoError(t, err)
			plain = append(plain, p)
		}
		require.LessOrEqual(t, len(dictionaries), 4)
		arrowtest.RequireSame(t, "s", want.Column(0).Data(), arrow.NewChunked(arrow.BinaryTypes.String, plain))
	}
}

// FuzzRead reads arbitrary files.
func FuzzRead(f *testing.F) {
	f.Add(mixed(f))
	for _, name := range []string{"data_index_bloom_encoding_stats.parquet", "datapage_v2.snappy.parquet", "delta_byte_array.parquet", "rle_boolean_encoding.parquet"} {
		f.Add(corpus(f, name))
	}
	options := hostile(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, o := range options {
			if len(b) < 1<<20 {
				_, _ = scan(t.Context(), bytes.NewReader(b), int64(len(b)), o)
			}
		}
	})
}
