package predicate

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// jsonColumn is a column p of JSON texts; those that are "" are null.
func jsonColumn(t require.TestingT, texts []string) arrow.RecordBatch {
	dt, err := extensions.NewJSONType(arrow.BinaryTypes.String)
	require.NoError(t, err)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for _, text := range texts {
		if text == "" {
			b.AppendNull()
		} else {
			b.Append(text)
		}
	}
	arr := array.NewExtensionArrayWithStorage(dt, b.NewArray())
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "p", Type: dt, Nullable: true}, {Name: "n", Type: dt}}, nil), []arrow.Array{arr, arr}, int64(len(texts)))
}

func TestJSON(t *testing.T) {
	texts := []string{
		`{"a":1,"b":{"c":"x"}}`, ` { "b" : {"c":"y","d":true}, "a" : 1.0 } `, `{"a":"1"}`, `{"a":null}`, "", `{"a":10e-1,"a":2}`, `[{"a":1}]`, `{"b":{"c":["x"]},"a":[1]}`,
		`{"x":"\u00e4\"{","a":9007199254740993}`, `{"a":1`, `{"q" 5, "a":1}`, `{"a":{}}`, `{"a.b":3,"":{"":4}}`, `1`, `{"a":-0.5e400,"b":{"c":"xyz"}}`, `{"a":tru}`,
	}
	batch := jsonColumn(t, texts)
	for where, want := range map[string][]int{
		"p.a = 1": {0, 1, 5, 9}, "p.a <> 1": {8, 14}, "not p.a = 1": {8, 14}, "p.a = '1'": {2}, "p.a > 1": {8}, "p.a < 0": {14}, "p.a = 9007199254740992": {},
		"p.a = 9007199254740993": {8}, "p.a in (9007199254740993, 1.00, null)": {0, 1, 5, 8, 9}, "p.a not in (1)": {8, 14}, "p.a between 0 and 1": {0, 1, 5, 9},
		"p.b.c = 'x'": {0}, "p.b.c starts with 'x'": {0, 14}, "p.b.c like '%y%'": {1, 14}, "p.b.d = true": {1}, "p.b.d": {1}, "not p.b.d": {}, "p.b.c <> 'x'": {1, 14},
		"p.a is null": {3, 4, 6, 10, 12, 13, 15}, "p.a is not null": {0, 1, 2, 5, 7, 8, 9, 11, 14}, "p.b is not null": {0, 1, 7, 14}, "p.a = 1 and p.a is not null and n.b.c = 'x'": {0},
		`p.a\.b = 3`: {12}, "p.x contains '\"{'": {8}, "p.a = null": {}, "p.a = 1 or p.a = 'x' or p.a = '1'": {0, 1, 2, 5, 9}, "p.a is nan": {},
	} {
		bound, err := BindText(where, batch.Schema())
		require.NoError(t, err, where)
		rows, err := bound.Select(batch)
		require.NoError(t, err, where)
		got := []int{}
		for r := range rows.Rows() {
			got = append(got, int(r))
		}
		require.Equal(t, want, got, where)
		for _, path := range bound.Columns() {
			require.Len(t, path, 1)
		}
	}
	for where, message := range map[string]string{
		"p.a = n.a": "only compared with values", "p.a in (1, 'x')": "no value of type string", "p.a has 5": "expected a string",
	} {
		_, err := BindText(where, batch.Schema())
		require.ErrorContains(t, err, message, where)
	}
}

// Values within texts are those that package encoding/json finds, for texts without equal names.
func TestJSONRandom(t *testing.T) {
	value := rapid.Deferred(func() *rapid.Generator[any] { return drawJSON(3) })
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		var values []any
		for range 20 {
			v := value.Draw(t, "value")
			b, err := json.Marshal(v)
			require.NoError(t, err)
			texts, values = append(texts, string(b)), append(values, v)
		}
		batch := jsonColumn(t, texts)
		path := rapid.SampledFrom([][]string{{"a"}, {"b"}, {"a", "b"}, {"b", "a"}, {"a", "a", "b"}}).Draw(t, "path")
		number := rapid.SampledFrom([]string{"1", "10", "-2.5", "0.001", "1e3"}).Draw(t, "number")
		at := "p." + strings.Join(path, ".")
		for where, holds := range map[string]func(any) bool{
			at + " = " + number: func(v any) bool { n, ok := v.(json.Number); return ok && rat(n).Cmp(rat(json.Number(number))) == 0 },
			at + " < " + number: func(v any) bool { n, ok := v.(json.Number); return ok && rat(n).Cmp(rat(json.Number(number))) < 0 },
			at + " = 'x'":       func(v any) bool { return v == "x" },
			at + " <> 'x'":      func(v any) bool { s, ok := v.(string); return ok && s != "x" },
			at + " = false":     func(v any) bool { return v == false },
			at + " is not null": func(v any) bool { return v != nil },
		} {
			bound, err := BindText(where, batch.Schema())
			require.NoError(t, err)
			rows, err := bound.Select(batch)
			require.NoError(t, err)
			for i := range values {
				d := json.NewDecoder(bytes.NewReader([]byte(texts[i])))
				d.UseNumber()
				var v any
				require.NoError(t, d.Decode(&v))
				for _, name := range path {
					object, _ := v.(map[string]any)
					v = object[name]
				}
				require.Equal(t, holds(v), rows.Contains(int64(i)), "%s of %s", where, texts[i])
			}
		}
	})
}

func rat(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(string(n))
	return r
}

func drawJSON(depth int) *rapid.Generator[any] {
	scalars := rapid.SampledFrom([]any{nil, true, false, "x", "yy", json.Number("1"), json.Number("10.0"), json.Number("-2.50"), json.Number("1E-3"), json.Number("1e+3")})
	if depth == 0 {
		return scalars
	}
	inner := drawJSON(depth - 1)
	return rapid.OneOf(
		scalars,
		rapid.Map(rapid.SliceOfN(inner, 0, 2), func(v []any) any { return v }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), inner, 0, 3), func(m map[string]any) any { return m }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), inner, 0, 3), func(m map[string]any) any { return m }),
	)
}
