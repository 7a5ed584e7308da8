package tables_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/internal/arrowipc"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
	texts "github.com/amudai/amudai-go/table/text"
)

var (
	commas = texts.CSV(texts.CSVOptions{})
	lines  = texts.JSONLines(texts.JSONOptions{})
	shards = shard.New(shard.FormatOptions{})
)

// part is a table in memory.
func part(name string, f provider.Format, content string) tables.Part {
	return tables.Part{Name: name, Open: func(ctx context.Context, o provider.ReadOptions) (provider.Source, provider.Format, error) {
		in := tabletest.Input(content)
		in.Name = name
		src, err := f.Open(ctx, in, o)
		return src, f, err
	}}
}

// typed is rows of JSON with the types of a schema, in a format.
func typed(t testing.TB, name string, f provider.Format, types, rows string) tables.Part {
	fields, err := text.ParseSchema(types)
	require.NoError(t, err)
	return part(name, f, tabletest.Write(t, f, tabletest.MustRead(t, lines, rows, provider.ReadOptions{Schema: fields})))
}

// read returns the schema of a union and its rows as JSON lines.
func read(t testing.TB, parts []tables.Part, o provider.ReadOptions) (types, rows string, err error) {
	u, err := tables.New(t.Context(), parts, o)
	if err != nil {
		return "", "", err
	}
	src, err := u.Open(t.Context(), o)
	if err != nil {
		return "", "", err
	}
	defer func() { require.NoError(t, src.Close()) }()
	out := &tabletest.Output{}
	sink, err := lines.Create(t.Context(), out, src.Schema(), provider.WriteOptions{})
	require.NoError(t, err)
	for {
		b, err := src.Next(t.Context())
		if err != nil {
			return "", "", err
		}
		if b == nil {
			require.NoError(t, sink.Close(t.Context()))
			return text.Schema(src.Schema()), out.String(), nil
		}
		require.NoError(t, sink.Write(t.Context(), b))
		b.Release()
	}
}

// TestTypes unites two types, in either order.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"int8", "int32", "int32"},
		{"uint8", "int8", "int16"},
		{"uint32", "int64", "int64"},
		{"uint32", "int32", "int64"},
		{"uint64", "int8", "decimal128(20, 0)"},
		{"int64", "float64", "float64"},
		{"float32", "float64", "float64"},
		{"int16", "float32", "float64"},
		{"float16", "float32", "float32"},
		{"int64", "decimal(10,2)", "decimal128(21, 2)"},
		{"decimal(10,2)", "decimal(12,6)", "decimal128(14, 6)"},
		{"decimal(38,2)", "decimal(38,6)", "decimal256(42, 6)"},
		{"date32", "timestamp[ms]", "timestamp[ms]"},
		{"timestamp[s]", "timestamp[us]", "timestamp[us]"},
		{"timestamp[s, UTC]", "timestamp[ns, UTC]", "timestamp[ns, UTC]"},
		{"duration[s]", "duration[ms]", "duration[ms]"},
		{"utf8", "large_utf8", "large_utf8"},
		{"utf8", "utf8_view", "utf8"},
		{"binary", "fixed_size_binary[3]", "binary"},
		{"utf8", "binary", "binary"},
		{"null", "date32", "date32"},
		{"int64", "utf8", "utf8"},
		{"bool", "int8", "utf8"},
		{"date32", "timestamp[s, UTC]", "utf8"},
		{"float64", "decimal(5,2)", "utf8"},
		{"list<int8>", "list<int64>", "list<int64>"},
		{"list<int8>", "utf8", "utf8"},
		{"struct<a: int8, b: utf8>", "struct<b: utf8, c: date32, a: float64>", "struct<a: float64, b: utf8, c: date32>"},
		{"list<struct<a: int8>>", "list<struct<a: null, b: bool>>", "list<struct<a: int8, b: bool>>"},
		{"map<utf8, int64>", "int64", `column "v" is map<utf8, int64> in`},
	} {
		for range 2 {
			parts := []tables.Part{
				typed(t, "a", arrowipc.Format, "v:"+c.a, `{"v":null}`+"\n"),
				typed(t, "b", arrowipc.Format, "v:"+c.b, `{"v":null}`+"\n"),
			}
			types, rows, err := read(t, parts, provider.ReadOptions{})
			c.a, c.b = c.b, c.a
			if strings.HasPrefix(c.want, "column") {
				require.ErrorContains(t, err, "map<utf8, int64> in")
				continue
			}
			require.NoError(t, err)
			if strings.HasPrefix(c.want, "struct") || strings.HasPrefix(c.want, "list<struct") { // in the order of appearance
				require.Equal(t, len("v: "+c.want+"\n"), len(types), types)
			} else {
				require.Equal(t, "v: "+c.want+"\n", types, "%s and %s", c.a, c.b)
			}
			require.Equal(t, `{"v":null}`+"\n"+`{"v":null}`+"\n", rows)
		}
	}
}

