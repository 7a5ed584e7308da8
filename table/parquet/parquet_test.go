package parquet_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
	texts "github.com/amudai/amudai-go/table/text"
)

// unreadable are the valid files of the corpus that pqarrow does not read, with the reason.
var unreadable = map[string]string{
	"incorrect_map_schema.parquet":    "MAP keys must be required", // the file violates this rule; other readers overlook it
	"large_string_map.brotli.parquet": "exceeds configured limit",  // a page of 1 GiB in a file of 4 KB
}

// harmless are the bad files that can be read all the same, with the reason.
var harmless = map[string]string{
	"ARROW-GH-43605.parquet": "dictionary codes of width 0 are all 0, and the dictionary has one entry",
}

type buffer struct{ b bytes.Buffer }

func (b *buffer) Write(_ context.Context, p []byte) error {
	b.b.Write(p)
	return nil
}

func (*buffer) Publish(context.Context) error { return nil }
func (b *buffer) Abort(context.Context) error { b.b.Reset(); return nil }
func (b *buffer) Bytes() []byte               { return b.b.Bytes() }
func (b *buffer) Len() int                    { return b.b.Len() }

func input(name string, b []byte) provider.Input {
	return provider.Input{Name: name, Reader: bytes.NewReader(b), At: bytes.NewReader(b), Size: int64(len(b))}
}

// readAll reads every batch, and checks the row count of the source.
func readAll(t *testing.T, in provider.Input, o provider.ReadOptions) (arrow.Table, error) {
	t.Helper()
	return readAs(t, parquet.New(parquet.Options{}), in, o)
}

func readAs(t *testing.T, f provider.Format, in provider.Input, o provider.ReadOptions) (arrow.Table, error) {
	t.Helper()
	src, err := f.Open(t.Context(), in, o)
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, src.Close()) }()
	var batches []arrow.RecordBatch
	defer func() {
		for _, b := range batches {
			b.Release()
		}
	}()
	rows := int64(0)
	for {
		b, err := src.Next(t.Context())
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		batches = append(batches, b)
		rows += b.NumRows()
	}
	told, ok := src.Rows()
	require.True(t, ok)
	require.Equal(t, told, rows)
	return array.NewTableFromRecords(src.Schema(), batches), nil
}

func write(t *testing.T, rows arrow.Table, o parquet.Options, batch int64) []byte {
	t.Helper()
	return writeNoting(t, rows, o, batch, nil)
}

// writeNoting is write with a function for notices.
func writeNoting(t *testing.T, rows arrow.Table, o parquet.Options, batch int64, notice func(string)) []byte {
	t.Helper()
	var out buffer
	sink, err := parquet.New(o).Create(t.Context(), &out, rows.Schema(), provider.WriteOptions{Notice: notice})
	require.NoError(t, err)
	r := array.NewTableReader(rows, batch)
	defer r.Release()
	for r.Next() {
		require.NoError(t, sink.Write(t.Context(), r.RecordBatch()))
	}
	require.NoError(t, sink.Close(t.Context()))
	require.NoError(t, sink.Abort(t.Context()))
	return out.Bytes()
}

// TestUnusualFiles reads old and unusual files as pyarrow and DuckDB do.
func TestUnusualFiles(t *testing.T) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "data")
	for name, want := range map[string]struct {
		columns []string
		types   string
		first   string
	}{
		"old_list_structure.parquet":                {nil, "a: list<list<int32>> not null\n", `{"a":[[1,2],[3,4]]}`},
		"datapage_v2_empty_datapage.snappy.parquet": {nil, "value: float32\n", `{"value":null}`},
		"unknown-logical-type.parquet": {nil, "column with known type: utf8\ncolumn with unknown type: binary\n",
			`{"column with known type":"known string 1","column with unknown type":"dW5rbm93biBzdHJpbmcgMQ=="}`},
		"alltypes_plain.parquet":   {[]string{"timestamp_col", "id"}, "timestamp_col: timestamp[ns]\nid: int32\n", `{"timestamp_col":"2009-03-01T00:00:00","id":4}`},
		"int96_from_spark.parquet": {nil, "a: timestamp[us]\n", `{"a":"2024-01-01T20:34:56.123456"}`},
		"repeated_no_annotation.parquet": {[]string{"phoneNumbers"},
			"phoneNumbers: struct<phone: list<struct<number: int64 not null, kind: utf8>> not null>\n", `{"phoneNumbers":null}`},
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		rows, err := readAll(t, input(name, b), provider.ReadOptions{Columns: want.columns})
		require.NoError(t, err, name)
		require.Equal(t, want.types, text.Schema(rows.Schema()), name)
		lines := tabletest.Write(t, texts.JSONLines(texts.JSONOptions{}), rows)
		first, _, _ := strings.Cut(lines, "\n")
		require.Equal(t, want.first, first, name)
		rows.Release()
	}
}

