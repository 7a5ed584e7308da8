package tabular_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/tabular"
)

func TestArrowTypes(t *testing.T) {
	batch := arrowtest.Batch(t, arrowtest.Columns())
	table := tableOf(batch, batch.NewSlice(1, 4), batch.NewSlice(0, 0))
	for _, f := range []tabular.Format{tabular.Arrow, tabular.ArrowStream} {
		text := write(t, f, table, tabular.WriteOptions{})
		for _, reader := range []tabular.Format{tabular.Arrow, tabular.ArrowStream} { // either tells by the first bytes
			got := mustRead(t, reader, text, tabular.ReadOptions{})
			require.True(t, got.Schema().Equal(table.Schema()))
			arrowtest.RequireSameTable(t, table, got)
		}
		dir := t.TempDir()
		got, err := read(t, f, tabular.Input{Name: "stdin", Reader: strings.NewReader(text), Size: -1}, tabular.ReadOptions{TempDir: dir, Columns: []string{"utf8", "int8"}})
		require.NoError(t, err)
		require.Equal(t, "utf8: utf8\nint8: int8\n", tabular.SchemaText(got.Schema()))
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// TestArrowDictionaries writes batches whose dictionaries differ.
func TestArrowDictionaries(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	nested := arrow.ListOf(dt)
	var batches []arrow.RecordBatch
	for _, text := range []string{`["a", "b", null]`, `["c", "a", "c"]`, `["b", "d", "e"]`} {
		flat, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(text))
		require.NoError(t, err)
		list, _, err := array.FromJSON(memory.DefaultAllocator, nested, strings.NewReader("["+text+",[],null]"))
		require.NoError(t, err)
		s := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt, Nullable: true}, {Name: "l", Type: nested, Nullable: true}}, nil)
		batches = append(batches, array.NewRecordBatch(s, []arrow.Array{flat, list}, 3))
	}
	table := tableOf(batches...)
	for _, f := range []tabular.Format{tabular.Arrow, tabular.ArrowStream} {
		got := mustRead(t, f, write(t, f, table, tabular.WriteOptions{}), tabular.ReadOptions{})
		require.Equal(t, write(t, tabular.JSONLines, table, tabular.WriteOptions{}), write(t, tabular.JSONLines, got, tabular.WriteOptions{}))
	}
}

// TestArrowDamage flips bytes and cuts: an error or some table, never a panic.
func TestArrowDamage(t *testing.T) {
	var cols []arrowtest.Column
	for _, c := range arrowtest.Columns() {
		switch c.Name {
		case "utf8", "list", "dictionary", "run_end_encoded", "utf8_view", "map", "list_view", "bool":
			cols = append(cols, c)
		}
	}
	batch := arrowtest.Batch(t, cols)
	for _, f := range []tabular.Format{tabular.Arrow, tabular.ArrowStream} {
		whole := write(t, f, tableOf(batch), tabular.WriteOptions{})
		for i := range len(whole) {
			bad := []byte(whole)
			bad[i] ^= byte(1 << (i % 8))
			if table, err := read(t, f, input(string(bad)), tabular.ReadOptions{}); err == nil {
				for _, c := range table.Schema().Fields() {
					require.NotNil(t, c.Type)
				}
				_ = writeQuietly(t, tabular.JSONLines, table)
			}
		}
		for n := 0; n < len(whole); n += 3 {
			_, _ = read(t, f, input(whole[:n]), tabular.ReadOptions{})
		}
	}
	for _, text := range []string{"", "PAR1xxxxxxxx", "id,name\n1,2\n", "ARROW1\x00\x00"} {
		_, err := read(t, tabular.Arrow, input(text), tabular.ReadOptions{})
		require.Error(t, err)
	}
}

// writeQuietly writes what a damaged file gave, which may be refused.
func writeQuietly(t *testing.T, f tabular.Format, table arrow.Table) error {
	var out output
	sink, err := f.Create(t.Context(), &out, table.Schema(), tabular.WriteOptions{})
	if err != nil {
		return err
	}
	r := array.NewTableReader(table, 0)
	defer r.Release()
	for r.Next() {
		if err := sink.Write(t.Context(), r.RecordBatch()); err != nil {
			return sink.Abort()
		}
	}
	return sink.Close(t.Context())
}

func TestLines(t *testing.T) {
	text := "one\r\n\ntwo, \"three\"\nżółw"
	table := mustRead(t, tabular.Lines, text, tabular.ReadOptions{BatchRows: 2})
	require.Equal(t, "line: utf8 not null\n", tabular.SchemaText(table.Schema()))
	require.Equal(t, "one\n\ntwo, \"three\"\nżółw\n", write(t, tabular.Lines, table, tabular.WriteOptions{}))
	var said notices
	table = mustRead(t, tabular.Lines, "a\xff\nb\n", tabular.ReadOptions{Notice: said.add})
	require.Equal(t, "line: binary not null\n", tabular.SchemaText(table.Schema()))
	require.Equal(t, "a\xff\nb\n", write(t, tabular.Lines, table, tabular.WriteOptions{}))
	require.Len(t, said, 1)
	_, err := read(t, tabular.Lines, input(strings.Repeat("x\n", 50)+"\xff\n"), tabular.ReadOptions{SampleBytes: 10})
	require.EqualError(t, err, `column "line": "\xff" is not valid UTF-8 (line 51 of in)`)
	var out output
	_, err = tabular.Lines.Create(t.Context(), &out, arrow.NewSchema(fields(t, "a:utf8,b:utf8"), nil), tabular.WriteOptions{})
	require.ErrorContains(t, err, "2 columns")
}