// TestValues widens values.
func TestValues(t *testing.T) {
	for _, c := range []struct{ a, rowsA, b, rowsB, want string }{
		{"v:int8", `{"v":-1}`, "v:uint64", `{"v":18446744073709551615}`, `{"v":"-1"} {"v":"18446744073709551615"}`},
		{"v:int64", `{"v":3}`, "v:float64", `{"v":0.5}`, `{"v":3.0} {"v":0.5}`},
		{"v:int64", `{"v":9007199254740993}`, "v:float64", `{"v":0.5}`, `column "v": "9007199254740993" has more digits`},
		{"v:date32", `{"v":"2001-02-03"}`, "v:timestamp[ms]", `{"v":"2001-02-03T04:05:06.007"}`, `{"v":"2001-02-03T00:00:00"} {"v":"2001-02-03T04:05:06.007"}`},
		{"v:timestamp[s]", `{"v":"9999-01-01T00:00:00"}`, "v:timestamp[ns]", `{"v":null}`, `row 1 of a`},
		{"v:int64", `{"v":7}`, "v:utf8", `{"v":"x"}`, `{"v":"7"} {"v":"x"}`},
		{"v:list<int8>", `{"v":[1,null]}`, "v:list<float64>", `{"v":[0.5]}`, `{"v":[1.0,null]} {"v":[0.5]}`},
		{"v:list<int64>", `{"v":[1,9007199254740993]}`, "v:list<float64>", `{"v":[0.5]}`, `column "v[]"`},
		{"v:struct<a: int8>", `{"v":{"a":1}}`, "v:struct<b: utf8>", `{"v":{"b":"x"}}`, `{"v":{"a":1,"b":null}} {"v":{"a":null,"b":"x"}}`},
		{"v:struct<a: int8>", `{"v":null}`, "v:struct<a: float64>", `{"v":{"a":0.5}}`, `{"v":null} {"v":{"a":0.5}}`},
		{"v:utf8", `{"v":"ab"}`, "v:binary", `{"v":"/w=="}`, `{"v":"YWI="} {"v":"/w=="}`},
		{"v:int8, w:bool", `{"v":1,"w":true}`, "x:utf8", `{"x":"y"}`, `{"v":1,"w":true,"x":null} {"v":null,"w":null,"x":"y"}`},
	} {
		parts := []tables.Part{typed(t, "a", arrowipc.Format, c.a, c.rowsA+"\n"), typed(t, "b", arrowipc.Format, c.b, c.rowsB+"\n")}
		_, rows, err := read(t, parts, provider.ReadOptions{})
		if err != nil {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.Equal(t, strings.ReplaceAll(c.want, "} {", "}\n{")+"\n", rows)
	}
}

// TestText reads columns of formats of text as their text, if other inputs have text there.
func TestText(t *testing.T) {
	var notices []string
	parts := []tables.Part{part("a.csv", commas, "v\n1.50\n"), part("b.csv", commas, "v\nx\n"), part("c.jsonl", lines, `{"v":2.250,"w":{"z":1.10}}`+"\n"),
		part("d.jsonl", lines, `{"w":{"z":"one"}}`+"\n")}
	o := provider.ReadOptions{Warning: func(s string) { notices = append(notices, s) }}
	_, rows, err := read(t, parts, o)
	require.NoError(t, err)
	require.Equal(t, `{"v":"1.50","w":null}
{"v":"x","w":null}
{"v":"2.250","w":{"z":"1.10"}}
{"v":null,"w":{"z":"one"}}
`, rows)
	require.Equal(t, []string{
		`column "v" is read as text: it is float64 in a.csv, utf8 in b.csv; --schema 'v:TYPE' sets a type`,
		`column "w" is read as text: it is struct<z: float64> in c.jsonl, struct<z: utf8> in d.jsonl; --schema 'w:TYPE' sets a type`,
	}, notices)
	notices = nil
	o.Schema = tabletest.Fields(t, "v:utf8, w:json")
	_, rows, err = read(t, parts, o)
	require.NoError(t, err)
	require.Contains(t, rows, `{"v":"2.250","w":{"z":1.10}}`)
	require.Empty(t, notices)
	o.Schema = tabletest.Fields(t, "q:utf8")
	_, _, err = read(t, parts, o)
	require.ErrorContains(t, err, `column "q" of the schema is in none of the 4 inputs`)
}

// TestNoValues unites columns of text without any value with columns of any type.
func TestNoValues(t *testing.T) {
	parts := []tables.Part{part("a.csv", commas, "n,v,w\n1,,\n"), part("b.csv", commas, "n,v,w\n2,3.5,\n"), part("c.jsonl", lines, `{"n":3,"v":null}`+"\n"),
		typed(t, "d", arrowipc.Format, "n:int64, v:int8, w:utf8", `{"n":4,"v":5,"w":null}`+"\n")}
	for range parts {
		types, rows, err := read(t, parts, provider.ReadOptions{Columns: []string{"n", "v", "w"}, Warning: func(s string) { t.Error(s) }})
		require.NoError(t, err)
		require.Equal(t, "n: int64\nv: float64\nw: utf8\n", types)
		require.Contains(t, rows, `{"n":4,"v":5.0,"w":null}`)
		parts = append(parts[1:], parts[0])
	}
	types, _, err := read(t, []tables.Part{part("a.csv", commas, "n,v\n1,\n"), part("b.csv", commas, "n,v\n2,\n")}, provider.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, "n: int64\nv: utf8\n", types)
}

// TestDuplicateNames keeps columns of the same name apart.
func TestDuplicateNames(t *testing.T) {
	parts := []tables.Part{part("a", commas, "a,a\n1,2\n"), part("b", commas, "b,a,a,a\n3,4,5,6\n")}
	for columns, want := range map[string]string{"a": `{"a":1} {"a":4}`, "a#2": `{"a":2} {"a":5}`, "a#3": `{"a":null} {"a":6}`, "b": `{"b":null} {"b":3}`} {
		_, rows, err := read(t, parts, provider.ReadOptions{Columns: []string{columns}})
		require.NoError(t, err)
		require.Equal(t, strings.ReplaceAll(want, "} {", "}\n{")+"\n", rows)
	}
	_, rows, err := read(t, parts, provider.ReadOptions{Columns: []string{"a#3", "b"}, Filter: where(t, "\"a#2\" > 2")})
	require.NoError(t, err)
	require.Equal(t, `{"a":6,"b":3}`+"\n", rows)
}

func where(t testing.TB, condition string) filter.Expr {
	t.Helper()
	e, err := filter.Parse(condition)
	require.NoError(t, err)
	return e
}

// numbers is a random table of numbers in several parts, with narrowed types in some of them, and the same in one.
type numbers struct {
	parts []tables.Part
	rows  []string // JSON of all
	n     []int64
}

// drawNumbers draws rows of n, a number by which they are told apart, v and s, in random formats.
func drawNumbers(t testing.TB, r *rapid.T) (x numbers) {
	types := []string{"int8", "int16", "uint8", "int64", "float32", "float64", "decimal(9,2)"}
	types = types[:rapid.IntRange(1, 6).Draw(r, "types")]
	float := len(types) > 4
	for i := range rapid.IntRange(1, 5).Draw(r, "parts") {
		f := rapid.SampledFrom([]provider.Format{arrowipc.Format, shards, commas, lines}).Draw(r, "format")
		vtype := rapid.SampledFrom(types).Draw(r, "type")
		hasS := rapid.Bool().Draw(r, "s") || i == 0
		fields := "n:int64, v:" + vtype
		if hasS {
			fields += ", s:utf8"
		}
		if rapid.Bool().Draw(r, "turned") && hasS {
			fields = "s:utf8, v:" + vtype + ", n:int64"
		}
		var b strings.Builder
		for range rapid.IntRange(1, 6).Draw(r, "rows") {
			n := int64(len(x.rows))
			v, s := "null", "null"
			if b.Len() == 0 || rapid.IntRange(0, 3).Draw(r, "null") > 0 {
				v = fmt.Sprint(rapid.IntRange(0, 100).Draw(r, "v"))
			}
			if hasS && (b.Len() == 0 || rapid.Bool().Draw(r, "null")) {
				s = `"` + rapid.SampledFrom([]string{"x", "y", "a,b"}).Draw(r, "s") + `"`
			}
			text := v
			if (strings.HasPrefix(vtype, "f") || float) && v != "null" {
				text = v + ".0"
			}
			in := v
			if strings.HasPrefix(vtype, "f") && v != "null" {
				in = v + ".0"
			}
			fmt.Fprintf(&b, `{"n":%d,"v":%s`, n, in)
			if hasS {
				fmt.Fprintf(&b, `,"s":%s`, s)
			}
			b.WriteString("}\n")
			x.rows = append(x.rows, fmt.Sprintf(`{"n":%d,"v":%s,"s":%s}`, n, text, s))
			x.n = append(x.n, n)
		}
		x.parts = append(x.parts, typed(t, fmt.Sprint("part", i), f, fields, b.String()))
	}
	return x
}

// TestUnionIsTable reads random parts of a table as the whole: with columns, filters, ranges of rows and limits. Filters of
// the union equal filters of its rows.
func TestUnionIsTable(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := drawNumbers(t, r)
		schema := tabletest.Fields(t, "v:float64")
		all := provider.ReadOptions{Schema: schema, Columns: []string{"n", "v", "s"}}
		_, want, err := read(t, x.parts, all)
		require.NoError(t, err)
		whole := part("whole", lines, want)

		o := all
		o.Schema = nil // widened by itself, to whatever type
		condition := rapid.SampledFrom([]string{"", "v > 50", "v = 7 or s = 'x'", "s is null", "s is not null and v <= 80", "not (s = 'y')", "n between 3 and 9"}).Draw(r, "condition")
		if condition != "" {
			o.Filter = where(t, condition)
		}
		if rapid.Bool().Draw(r, "limited") {
			o.Limit = int64(rapid.IntRange(1, 10).Draw(r, "limit"))
		}
		if rapid.Bool().Draw(r, "range") {
			rows := provider.RowRange{From: int64(rapid.IntRange(-12, 12).Draw(r, "from")), To: math.MaxInt64}
			if rapid.Bool().Draw(r, "end") {
				rows.To = int64(rapid.IntRange(-12, 12).Draw(r, "to"))
			}
			o.Rows = []provider.RowRange{rows}
			if next := rows.To + 2; rows.From >= 0 && rows.From <= rows.To && next > 0 && rapid.Bool().Draw(r, "second") {
				o.Rows = append(o.Rows, provider.RowRange{From: next, To: next + 3}, provider.RowRange{From: next + 4, To: math.MaxInt64})
			}
		}
		o.Columns = rapid.SampledFrom([][]string{{"n"}, {"s", "n"}, {"n", "s"}}).Draw(r, "columns")
		_, got, err := read(t, x.parts, o)
		require.NoError(t, err)
		_, once, err := read(t, []tables.Part{whole}, provider.ReadOptions{Schema: tabletest.Fields(t, "n:int64, v:float64, s:utf8")})
		require.NoError(t, err)
		require.Equal(t, want, once)
		plain := o
		plain.Schema = tabletest.Fields(t, "n:int64, v:float64, s:utf8")
		_, expected, err := read(t, []tables.Part{whole}, plain)
		require.NoError(t, err)
		require.Equal(t, expected, got)

		u, err := tables.New(t.Context(), x.parts, o)
		require.NoError(t, err)
		n, err := u.Count(t.Context(), o)
		require.NoError(t, err)
		require.EqualValues(t, strings.Count(expected, "\n"), n)
	})
}