// TestUnknownTypeDamaged flips every bit of a footer that must be rewritten. The result is an error or a table, never
// a panic or endless work.
func TestUnknownTypeDamaged(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "data", "unknown-logical-type.parquet"))
	require.NoError(t, err)
	for i := max(4, len(b)-800); i < len(b); i++ {
		for bit := range 8 {
			bad := bytes.Clone(b)
			bad[i] ^= 1 << bit
			if rows, err := readAllQuietly(t, bad); err == nil {
				rows.Release()
			}
		}
	}
}

func TestCorpus(t *testing.T) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "data")
	read := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".parquet" {
			return err
		}
		t.Run(d.Name(), func(t *testing.T) {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			rows, err := readAll(t, input(d.Name(), b), provider.ReadOptions{})
			if why, ok := unreadable[d.Name()]; ok {
				require.ErrorContains(t, err, why)
				return
			}
			require.NoError(t, err)
			defer rows.Release()
			read++
			again, err := readAll(t, input(d.Name(), write(t, rows, parquet.Options{RowGroupRows: 1000}, 300)), provider.ReadOptions{BatchRows: 77})
			require.NoError(t, err)
			defer again.Release()
			arrowtest.RequireSameTable(t, rows, again)
		})
		return nil
	}))
	t.Logf("%d files read and written back, %d unreadable for a reason", read, len(unreadable))
}

func TestBadData(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "bad_data", "*.parquet"))
	require.NoError(t, err)
	for _, path := range files {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		rows, err := readAll(t, input(filepath.Base(path), b), provider.ReadOptions{})
		if harmless[filepath.Base(path)] != "" {
			require.NoError(t, err)
			rows.Release()
			continue
		}
		require.Error(t, err, path)
		require.NotContains(t, err.Error(), "\n")
	}
}

// TestDamage flips bytes and truncates a file. The result is an error or some table, never a panic.
func TestDamage(t *testing.T) {
	rows := example(t, 500)
	defer rows.Release()
	whole := write(t, rows, parquet.Options{RowGroupRows: 200}, 100)
	for i := 0; i < len(whole); i += 23 {
		bad := bytes.Clone(whole)
		bad[i] ^= byte(1 << (i % 8))
		if rows, err := readAllQuietly(t, bad); err == nil {
			rows.Release()
		}
	}
	for n := 0; n < len(whole); n += 61 {
		_, err := readAllQuietly(t, whole[:n])
		require.Error(t, err)
	}
}

func readAllQuietly(t *testing.T, b []byte) (arrow.Table, error) {
	src, err := parquet.New(parquet.Options{}).Open(t.Context(), input("x", b), provider.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var batches []arrow.RecordBatch
	for {
		b, err := src.Next(t.Context())
		if err != nil {
			return nil, err
		}
		if b == nil {
			return array.NewTableFromRecords(src.Schema(), batches), nil
		}
		batches = append(batches, b)
	}
}

func example(t *testing.T, rows int) arrow.Table {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "st", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true}), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i) * 7919)
		if i%5 == 0 {
			b.Field(1).AppendNull()
			b.Field(2).AppendNull()
			b.Field(3).AppendNull()
			continue
		}
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat("x", i%13))
		l := b.Field(2).(*array.ListBuilder)
		l.Append(true)
		for j := range i % 4 {
			l.ValueBuilder().(*array.Int32Builder).Append(int32(i * j))
		}
		st := b.Field(3).(*array.StructBuilder)
		st.Append(true)
		st.FieldBuilder(0).(*array.Float64Builder).Append(float64(i) / 3)
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
}