// TestOnlyWritten are types that text formats write, but do not read as such.
func TestOnlyWritten(t *testing.T) {
	for _, c := range arrowtest.Columns() {
		if c.Name != "dictionary_int" && c.Name != "run_end_encoded" {
			continue
		}
		table := tableOf(arrowtest.Batch(t, []arrowtest.Column{c}))
		out := write(t, tabular.CSV, table, tabular.WriteOptions{})
		require.NotContains(t, out, "[")
		_, err := read(t, tabular.CSV, input(out), tabular.ReadOptions{Schema: table.Schema().Fields()})
		require.ErrorContains(t, err, "cannot be read from text")
	}
	mem := memory.DefaultAllocator
	for _, mode := range []arrow.UnionMode{arrow.DenseMode, arrow.SparseMode} {
		children := []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}
		a, _, err := array.FromJSON(mem, arrow.UnionOf(mode, children, []arrow.UnionTypeCode{5, 7}), strings.NewReader(`[[5, 1], [7, "x"], [5, null], [7, ""]]`))
		require.NoError(t, err)
		whole := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "u", Type: a.DataType(), Nullable: true}}, nil), []arrow.Array{a}, 4)
		require.Equal(t, "{\"u\":\"x\"}\n{\"u\":null}\n{\"u\":\"\"}\n", write(t, tabular.JSONLines, tableOf(whole.NewSlice(1, 4)), tabular.WriteOptions{}))
	}
}

// TestNotText refuses strings that are not UTF-8, at any depth.
func TestNotText(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.Append("a\xffb")
	s := b.NewArray()
	list := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	list.Append(true)
	list.ValueBuilder().(*array.StringBuilder).Append("\xfe")
	l := list.NewArray()
	for _, a := range []arrow.Array{s, l} {
		table := tableOf(array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: a.DataType()}}, nil), []arrow.Array{a}, 1))
		for _, f := range []tabular.Format{tabular.CSV, tabular.JSON, tabular.JSONLines} {
			var out output
			sink, err := f.Create(t.Context(), &out, table.Schema(), tabular.WriteOptions{})
			require.NoError(t, err)
			r := array.NewTableReader(table, 0)
			require.True(t, r.Next())
			require.ErrorContains(t, sink.Write(t.Context(), r.RecordBatch()), `column "x" has a string that is not UTF-8`)
			require.NoError(t, sink.Abort())
			require.True(t, out.aborted)
			require.False(t, out.published)
		}
	}
}

// TestFloats writes any float and reads the same bits (NaNs have no payload in text).
func TestFloats(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := math.Float64frombits(rapid.Uint64().Draw(r, "bits"))
		w := math.Float32frombits(rapid.Uint32().Draw(r, "bits32"))
		b64, b32 := array.NewFloat64Builder(memory.DefaultAllocator), array.NewFloat32Builder(memory.DefaultAllocator)
		b64.Append(v)
		b32.Append(w)
		s := arrow.NewSchema(fields(t, "a:float64,b:float32"), nil)
		table := tableOf(array.NewRecordBatch(s, []arrow.Array{b64.NewArray(), b32.NewArray()}, 1))
		for _, f := range []tabular.Format{tabular.CSV, tabular.JSON} {
			text := write(t, f, table, tabular.WriteOptions{})
			got := mustRead(t, f, text, tabular.ReadOptions{Schema: s.Fields()})
			x, y := got.Column(0).Data().Chunk(0).(*array.Float64).Value(0), got.Column(1).Data().Chunk(0).(*array.Float32).Value(0)
			if v == v {
				require.Equal(r, math.Float64bits(v), math.Float64bits(x), text)
				inferred := mustRead(t, f, text, tabular.ReadOptions{})
				require.Equal(r, math.Float64bits(v), math.Float64bits(inferred.Column(0).Data().Chunk(0).(*array.Float64).Value(0)))
			}
			if w == w {
				require.Equal(r, math.Float32bits(w), math.Float32bits(y), text)
			}
		}
	})
}

// TestTimes writes any time of any unit and reads it back.
func TestTimes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := rapid.Int64().Draw(r, "v")
		unit := rapid.SampledFrom([]string{"s", "ms", "us", "ns"}).Draw(r, "unit")
		if unit == "s" {
			v /= 1000 // years of 12 digits at most
		}
		text := "a:timestamp[" + unit + "],b:timestamp[" + unit + ", UTC],c:duration[" + unit + "]"
		s := arrow.NewSchema(fields(t, text), nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(v))
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(v))
		b.Field(2).(*array.DurationBuilder).Append(arrow.Duration(v))
		table := tableOf(b.NewRecordBatch())
		out := write(t, tabular.CSV, table, tabular.WriteOptions{})
		got, err := read(t, tabular.CSV, input(out), tabular.ReadOptions{Schema: s.Fields()})
		require.NoError(r, err, out)
		arrowtest.RequireSameTable(t, table, got)
	})
}

