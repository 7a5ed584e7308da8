package provider_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	_ "github.com/amudai/amudai-go/table/internal/arrowipc"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text"
)

var (
	commas    = text.CSV(text.CSVOptions{})
	jsonLines = text.JSONLines(text.JSONOptions{})
	jsonArray = text.JSONArray(text.JSONOptions{})
	logs      = text.Lines(text.LinesOptions{})
)

// TestOnlyWritten writes types that text formats cannot read back as such.
func TestOnlyWritten(t *testing.T) {
	for _, c := range arrowtest.Columns() {
		if c.Name != "dictionary_int" && c.Name != "run_end_encoded" {
			continue
		}
		rows := tabletest.Table(arrowtest.Batch(t, []arrowtest.Column{c}))
		out := tabletest.Write(t, commas, rows)
		require.NotContains(t, out, "[")
		_, err := tabletest.Read(t, commas, tabletest.Input(out), provider.ReadOptions{Schema: rows.Schema().Fields()})
		require.ErrorContains(t, err, "cannot be read from text")
	}
	mem := memory.DefaultAllocator
	for _, mode := range []arrow.UnionMode{arrow.DenseMode, arrow.SparseMode} {
		children := []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}
		a, _, err := array.FromJSON(mem, arrow.UnionOf(mode, children, []arrow.UnionTypeCode{5, 7}), strings.NewReader(`[[5, 1], [7, "x"], [5, null], [7, ""]]`))
		require.NoError(t, err)
		whole := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "u", Type: a.DataType(), Nullable: true}}, nil), []arrow.Array{a}, 4)
		require.Equal(t, "{\"u\":\"x\"}\n{\"u\":null}\n{\"u\":\"\"}\n", tabletest.Write(t, jsonLines, tabletest.Table(whole.NewSlice(1, 4))))
	}
}

// TestNotText refuses strings of invalid UTF-8, at any depth.
func TestNotText(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.Append("a\xffb")
	s := b.NewArray()
	list := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	list.Append(true)
	list.ValueBuilder().(*array.StringBuilder).Append("\xfe")
	l := list.NewArray()
	for _, a := range []arrow.Array{s, l} {
		rows := tabletest.Table(array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: a.DataType()}}, nil), []arrow.Array{a}, 1))
		for _, f := range []provider.Format{commas, jsonArray, jsonLines} {
			var out tabletest.Output
			sink, err := f.Create(t.Context(), &out, rows.Schema(), provider.WriteOptions{})
			require.NoError(t, err)
			r := array.NewTableReader(rows, 0)
			require.True(t, r.Next())
			require.ErrorContains(t, sink.Write(t.Context(), r.RecordBatch()), `column "x" has a string that is not UTF-8`)
			require.NoError(t, sink.Abort(t.Context()))
			require.True(t, out.Aborted)
			require.False(t, out.Published)
		}
	}
}

// TestFloats writes random floats and reads the same bits (NaNs have no payload in text).
func TestFloats(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := math.Float64frombits(rapid.Uint64().Draw(r, "bits"))
		w := math.Float32frombits(rapid.Uint32().Draw(r, "bits32"))
		b64, b32 := array.NewFloat64Builder(memory.DefaultAllocator), array.NewFloat32Builder(memory.DefaultAllocator)
		b64.Append(v)
		b32.Append(w)
		s := arrow.NewSchema(tabletest.Fields(t, "a:float64,b:float32"), nil)
		rows := tabletest.Table(array.NewRecordBatch(s, []arrow.Array{b64.NewArray(), b32.NewArray()}, 1))
		for _, f := range []provider.Format{commas, jsonArray} {
			src := tabletest.Write(t, f, rows)
			got := tabletest.MustRead(t, f, src, provider.ReadOptions{Schema: s.Fields()})
			x, y := got.Column(0).Data().Chunk(0).(*array.Float64).Value(0), got.Column(1).Data().Chunk(0).(*array.Float32).Value(0)
			if v == v {
				require.Equal(r, math.Float64bits(v), math.Float64bits(x), src)
				inferred := tabletest.MustRead(t, f, src, provider.ReadOptions{})
				require.Equal(r, math.Float64bits(v), math.Float64bits(inferred.Column(0).Data().Chunk(0).(*array.Float64).Value(0)))
			}
			if w == w {
				require.Equal(r, math.Float32bits(w), math.Float32bits(y), src)
			}
		}
	})
}

// TestTimes writes random times of all units and reads them back.
func TestTimes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := rapid.Int64().Draw(r, "v")
		unit := rapid.SampledFrom([]string{"s", "ms", "us", "ns"}).Draw(r, "unit")
		if unit == "s" {
			v /= 1000 // years of at most 12 digits
		}
		src := "a:timestamp[" + unit + "],b:timestamp[" + unit + ", UTC],c:duration[" + unit + "]"
		s := arrow.NewSchema(tabletest.Fields(t, src), nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(v))
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(v))
		b.Field(2).(*array.DurationBuilder).Append(arrow.Duration(v))
		rows := tabletest.Table(b.NewRecordBatch())
		out := tabletest.Write(t, commas, rows)
		got, err := tabletest.Read(t, commas, tabletest.Input(out), provider.ReadOptions{Schema: s.Fields()})
		require.NoError(r, err, out)
		arrowtest.RequireSameTable(t, rows, got)
	})
}

func TestFormats(t *testing.T) {
	all := provider.Registered()
	for path, want := range map[string]string{"a.csv": "csv", "A.CSV": "csv", "x/y.tsv": "tsv", "a.jsonl": "jsonl", `c:\a.json`: "json", "http://h/a.arrow": "arrow", "a.log": "lines"} {
		f, ok := all.ByPath(path)
		require.True(t, ok, path)
		require.Equal(t, want, f.Name)
	}
	_, ok := all.ByPath("csv")
	require.False(t, ok)
	_, err := all.ByName("xls")
	require.EqualError(t, err, `unknown format "xls": use one of `+strings.Join(all.Names(), ", "))
	for head, want := range map[string]string{"ARROW1\x00\x00": "arrow", "\xff\xff\xff\xff": "arrows", " {": "jsonl", "[1": "json", "a,b": "", "": ""} {
		f, ok := all.Sniff([]byte(head))
		require.Equal(t, want, f.Name)
		require.Equal(t, want != "", ok)
	}
}

// TestCancelled stops in the middle of an input.
func TestCancelled(t *testing.T) {
	src := "a\n" + strings.Repeat("1\n", 10000)
	for _, f := range []provider.Format{commas, jsonArray, logs} {
		ctx, cancel := context.WithCancel(t.Context())
		src, err := f.Open(ctx, tabletest.Input(strings.TrimPrefix(src, map[bool]string{true: "a\n"}[f.Name == "json"])), provider.ReadOptions{BatchRows: 100})
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

// TestFailingReader returns read errors.
func TestFailingReader(t *testing.T) {
	for _, f := range provider.Registered() {
		in := tabletest.Input("")
		in.Reader, in.At, in.Size = io.MultiReader(bytes.NewReader([]byte("[1,\n")), failing{}), nil, -1
		_, err := tabletest.Read(t, f, in, provider.ReadOptions{})
		require.ErrorIs(t, err, io.ErrClosedPipe, f.Name)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