// TestSample draws samples of the right size, in order, and all rows about equally often.
func TestSample(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	const rows, n, rounds = 50, 10, 1000
	var reservoir, positions [rows]int
	for seed := range uint64(rounds) {
		src := tables.Sample(&counting{schema: schema, total: rows}, n, seed)
		last, drawn := int64(-1), 0
		for {
			b, err := src.Next(t.Context())
			require.NoError(t, err)
			if b == nil {
				break
			}
			for _, v := range b.Column(0).(*array.Int64).Values() {
				require.Greater(t, v, last)
				last = v
				reservoir[v]++
				drawn++
			}
			b.Release()
		}
		require.Equal(t, n, drawn)
		require.NoError(t, src.Close())
		last = -1
		for _, v := range tables.Positions(n, rows, seed) {
			require.Greater(t, v, last)
			last = v
			positions[v]++
		}
	}
	for i := range rows { // 200 each, with a standard deviation of 13
		require.InDelta(t, rounds*n/rows, reservoir[i], 70)
		require.InDelta(t, rounds*n/rows, positions[i], 70)
	}
	require.Len(t, tables.Positions(10, 3, 1), 3)
}

// counting is a source of the numbers below total, some in each batch.
type counting struct {
	schema      *arrow.Schema
	next, total int64
}