func TestProjection(t *testing.T) {
	rows := example(t, 1000)
	defer rows.Release()
	b := write(t, rows, parquet.Options{RowGroupRows: 300}, 1000)
	got, err := readAll(t, input("x", b), provider.ReadOptions{Columns: []string{"st", "n"}})
	require.NoError(t, err)
	defer got.Release()
	require.Equal(t, "st", got.Schema().Field(0).Name)
	require.True(t, array.ChunkedEqual(rows.Column(3).Data(), got.Column(0).Data()))
	require.True(t, array.ChunkedEqual(rows.Column(0).Data(), got.Column(1).Data()))
	_, err = readAll(t, input("x", b), provider.ReadOptions{Columns: []string{"nope"}})
	require.ErrorContains(t, err, `there is no column "nope"`)
}

// TestCompressions writes with each compression, and reads columns one by one and in parallel.
func TestCompressions(t *testing.T) {
	rows := example(t, 5000)
	defer rows.Release()
	sizes := map[string]int{}
	for _, name := range []string{"", "zstd", "snappy"} {
		b := write(t, rows, parquet.Options{Compression: name, RowGroupRows: 2000}, 1000)
		sizes[name] = len(b)
		for parallel := range 3 {
			got, err := readAs(t, parquet.New(parquet.Options{Parallelism: parallel}), input("x", b), provider.ReadOptions{})
			require.NoError(t, err)
			for i := range int(rows.NumCols()) {
				require.True(t, array.ChunkedEqual(rows.Column(i).Data(), got.Column(i).Data()), "%s %v", name, parallel)
			}
			got.Release()
		}
	}
	require.Equal(t, sizes[""], sizes["zstd"])
	require.Greater(t, sizes["snappy"], sizes["zstd"])
	_, err := parquet.New(parquet.Options{Compression: "lzma"}).Create(t.Context(), &buffer{}, rows.Schema(), provider.WriteOptions{})
	require.ErrorContains(t, err, `unknown compression "lzma" of Parquet: use zstd or snappy`)
}

// TestPipe reads from a stream without random access.
func TestPipe(t *testing.T) {
	rows := example(t, 100)
	defer rows.Release()
	b := write(t, rows, parquet.Options{}, 100)
	dir := t.TempDir()
	got, err := readAll(t, provider.Input{Name: "stdin", Reader: bytes.NewReader(b), Size: -1}, provider.ReadOptions{TempDir: dir})
	require.NoError(t, err)
	defer got.Release()
	arrowtest.RequireSameTable(t, rows, got)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestNotParquet(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "too few",
		"id,name\n1,one\n2,two\n":        `it starts with "id,n"`,
		"PAR1" + strings.Repeat("x", 40): "no footer",
		"PAR1" + strings.Repeat("x", 40) + "PARE":                 "encrypted",
		"PAR1" + strings.Repeat("x", 40) + "\xff\xff\xff\x7fPAR1": "",
	} {
		_, err := readAll(t, input("file", []byte(text)), provider.ReadOptions{})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "file")
	}
}

func TestCancelled(t *testing.T) {
	rows := example(t, 100)
	defer rows.Release()
	b := write(t, rows, parquet.Options{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	src, err := parquet.New(parquet.Options{}).Open(ctx, input("x", b), provider.ReadOptions{})
	require.NoError(t, err)
	defer src.Close()
	cancel()
	_, err = src.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// TestTypes writes a column of every Arrow type. By the stored Arrow schema all come back unchanged, except unions,
// which become JSON text.
func TestTypes(t *testing.T) {
	for _, c := range arrowtest.Columns() {
		t.Run(c.Name, func(t *testing.T) {
			batch := arrowtest.Batch(t, []arrowtest.Column{c})
			defer batch.Release()
			testTable(t, array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch, batch.NewSlice(1, 3)}), strings.HasPrefix(c.Name, "interval"))
			wrapped := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.StructOf(batch.Schema().Fields()...), Nullable: true}}, nil),
				[]arrow.Array{array.RecordToStructArray(batch)}, batch.NumRows())
			testTable(t, array.NewTableFromRecords(wrapped.Schema(), []arrow.RecordBatch{wrapped.NewSlice(1, 4), wrapped}), false)
		})
	}
}

func testTable(t *testing.T, rows arrow.Table, notice bool) {
	t.Helper()
	defer rows.Release()
	var notices []string
	b := writeNoting(t, rows, parquet.Options{}, 3, func(s string) { notices = append(notices, s) })
	got, err := readAll(t, input("x", b), provider.ReadOptions{BatchRows: 4})
	require.NoError(t, err)
	defer got.Release()
	require.Equal(t, notice, len(notices) == 1, notices)
	require.True(t, got.Schema().Equal(rows.Schema()), "%s\n%s", rows.Schema(), got.Schema())
	arrowtest.RequireSameTable(t, rows, got)
}

