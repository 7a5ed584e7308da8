package read_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/filtertest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/parquet/internal/read"
	"github.com/amudai/amudai-go/table/provider"
)

// unreadable are the files of the corpus that arrow-go does not read.
var unreadable = []string{"incorrect_map_schema.parquet", "large_string_map.brotli.parquet"}

func input(name string, b []byte) provider.Input {
	return provider.Input{Name: name, Reader: bytes.NewReader(b), At: bytes.NewReader(b), Size: int64(len(b))}
}

// plain reads all rows by pqarrow, and chooses afterwards.
func plain() provider.Format {
	return provider.Format{Name: "plain", Reader: func(ctx context.Context, in provider.Input, o provider.ReadOptions) (provider.Source, error) {
		r, err := storage.FromReaderAt(in.Name, in.At, in.Size).Open(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		f, err := read.Open(ctx, r, o.Columns)
		if err != nil {
			return nil, err
		}
		s, err := f.Stream(o.Columns)
		return plainSource{s, f}, err
	}}
}

type plainSource struct {
	*read.Stream
	file *read.File
}

func (p plainSource) Rows() (int64, bool) { return p.file.NumRows(), true }
func (p plainSource) Close() error        { p.Stream.Close(); return nil }

// whole makes one batch of a table.
func whole(t testing.TB, rows arrow.Table) arrow.RecordBatch {
	columns := make([]arrow.Array, rows.NumCols())
	for i := range columns {
		chunks := rows.Column(i).Data().Chunks()
		if len(chunks) == 0 {
			columns[i] = arrowutil.Nulls(memory.DefaultAllocator, rows.Schema().Field(i).Type, 0)
			continue
		}
		var err error
		columns[i], err = arrowutil.Concatenate(memory.DefaultAllocator, chunks)
		require.NoError(t, err, "%d arrays of type %v", len(chunks), rows.Schema().Field(i).Type)
	}
	return array.NewRecordBatch(rows.Schema(), columns, rows.NumRows())
}

// sameSelection reads with options, and compares the result with that of plain reading.
func sameSelection(t testing.TB, name string, b []byte, o provider.ReadOptions) {
	want, err := tabletest.Read(t, plain(), input(name, b), o)
	if err != nil { // a filter on columns of equal names within structs
		require.ErrorContains(t, err, "filter: column", "%s %+v", name, o)
		return
	}
	defer want.Release()
	got, err := tabletest.Read(t, parquet.New(parquet.Options{}), input(name, b), o)
	require.NoError(t, err, "%s %+v", name, o)
	defer got.Release()
	require.Equal(t, want.NumRows(), got.NumRows(), "%s %v %+v", name, o.Filter, o)
	arrowtest.RequireSameTable(t, want, got)
}

// selections reads a file in many ways.
func selections(t testing.TB, name string, b []byte, seed uint64, conditions int) {
	r := rand.New(rand.NewPCG(seed, 1))
	rows, err := tabletest.Read(t, plain(), input(name, b), provider.ReadOptions{})
	require.NoError(t, err)
	defer rows.Release()
	n := rows.NumRows()
	if n > 2000 && !sweep.All() {
		conditions = 1
	}
	step := 1 + int(n)/100 // of batches
	sameSelection(t, name, b, provider.ReadOptions{Rows: []provider.RowRange{{To: n + 1}}})
	for range 4 {
		from := r.Int64N(n + 1)
		sameSelection(t, name, b, provider.ReadOptions{Rows: []provider.RowRange{{From: from, To: from + 1 + r.Int64N(n-from+1)}}, BatchRows: step + r.IntN(100)})
	}
	names := paths(rows.Schema())
	for _, path := range names {
		if r.IntN(4) == 0 || len(names) < 8 {
			sameSelection(t, name, b, provider.ReadOptions{Columns: []string{path}, Rows: []provider.RowRange{{To: n / 5}, {From: n / 3, To: n/3 + n/2 + 1}}})
		}
	}
	if n == 0 {
		return
	}
	g := filtertest.New(seed, whole(t, rows))
	for range conditions {
		e, _ := g.Condition()
		o := provider.ReadOptions{Filter: e}
		if r.IntN(2) == 0 && len(names) > 0 {
			o.Columns = []string{names[r.IntN(len(names))], names[r.IntN(len(names))]}
		}
		if r.IntN(4) == 0 {
			o.Rows = []provider.RowRange{{From: r.Int64N(n), To: n - r.Int64N(n/2+1)}}
		}
		if r.IntN(4) == 0 {
			o.Limit = 1 + r.Int64N(n)
		}
		sameSelection(t, name, b, o)
	}
}

// paths are those of columns, and of fields within structs.
func paths(s *arrow.Schema) (out []string) {
	for _, f := range s.Fields() {
		if f.Name == "" || len(s.FieldIndices(f.Name)) > 1 {
			continue
		}
		name := schema.Escape(f.Name)
		out = append(out, name)
		if st, ok := f.Type.(*arrow.StructType); ok {
			for _, k := range st.Fields() {
				if k.Name != "" {
					out = append(out, name+"."+schema.Escape(k.Name))
				}
			}
		}
	}
	return out
}

// TestSelectCorpus reads rows, columns and parts of them of all files of parquet-testing with and without pushing
// projections and filters into the format.
func TestSelectCorpus(t *testing.T) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "data")
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(dir, "*", "*.parquet"))
	require.NoError(t, err)
	for i, path := range slices.Concat(files, more) {
		if slices.Contains(unreadable, filepath.Base(path)) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			selections(t, filepath.Base(path), b, uint64(i), sweep.Count(2, 200))
		})
	}
}