func (c *counting) Schema() *arrow.Schema { return c.schema }
func (c *counting) Rows() (int64, bool)   { return c.total, true }
func (c *counting) Close() error          { return nil }
func (c *counting) Next(context.Context) (arrow.RecordBatch, error) {
	if c.next == c.total {
		return nil, nil
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for range min(7, c.total-c.next) {
		b.Append(c.next)
		c.next++
	}
	a := b.NewArray()
	defer a.Release()
	return array.NewRecordBatch(c.schema, []arrow.Array{a}, int64(a.Len())), nil
}

// TestRanges parses ranges.
func TestRanges(t *testing.T) {
	for s, want := range map[string]provider.RowRange{
		"1:3": {From: 1, To: 3}, "5:": {From: 5, To: math.MaxInt64}, ":0": {}, "-5:": {From: -5, To: math.MaxInt64}, ":-1": {To: -1}, "-9:-3": {From: -9, To: -3}, "3:-3": {From: 3, To: -3},
	} {
		r, err := tables.ParseRange(s)
		require.NoError(t, err, s)
		require.Equal(t, want, r)
	}
	for _, s := range []string{"", ":", "5", "x:", "1:x", "3:1", "-1:-3", "1:2:3", "99999999999999999999:"} {
		_, err := tables.ParseRange(s)
		require.Error(t, err, s)
	}
}

// TestPartsThatOpenAtOnce opens parts beside each other, the later ones first. Messages and errors come in the order of parts.
func TestPartsThatOpenAtOnce(t *testing.T) {
	const n = 20
	broken := func(i int) error { return fmt.Errorf("part %d is broken", i) }
	open := func(bad ...int) (said []string, err error) {
		parts := make([]tables.Part, n)
		second := make(chan struct{})
		for i := range parts {
			p := part(fmt.Sprint(i), commas, "a\n1\n")
			parts[i] = tables.Part{Name: p.Name, Open: func(ctx context.Context, o provider.ReadOptions) (provider.Source, provider.Format, error) {
				switch i {
				case 0:
					<-second
				case 1:
					close(second)
				}
				o.Notice(fmt.Sprintf("part %d", i))
				if slices.Contains(bad, i) {
					return nil, commas, broken(i)
				}
				return p.Open(ctx, o)
			}}
		}
		_, err = tables.New(t.Context(), parts, provider.ReadOptions{Notice: func(s string) { said = append(said, s) }})
		return said, err
	}
	said, err := open()
	require.NoError(t, err)
	require.Len(t, said, n)
	for i, s := range said {
		require.Equal(t, fmt.Sprintf("part %d", i), s)
	}
	for _, bad := range [][]int{{0, 1, 2}, {0}, {7, 3, 5}, {19}} {
		first := slices.Min(bad)
		said, err := open(bad...)
		require.EqualError(t, err, broken(first).Error())
		require.Len(t, said, first+1)
	}
}

// TestEncodedForms unites tables whose columns all parts may read as dictionaries or short decimals: the union has this form, so that
// aggregates of several inputs cost no more per row than those of one. One part that cannot do so keeps the plain form, and values are
// the same in any case.
func TestEncodedForms(t *testing.T) {
	table := func(f provider.Format, words ...string) tables.Part {
		var rows strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&rows, `{"word": %q, "price": "%d.25", "n": %d}`+"\n", words[i%len(words)], i%7, i)
		}
		return typed(t, words[0], f, "word:utf8,price:decimal128(12, 2),n:int64", rows.String())
	}
	one, two := table(shards, "red", "green"), table(shards, "blue", "red", "white")
	other := typed(t, "other", shards, "price:decimal128(12, 2),n:utf8", `{"price": "7.50", "n": "5"}`)
	plain := table(lines, "red", "black")
	encoded := provider.ReadOptions{Dictionaries: true, Decimals64: []string{"price"}}
	for _, c := range []struct {
		name   string
		parts  []tables.Part
		filter string
		types  string
	}{
		{"same form", []tables.Part{one, two}, "", "word: dictionary<int32, utf8>\nprice: decimal64(12, 2)\nn: int64\n"},
		{"filter", []tables.Part{one, two}, "word = 'red' and price > 3", "word: dictionary<int32, utf8>\nprice: decimal64(12, 2)\nn: int64\n"},
		{"lacks a column", []tables.Part{one, other}, "", "word: dictionary<int32, utf8>\nprice: decimal64(12, 2)\nn: utf8\n"},
		{"filters after conversion", []tables.Part{other, one, two}, "n <> '7' and (word = 'red' or price = 7.5)", "price: decimal64(12, 2)\nn: utf8\nword: dictionary<int32, utf8>\n"},
		{"plain form", []tables.Part{one, plain}, "word = 'red'", "word: utf8\nprice: utf8\nn: int64\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := encoded
			if c.filter != "" {
				o.Filter = where(t, c.filter)
			}
			types, rows, err := read(t, c.parts, o)
			require.NoError(t, err)
			require.Equal(t, c.types, types)
			_, want, err := read(t, c.parts, provider.ReadOptions{Filter: o.Filter})
			require.NoError(t, err)
			require.Equal(t, want, rows)
		})
	}
	measured := provider.ReadOptions{Columns: []string{"word", "n"}, Lengths: []string{"word", "n"}}
	types, rows, err := read(t, []tables.Part{one, two}, measured)
	require.NoError(t, err)
	require.Equal(t, "word: int64\nn: int64\n", types)
	require.Contains(t, rows, "5")
	require.NotContains(t, rows, "red")
	types, _, err = read(t, []tables.Part{one, plain}, measured)
	require.NoError(t, err)
	require.Equal(t, "word: utf8\nn: int64\n", types)
}