// TestEmptyStruct writes structs without fields, which Parquet lacks, and reads them back.
func TestEmptyStruct(t *testing.T) {
	empty := arrow.StructOf()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "e", Type: empty, Nullable: true}, {Name: "l", Type: arrow.ListOf(empty), Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int8},
	}, nil))
	defer b.Release()
	for i := range 5 {
		b.Field(0).(*array.StructBuilder).Append(i != 2)
		l := b.Field(1).(*array.ListBuilder)
		l.Append(true)
		for range i {
			l.ValueBuilder().(*array.StructBuilder).Append(true)
		}
		b.Field(2).(*array.Int8Builder).Append(int8(i))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	testTable(t, array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch, batch.NewSlice(1, 4)}), false)
}

// TestUnion writes unions as JSON text, with a notice.
func TestUnion(t *testing.T) {
	u := arrow.DenseUnionOf([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, []arrow.UnionTypeCode{5, 7})
	a, _, err := array.FromJSON(memory.DefaultAllocator, u, strings.NewReader(`[[5, 1], [7, "x"], [5, null]]`))
	require.NoError(t, err)
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "u", Type: u, Nullable: true}}, nil), []arrow.Array{a}, 3)
	var notices []string
	b := writeNoting(t, array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch}), parquet.Options{}, 0, func(s string) { notices = append(notices, s) })
	require.Len(t, notices, 1)
	got, err := readAll(t, input("x", b), provider.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, `[1,"x",null]`, got.Column(0).Data().Chunk(0).String())
}

// TestInexact refuses values that Parquet cannot hold.
func TestInexact(t *testing.T) {
	for name, c := range map[string]struct {
		t    arrow.DataType
		text string
	}{
		"time of day": {arrow.FixedWidthTypes.Date64, `[86400001]`},
		"seconds":     {arrow.FixedWidthTypes.Timestamp_s, `[9223372036854775807]`},
	} {
		t.Run(name, func(t *testing.T) {
			b := array.NewInt64Builder(memory.DefaultAllocator)
			require.NoError(t, b.UnmarshalJSON([]byte(c.text)))
			a := b.NewArray()
			a = array.MakeFromData(array.NewData(c.t, 1, a.Data().Buffers(), nil, 0, 0))
			batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.t}}, nil), []arrow.Array{a}, 1)
			var out buffer
			sink, err := parquet.New(parquet.Options{}).Create(t.Context(), &out, batch.Schema(), provider.WriteOptions{})
			require.NoError(t, err)
			require.ErrorContains(t, sink.Write(t.Context(), batch), `column "x"`)
			require.NoError(t, sink.Abort(t.Context()))
		})
	}
}

// TestStoredSchema ignores a damaged stored Arrow schema.
func TestStoredSchema(t *testing.T) {
	rows := example(t, 10)
	defer rows.Release()
	b := write(t, rows, parquet.Options{}, 10)
	at := bytes.Index(b, []byte("ARROW:schema"))
	require.Positive(t, at)
	for i := range 200 {
		bad := bytes.Clone(b)
		bad[at+20+i] = 'x'
		if got, err := readAllQuietly(t, bad); err == nil {
			require.EqualValues(t, 10, got.NumRows())
			got.Release()
		}
	}
}

// TestColumnsOfOneName requests the second column of a name, also together with a filter.
func TestColumnsOfOneName(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "a", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2}, nil)
	b.Field(1).(*array.Int64Builder).AppendValues([]int64{30, 40}, nil)
	f := parquet.New(parquet.Options{})
	in := tabletest.Write(t, f, tabletest.Table(b.NewRecordBatch()))
	for where, want := range map[string][]int64{"true": {30, 40}, `"a#2" = 40`: {40}, "a = 1": {30}} {
		e, err := filter.Parse(where)
		require.NoError(t, err)
		got := tabletest.MustRead(t, f, in, provider.ReadOptions{Columns: []string{"a#2"}, Filter: e})
		require.EqualValues(t, 1, got.NumCols())
		require.Equal(t, want, got.Column(0).Data().Chunk(0).(*array.Int64).Int64Values(), where)
	}
}