// TestSelectRandom is TestSelectCorpus on tables of random types.
func TestSelectRandom(t *testing.T) {
	for seed := range uint64(sweep.Count(5, 300)) {
		g := arrowgen.New(seed)
		var fields []arrow.Field
		for len(fields) < 6 {
			f := arrow.Field{Name: string(rune('a' + len(fields))), Type: g.Type(2), Nullable: true}
			if one := arrow.NewSchema([]arrow.Field{f}, nil); written(t, arrowgen.New(seed).Batch(one, 100)) != nil {
				fields = append(fields, f)
			}
		}
		b := written(t, g.Batch(arrow.NewSchema(fields, nil), 700))
		if b != nil {
			selections(t, "random.parquet", b, seed, 10)
		}
	}
}

// TestSelectNulls asks for the nulls of columns of few values, which are known without reading them, of each type.
func TestSelectNulls(t *testing.T) {
	condition, err := filter.Parse("a is null")
	require.NoError(t, err)
	for _, c := range arrowtest.Columns() {
		column := c.Array(t)
		few := array.NewSlice(column, 0, 4)
		nulls := arrowutil.Nulls(memory.DefaultAllocator, c.Type, 3)
		both, err := arrowutil.Concatenate(memory.DefaultAllocator, []arrow.Array{few, nulls, few, nulls})
		require.NoError(t, err, c.Name)
		rows := arrow.NewSchema([]arrow.Field{{Name: "a", Type: c.Type, Nullable: true}}, nil)
		if b := written(t, array.NewRecordBatch(rows, []arrow.Array{both}, int64(both.Len()))); b != nil {
			sameSelection(t, c.Name, b, provider.ReadOptions{Filter: condition})
		}
	}
}

// TestSelectEmpty finds the empty strings of dictionaries, which are their minimum.
func TestSelectEmpty(t *testing.T) {
	coded := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	b := array.NewDictionaryBuilder(memory.DefaultAllocator, coded).(*array.BinaryDictionaryBuilder)
	for _, v := range []string{"b", "", "c", ""} {
		require.NoError(t, b.AppendString(v))
	}
	rows := arrow.NewSchema([]arrow.Field{{Name: "a", Type: coded}}, nil)
	file := written(t, array.NewRecordBatch(rows, []arrow.Array{b.NewArray()}, 4))
	for text, want := range map[string]int64{"a = ''": 2, "a <= ''": 2, "a > ''": 2} {
		condition, err := filter.Parse(text)
		require.NoError(t, err)
		got, err := tabletest.Read(t, parquet.New(parquet.Options{}), input("a", file), provider.ReadOptions{Filter: condition})
		require.NoError(t, err)
		require.Equal(t, want, got.NumRows(), text)
	}
}