func TestTypeText(t *testing.T) {
	for _, c := range arrowtest.Columns() {
		text := tabular.TypeText(c.Type)
		got, err := tabular.ParseType(text)
		require.NoError(t, err, text)
		require.True(t, arrow.TypeEqual(c.Type, got), "%s: %s", text, got)
		require.Equal(t, text, tabular.TypeText(got))
	}
	s := `"a:b": int64 not null` + "\n" + `"": struct<"x,y": utf8, z: map<utf8, list<int8 not null>, sorted>>` + "\n"
	f, err := tabular.ParseSchema(s)
	require.NoError(t, err)
	require.Equal(t, s, tabular.SchemaText(arrow.NewSchema(f, nil)))
	f, err = tabular.ParseSchema(" a:string,b : double # comment, c:int8\n# all of it\n\nd:decimal(5,2), e:date, f:dictionary<int8,text,ordered>")
	require.NoError(t, err)
	require.Equal(t, "a: utf8\nb: float64\nd: decimal128(5, 2)\ne: date32\nf: dictionary<int8, utf8, ordered>\n", tabular.SchemaText(arrow.NewSchema(f, nil)))
	for text, want := range map[string]string{
		"a":                       `write name:type`,
		"a:":                      `expected a type`,
		"a:int65":                 `unknown type "int65"`,
		"a:float":                 `use float32 or float64`,
		"a:list<int64":            `expected '>'`,
		"a:timestamp[h]":          `unknown unit`,
		"a:time32[ns]":            `unknown type time32[ns]`,
		"a:decimal(99,2)":         `precision`,
		"a:decimal":               `needs precision and scale`,
		"a:int64 b:int64":         `unexpected "b:int64"`,
		":int64":                  `no name`,
		`"a:int64`:                `no end of quotes`,
		"a:map<utf8>":             `needs two types`,
		"a:dictionary<utf8,utf8>": `codes are integers`,
		"a:" + strings.Repeat("list<", 100) + "int8": `nested deeper`,
	} {
		_, err := tabular.ParseSchema(text)
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`a:list<struct<"b c":decimal(3,1) not null>>`)
	f.Fuzz(func(t *testing.T, text string) {
		fs, err := tabular.ParseSchema(text)
		if err != nil {
			return
		}
		first := tabular.SchemaText(arrow.NewSchema(fs, nil))
		again, err := tabular.ParseSchema(first)
		require.NoError(t, err, first)
		require.Equal(t, first, tabular.SchemaText(arrow.NewSchema(again, nil)))
	})
}

func TestFormats(t *testing.T) {
	all := tabular.All()
	for path, want := range map[string]string{"a.csv": "csv", "A.CSV": "csv", "x/y.tsv": "tsv", "a.jsonl": "jsonl", `c:\a.json`: "json", "http://h/a.arrow": "arrow", "a.log": "lines"} {
		f, ok := all.ByPath(path)
		require.True(t, ok, path)
		require.Equal(t, want, f.Name)
	}
	_, ok := all.ByPath("csv")
	require.False(t, ok)
	_, err := all.ByName("xls")
	require.EqualError(t, err, `unknown format "xls": use one of csv, tsv, jsonl, json, arrow, arrows, lines`)
	for head, want := range map[string]string{"PAR1": "parquet", "ARROW1\x00\x00": "arrow", "\xff\xff\xff\xff": "arrows", "amud\x00": "shard", " {": "jsonl", "[1": "json", "a,b": "", "": ""} {
		require.Equal(t, want, tabular.Sniff([]byte(head)))
	}
}

// TestCancelled stops in the middle of an input.
func TestCancelled(t *testing.T) {
	text := "a\n" + strings.Repeat("1\n", 10000)
	for _, f := range []tabular.Format{tabular.CSV, tabular.JSON, tabular.Lines} {
		ctx, cancel := context.WithCancel(t.Context())
		src, err := f.Open(ctx, input(strings.TrimPrefix(text, map[bool]string{true: "a\n"}[f.Name == "json"])), tabular.ReadOptions{BatchRows: 100})
		require.NoError(t, err)
		b, err := src.Next(ctx)
		require.NoError(t, err)
		b.Release()
		cancel()
		_, err = src.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, src.Close())
	}
}

// TestFailingReader passes read errors on.
func TestFailingReader(t *testing.T) {
	for _, f := range tabular.All() {
		in := input("")
		in.Reader, in.At, in.Size = io.MultiReader(bytes.NewReader([]byte("[1,\n")), failing{}), nil, -1
		_, err := read(t, f, in, tabular.ReadOptions{})
		require.ErrorIs(t, err, io.ErrClosedPipe, f.Name)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