// TestSelectMixed reads columns of texts whose first pages have codes and whose others have values, with and without codes in the result.
func TestSelectMixed(t *testing.T) {
	coded := 0
	for seed := range uint64(sweep.Count(8, 200)) {
		r := rand.New(rand.NewPCG(seed, 7))
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
			{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "t", Type: arrow.BinaryTypes.Binary}, {Name: "n", Type: arrow.PrimitiveTypes.Int32},
		}, nil))
		for i := range 1500 {
			text := fmt.Sprint("я", r.IntN(1+i%900/4))
			switch r.IntN(6) {
			case 0:
				b.Field(0).AppendNull()
			case 1, 2:
				b.Field(0).(*array.StringBuilder).Append("")
			default:
				b.Field(0).(*array.StringBuilder).Append(text)
			}
			b.Field(1).(*array.BinaryBuilder).Append([]byte(text))
			b.Field(2).(*array.Int32Builder).Append(int32(i))
		}
		rows := b.NewRecordBatch()
		var out bytes.Buffer
		o := pq.NewWriterProperties(pq.WithDictionaryPageSizeLimit(int64(300+r.IntN(2000))), pq.WithDataPageSize(100), pq.WithStats(false), pq.WithBatchSize(50),
			pq.WithDataPageVersion([]pq.DataPageVersion{pq.DataPageV1, pq.DataPageV2}[seed%2]), pq.WithMaxRowGroupLength(900))
		w, err := pqarrow.NewFileWriter(rows.Schema(), &out, o, pqarrow.NewArrowWriterProperties())
		require.NoError(t, err)
		require.NoError(t, w.Write(rows))
		require.NoError(t, w.Close())
		file := out.Bytes()
		selections(t, "mixed.parquet", file, seed, 10)

		g := filtertest.New(seed, rows)
		for range 10 {
			e, _ := g.Condition()
			o := provider.ReadOptions{Filter: e, BatchRows: 50 + r.IntN(400), Columns: []string{"s", "t", "n"}[r.IntN(2):]}
			if r.IntN(2) == 0 {
				o.Rows = []provider.RowRange{{From: r.Int64N(700), To: 800 + r.Int64N(700)}}
			}
			want, err := tabletest.Read(t, plain(), input("mixed.parquet", file), o)
			require.NoError(t, err)
			o.Dictionaries = true
			got, err := tabletest.Read(t, parquet.New(parquet.Options{}), input("mixed.parquet", file), o)
			require.NoError(t, err)
			if got.Column(int(got.NumCols()-2)).DataType().ID() == arrow.DICTIONARY {
				coded++
			}
			all := whole(t, got)
			for i, c := range all.Columns() {
				values, err := arrowutil.Plain(memory.DefaultAllocator, c)
				require.NoError(t, err)
				field := want.Schema().Field(i)
				arrowtest.RequireSame(t, field.Name, want.Column(i).Data(), arrow.NewChunked(field.Type, []arrow.Array{values}))
			}
		}
	}
	require.Greater(t, coded, 30, "results with codes")
}

// written is a batch as a file, or nil if arrow-go does not write it.
func written(t testing.TB, batch arrow.RecordBatch) []byte {
	var out tabletest.Output
	sink, err := parquet.New(parquet.Options{RowGroupRows: 300}).Create(t.Context(), &out, batch.Schema(), provider.WriteOptions{})
	if err != nil {
		return nil
	}
	if sink.Write(t.Context(), batch) != nil || sink.Close(t.Context()) != nil {
		_ = sink.Abort(t.Context())
		return nil
	}
	return out.Bytes()
}
