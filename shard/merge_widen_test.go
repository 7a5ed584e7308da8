package shard_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	typetext "github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// variant is the type of a column, or of a part of one, in some shard, with a text of JSON for a value of it that any wider type reads.
type variant struct {
	t    arrow.DataType
	text func(r *rapid.T) string
}

// family are types of which any have a wider one in common, which wide tells.
type family struct {
	variants []variant
	wide     func([]arrow.DataType) arrow.DataType
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// widest is the last of some types in a list.
func widest(list ...arrow.DataType) func([]arrow.DataType) arrow.DataType {
	return func(types []arrow.DataType) arrow.DataType {
		at := 0
		for _, t := range types {
			at = max(at, slices.IndexFunc(list, func(x arrow.DataType) bool { return arrow.TypeEqual(t, x) }))
		}
		return list[at]
	}
}

// integerRange is the range of an integer type.
func integerRange(t arrow.DataType) (from, to *big.Int) {
	bits := uint(t.(arrow.FixedWidthDataType).BitWidth())
	one := big.NewInt(1)
	if arrow.IsUnsignedInteger(t.ID()) {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	to = new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(to), to.Sub(to, one)
}

var integerTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int16,
	arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64,
}

func integers() (f family) {
	for _, t := range integerTypes {
		from, to := integerRange(t)
		f.variants = append(f.variants, variant{t, func(r *rapid.T) string {
			return rapid.SampledFrom([]string{"0", "1", "17", quoted(from.String()), quoted(to.String())}).Draw(r, "integer")
		}})
	}
	f.wide = func(types []arrow.DataType) arrow.DataType {
		for _, wide := range integerTypes {
			low, high := integerRange(wide)
			if !slices.ContainsFunc(types, func(t arrow.DataType) bool { from, to := integerRange(t); return from.Cmp(low) < 0 || to.Cmp(high) > 0 }) {
				return wide
			}
		}
		return &arrow.Decimal128Type{Precision: 20}
	}
	return f
}

// floats have as many digits as float64 has for all integers of the others.
func floats() family {
	constant := func(text ...string) func(*rapid.T) string {
		return func(r *rapid.T) string { return rapid.SampledFrom(text).Draw(r, "float") }
	}
	return family{
		variants: []variant{
			{arrow.PrimitiveTypes.Uint8, constant("0", "255")}, {arrow.FixedWidthTypes.Float16, constant("0.5", "-2048", `"-0"`, `"NaN"`)},
			{arrow.PrimitiveTypes.Int16, constant("-32768", "32767")}, {arrow.PrimitiveTypes.Float32, constant("0.5", "16777215", `"+Inf"`, "-0.25")},
			{arrow.PrimitiveTypes.Uint32, constant("4294967295")}, {arrow.PrimitiveTypes.Float64, constant("0.1", "1e300", `"-0"`)},
		},
		wide: func(types []arrow.DataType) arrow.DataType {
			has := map[arrow.Type]bool{}
			for _, t := range types {
				has[t.ID()] = true
			}
			float := has[arrow.FLOAT16] || has[arrow.FLOAT32] || has[arrow.FLOAT64]
			switch {
			case !float:
				return integers().wide(types)
			case has[arrow.FLOAT64] || has[arrow.UINT32]:
				return arrow.PrimitiveTypes.Float64
			case has[arrow.FLOAT32] || has[arrow.INT16]:
				return arrow.PrimitiveTypes.Float32
			}
			return arrow.FixedWidthTypes.Float16
		},
	}
}

func families() []family {
	one := func(text string) func(*rapid.T) string { return func(*rapid.T) string { return text } }
	word := func(r *rapid.T) string {
		return quoted(rapid.SampledFrom([]string{"", "a", "green", "a longer text"}).Draw(r, "text"))
	}
	raw := func(r *rapid.T) string {
		return quoted(base64.StdEncoding.EncodeToString([]byte(rapid.SampledFrom([]string{"", "\xff", "abcdef"}).Draw(r, "bytes"))))
	}
	decimal := func(p, s int32, text ...string) variant {
		return variant{&arrow.Decimal128Type{Precision: p, Scale: s}, func(r *rapid.T) string { return quoted(rapid.SampledFrom(text).Draw(r, "decimal")) }}
	}
	stamp := func(u arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: u} }
	return []family{
		integers(), floats(),
		{ // of the digits before and behind the point
			[]variant{decimal(5, 2, "123.45", "-0.01"), decimal(9, 2, "1234567.89"), decimal(9, 4, "12345.6789"), {arrow.PrimitiveTypes.Int16, one("-32768")}},
			func(types []arrow.DataType) arrow.DataType {
				digits, scale, alone := int32(0), int32(0), true
				for _, t := range types {
					alone = alone && arrow.TypeEqual(t, types[0])
					if d, ok := t.(*arrow.Decimal128Type); ok {
						digits, scale = max(digits, d.Precision-d.Scale), max(scale, d.Scale)
					} else {
						digits = max(digits, 5)
					}
				}
				if alone {
					return types[0]
				}
				return &arrow.Decimal128Type{Precision: digits + scale, Scale: scale}
			},
		},
		{
			[]variant{
				{arrow.BinaryTypes.String, word}, {arrow.BinaryTypes.StringView, word}, {arrow.BinaryTypes.LargeString, word},
				{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, word},
			},
			layouts(arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString),
		},
		{
			[]variant{{arrow.BinaryTypes.Binary, raw}, {arrow.BinaryTypes.LargeBinary, raw}, {&arrow.FixedSizeBinaryType{ByteWidth: 3}, one(quoted("YWJj"))}},
			layouts(arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary),
		},
		{
			[]variant{
				{arrow.FixedWidthTypes.Date32, one(`"2026-11-23"`)}, {stamp(arrow.Second), one(`"1969-07-20 20:17:40"`)},
				{stamp(arrow.Millisecond), one(`"2026-11-23 01:02:03.004"`)}, {stamp(arrow.Nanosecond), one(`"2026-11-23 01:02:03.000000004"`)},
			},
			func(types []arrow.DataType) arrow.DataType {
				wide := types[0]
				for _, t := range types[1:] {
					if u, ok := t.(*arrow.TimestampType); ok && (wide.ID() == arrow.DATE32 || wide.(*arrow.TimestampType).Unit < u.Unit) {
						wide = t
					}
				}
				return wide
			},
		},
		{
			[]variant{{arrow.FixedWidthTypes.Time32s, one(`"20:17:40"`)}, {arrow.FixedWidthTypes.Time32ms, one(`"20:17:40.5"`)}, {arrow.FixedWidthTypes.Time64ns, one(`"20:17:40.000000001"`)}},
			widest(arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64ns),
		},
	}
}

// layouts is the type of values in several layouts: the layout of all, or one of the two.
func layouts(short, long arrow.DataType) func([]arrow.DataType) arrow.DataType {
	return func(types []arrow.DataType) arrow.DataType {
		same, large := true, false
		for _, t := range types {
			same = same && arrow.TypeEqual(t, types[0])
			large = large || t.ID() == long.ID()
		}
		switch {
		case large:
			return long
		case same:
			return types[0]
		}
		return short
	}
}

// widening is a column that has a type of its own in each shard: a leaf of a family, or a nested one made of others.
type widening struct {
	family   family
	nested   arrow.Type // STRUCT, LIST or MAP; NULL for a leaf
	names    []string   // of the fields of a struct
	children []*widening
}

func drawWidening(r *rapid.T, all []family, depth int) *widening {
	if depth == 0 || rapid.IntRange(0, 2).Draw(r, "leaf") == 0 {
		return &widening{family: rapid.SampledFrom(all).Draw(r, "family")}
	}
	w := &widening{nested: rapid.SampledFrom([]arrow.Type{arrow.STRUCT, arrow.LIST, arrow.MAP}).Draw(r, "nested")}
	n := 1
	if w.nested == arrow.STRUCT {
		n = rapid.IntRange(1, 3).Draw(r, "fields")
	}
	for i := range n {
		w.names, w.children = append(w.names, fmt.Sprintf("f%d", i)), append(w.children, drawWidening(r, all, depth-1))
	}
	return w
}

// typed is a column in one shard.
type typed struct {
	*widening
	variant
	children []*typed // nil for a field that the shard lacks
}

func (w *widening) draw(r *rapid.T) *typed {
	t := &typed{widening: w}
	switch {
	case rapid.IntRange(0, 15).Draw(r, "null") == 0:
		t.variant = variant{arrow.Null, func(*rapid.T) string { return "null" }}
		return t
	case w.nested == arrow.NULL:
		t.variant = rapid.SampledFrom(w.family.variants).Draw(r, "type")
		return t
	}
	var fields []arrow.Field
	for i, c := range w.children {
		if i > 0 && rapid.IntRange(0, 4).Draw(r, "missing") == 0 {
			t.children = append(t.children, nil)
			continue
		}
		child := c.draw(r)
		t.children, fields = append(t.children, child), append(fields, arrow.Field{Name: w.names[i], Type: child.t, Nullable: true})
	}
	switch large := rapid.Bool().Draw(r, "large"); {
	case w.nested == arrow.STRUCT:
		t.t = arrow.StructOf(fields...)
	case w.nested == arrow.MAP:
		t.t = arrow.MapOf(arrow.BinaryTypes.String, fields[0].Type)
	case large:
		t.t = arrow.LargeListOf(fields[0].Type)
	default:
		t.t = arrow.ListOf(fields[0].Type)
	}
	t.text = t.nestedText
	return t
}

func (t *typed) value(r *rapid.T) string {
	if rapid.IntRange(0, 5).Draw(r, "no value") == 0 {
		return "null"
	}
	return t.text(r)
}

func (t *typed) nestedText(r *rapid.T) string {
	var parts []string
	if t.nested == arrow.STRUCT {
		for i, c := range t.children {
			if c != nil {
				parts = append(parts, quoted(t.names[i])+":"+c.value(r))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for i := range rapid.IntRange(0, 3).Draw(r, "items") {
		item := t.children[0].value(r)
		if t.nested == arrow.MAP {
			item = fmt.Sprintf(`{"key":"k%d","value":%s}`, i, item)
		}
		parts = append(parts, item)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// united is the type of a column that has several types. Fields of structs are in the order of their names.
func (w *widening) united(all []*typed) arrow.DataType {
	var of []*typed
	var types []arrow.DataType
	large := false
	for _, t := range all {
		if t != nil && t.t.ID() != arrow.NULL {
			of, types, large = append(of, t), append(types, t.t), large || t.t.ID() == arrow.LARGE_LIST
		}
	}
	switch {
	case len(of) == 0:
		return arrow.Null
	case w.nested == arrow.NULL:
		return w.family.wide(types)
	}
	var fields []arrow.Field
	for i, c := range w.children {
		var children []*typed
		for _, t := range of {
			children = append(children, t.children[i])
		}
		if slices.ContainsFunc(children, func(t *typed) bool { return t != nil }) {
			fields = append(fields, arrow.Field{Name: w.names[i], Type: c.united(children), Nullable: true})
		}
	}
	switch {
	case w.nested == arrow.STRUCT:
		return arrow.StructOf(fields...)
	case w.nested == arrow.MAP:
		return arrow.MapOf(arrow.BinaryTypes.String, fields[0].Type)
	case large:
		return arrow.LargeListOf(fields[0].Type)
	}
	return arrow.ListOf(fields[0].Type)
}

// Columns that have other types in other shards, at any depth, get the narrowest type that holds the values of all, whatever the order of the shards: the values are those
// that this type reads of the same texts.
func TestMergeWidens(t *testing.T) {
	all := families()
	rapid.Check(t, func(r *rapid.T) {
		dir := t.TempDir()
		columns := rapid.Custom(func(r *rapid.T) *widening { return drawWidening(r, all, 2) })
		wide := rapid.SliceOfN(columns, 1, 3).Draw(r, "columns")
		types, texts, locations := make([][]*typed, len(wide)), []string(nil), []string(nil)
		for i := range rapid.IntRange(2, 4).Draw(r, "shards") {
			var fields []arrow.Field
			for k, w := range wide {
				c := w.draw(r)
				types[k], fields = append(types[k], c), append(fields, arrow.Field{Name: fmt.Sprintf("c%d", k), Type: c.t, Nullable: true})
			}
			var rows []string
			for range rapid.IntRange(0, 12).Draw(r, "rows") {
				var values []string
				for k := range wide {
					values = append(values, fmt.Sprintf(`"c%d":%s`, k, types[k][i].value(r)))
				}
				rows = append(rows, "{"+strings.Join(values, ",")+"}")
			}
			o := shard.WriterOptions{StripeRows: 5, Layout: shard.Layout(rapid.IntRange(0, 1).Draw(r, "layout")), Edition: rapid.SampledFrom([]shard.Edition{shard.Edition2026, shard.EditionReference}).Draw(r, "edition")}
			location := filepath.Join(dir, fmt.Sprintf("%d.amudai.shard", i))
			writeJSON(t, r, location, arrow.NewSchema(fields, nil), rows, o)
			texts, locations = append(texts, strings.Join(rows, ",")), append(locations, location)
		}
		for attempt := range 2 {
			if attempt > 0 {
				order := rapid.Permutation([]int{0, 1, 2, 3}[:len(locations)]).Draw(r, "order")
				old, oldTexts := locations, texts
				locations, texts = nil, nil
				for _, i := range order {
					locations, texts = append(locations, old[i]), append(texts, oldTexts[i])
				}
			}
			out := filepath.Join(dir, fmt.Sprintf("merged%d.amudai.shard", attempt))
			_, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{})
			require.NoError(r, err)
			checked, err := shard.Verify(t.Context(), out, shard.OpenOptions{}, provider.VerifyOptions{})
			require.NoError(r, err)
			require.Empty(r, checked.Problems)
			s, err := shard.Open(t.Context(), out, shard.OpenOptions{})
			require.NoError(r, err)
			got, err := s.ArrowSchema(t.Context())
			require.NoError(r, err)
			for k, w := range wide {
				require.Equal(r, typetext.Type(w.united(types[k])), typetext.Type(sortedFields(got.Field(k).Type)), "%s", got)
			}
			rows := strings.Join(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" }), ",")
			want, _, err := array.RecordFromJSON(memory.DefaultAllocator, got, strings.NewReader("["+rows+"]"))
			require.NoError(r, err)
			parts := []arrow.RecordBatch{}
			for part, err := range s.Scan(t.Context(), shard.ScanOptions{}) {
				require.NoError(r, err)
				parts = append(parts, copied(t, part.RecordBatch))
			}
			require.Equal(r, want.NumRows(), s.NumRows())
			want = copied(t, want)
			arrowtest.RequireSameTable(t, array.NewTableFromRecords(want.Schema(), []arrow.RecordBatch{want}), array.NewTableFromRecords(want.Schema(), parts))
			require.NoError(r, s.Close())
		}
	})
}

// sortedFields is a type with the fields of structs in the order of their names.
func sortedFields(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.StructType:
		var fields []arrow.Field
		for _, f := range t.Fields() {
			fields = append(fields, arrow.Field{Name: f.Name, Type: sortedFields(f.Type), Nullable: true})
		}
		slices.SortFunc(fields, func(a, b arrow.Field) int { return strings.Compare(a.Name, b.Name) })
		return arrow.StructOf(fields...)
	case *arrow.ListType:
		return arrow.ListOf(sortedFields(t.Elem()))
	case *arrow.LargeListType:
		return arrow.LargeListOf(sortedFields(t.Elem()))
	case *arrow.MapType:
		return arrow.MapOf(t.KeyType(), sortedFields(t.ItemType()))
	}
	return t
}

// copied is a batch as it comes out of a stream: types of timestamps that have parsed a text, and so know their zone, are not equal to others within some types of lists.
func copied(t *testing.T, b arrow.RecordBatch) arrow.RecordBatch {
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(b.Schema()))
	require.NoError(t, w.Write(b))
	require.NoError(t, w.Close())
	r, err := ipc.NewReader(&buf)
	require.NoError(t, err)
	defer r.Release()
	require.True(t, r.Next())
	b = r.RecordBatch()
	b.Retain()
	return b
}

// writeJSON writes a shard of rows as JSON.
func writeJSON(t *testing.T, r require.TestingT, location string, s *arrow.Schema, rows []string, o shard.WriterOptions) {
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	require.NoError(r, err)
	defer batch.Release()
	w, err := shard.Create(t.Context(), location, s, o)
	require.NoError(r, err)
	require.NoError(r, w.Write(t.Context(), batch))
	require.NoError(r, w.Close(t.Context()))
}

// oneColumn writes a shard of one column.
func oneColumn(t *testing.T, location string, dt arrow.DataType, o shard.WriterOptions, values ...string) {
	t.Helper()
	var rows []string
	for _, v := range values {
		name, err := json.Marshal("x")
		require.NoError(t, err)
		rows = append(rows, "{"+string(name)+":"+v+"}")
	}
	writeJSON(t, t, location, arrow.NewSchema([]arrow.Field{{Name: "x", Type: dt, Nullable: true}}, nil), rows, o)
}

// Values that are stored alike under the wider type are not written anew. Types without a wider one, and values that do not fit, are errors that name them, and leave nothing.
func TestMergeWidensAtLittleCost(t *testing.T) {
	stamp := func(u arrow.TimeUnit, zone string) arrow.DataType {
		return &arrow.TimestampType{Unit: u, TimeZone: zone}
	}
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	for _, c := range []struct {
		a, b     arrow.DataType
		textA    string
		textB    string
		rewrites bool
		err      string
	}{
		{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, `"a"`, `"b"`, false, ""},
		{dictionary, arrow.BinaryTypes.String, `"a"`, `"b"`, false, ""},
		{arrow.FixedWidthTypes.Date32, stamp(arrow.Microsecond, ""), `"2026-11-23"`, `"2026-11-23 01:02:03"`, false, ""},
		{stamp(arrow.Second, "UTC"), stamp(arrow.Millisecond, "UTC"), `"2026-11-23 01:02:03Z"`, `"2026-11-23 01:02:03Z"`, false, ""},
		{&arrow.Decimal128Type{Precision: 5, Scale: 2}, &arrow.Decimal128Type{Precision: 9, Scale: 2}, `"1.25"`, `"1234567.89"`, false, ""},
		{arrow.Null, arrow.PrimitiveTypes.Int32, `null`, `1`, false, ""},
		{arrow.ListOf(arrow.BinaryTypes.String), arrow.LargeListOf(arrow.BinaryTypes.LargeString), `["a"]`, `["b", null]`, false, ""},
		{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, `1`, `2`, true, ""},
		{stamp(arrow.Millisecond, ""), stamp(arrow.Nanosecond, ""), `"2026-11-23 01:02:03"`, `"2026-11-23 01:02:03"`, true, ""},
		{stamp(arrow.Millisecond, ""), stamp(arrow.Nanosecond, ""), `"3000-01-01 00:00:00"`, `"2026-11-23 01:02:03"`, true, "3000-01-01"},
		{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, `1`, `2`, true, "no type holds all values of both"},
		{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, `1`, `"b"`, true, "no type holds all values of both"},
		{stamp(arrow.Second, ""), stamp(arrow.Second, "UTC"), `"2026-11-23 01:02:03"`, `"2026-11-23 01:02:03Z"`, true, "no type holds all values of both"},
		{arrow.StructOf(arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Int8, Nullable: true}), arrow.PrimitiveTypes.Int8, `{"y": 1}`, `1`, true, "no type holds all values of both"},
	} {
		dir := t.TempDir()
		locations := []string{filepath.Join(dir, "a.amudai.shard"), filepath.Join(dir, "b.amudai.shard")}
		oneColumn(t, locations[0], c.a, shard.WriterOptions{}, c.textA, "null")
		oneColumn(t, locations[1], c.b, shard.WriterOptions{}, c.textB, "null")
		out := filepath.Join(dir, "merged.amudai.shard")
		if c.err != "" {
			_, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{})
			require.ErrorContains(t, err, c.err)
			require.ErrorContains(t, err, "x")
			require.NoFileExists(t, out)
			continue
		}
		planned, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{DryRun: true})
		require.NoError(t, err)
		require.NoFileExists(t, out)
		rows := int64(0)
		report, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{Progress: func(done, total int64) { rows = done; require.Equal(t, int64(2), total) }})
		require.NoError(t, err)
		require.Equal(t, []string{"x"}, report.Widened)
		require.Equal(t, c.rewrites, report.Read > 0, "%v %v", c.a, c.b)
		require.Equal(t, c.rewrites, rows == 2, "%v %v", c.a, c.b)
		report.Written = 0
		require.Equal(t, planned, report)
		stripes, err := filepath.Glob(filepath.Join(dir, "*.stripe"))
		require.NoError(t, err)
		require.Equal(t, c.rewrites, len(stripes) > 0, "%v %v", c.a, c.b)
	}
}

// Indexes of columns that are not written anew stay, and answer; others go.
func TestMergeWidensIndexes(t *testing.T) {
	dir := t.TempDir()
	var locations []string
	for i, types := range [][]arrow.DataType{{arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String}, {arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.LargeString}} {
		location := filepath.Join(dir, fmt.Sprintf("%d.amudai.shard", i))
		s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: types[0]}, {Name: "s", Type: types[1]}}, nil)
		writeJSON(t, t, location, s, []string{`{"n":1,"s":"red green"}`, fmt.Sprintf(`{"n":%d,"s":"green %d"}`, 10+i, i)}, shard.WriterOptions{
			Indexes: []shard.IndexDefinition{{Type: shard.HashIndex, Columns: []string{"n"}}, {Columns: []string{"s"}}},
		})
		locations = append(locations, location)
	}
	out := filepath.Join(dir, "merged.amudai.shard")
	report, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{shard.HashIndex}, report.Dropped)
	require.Equal(t, []string{"n", "s"}, report.Widened)
	s, err := shard.Open(t.Context(), out, shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	indexes, err := s.CheckIndexes(t.Context())
	require.NoError(t, err)
	require.Len(t, indexes, 2) // of texts for all rows, and of numbers for the shard that had int64
	for _, x := range indexes {
		require.NoError(t, x.Err)
		require.Equal(t, x.Type == shard.TermIndex, x.Stripe < 0)
	}
	for _, q := range []struct {
		e filter.Expr
		n int64
	}{{filter.Has(filter.Col("s"), "green"), 4}, {filter.Eq(filter.Col("n"), 1), 2}, {filter.Eq(filter.Col("n"), 11), 1}, {filter.Eq(filter.Col("s"), "green 0"), 1}} {
		n, err := s.Count(t.Context(), q.e)
		require.NoError(t, err)
		require.Equal(t, q.n, n)
	}
}

// Whatever step of a merge that writes columns anew fails, there is no shard or a whole one, and the merged ones are as before.
func TestMergeWidensFaults(t *testing.T) {
	before := t.TempDir()
	oneColumn(t, filepath.Join(before, "a.amudai.shard"), arrow.PrimitiveTypes.Int16, shard.WriterOptions{StripeRows: 1}, "1", "2")
	oneColumn(t, filepath.Join(before, "b.amudai.shard"), arrow.PrimitiveTypes.Int32, shard.WriterOptions{Layout: shard.TwoLevel}, "70000")
	require.NoError(t, faultstore.EachStep(7, func(faults *faultstore.Faults, op faultstore.Op, k int) error {
		dir := filepath.Join(t.TempDir(), "x")
		require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
		out := filepath.Join(dir, "merged.amudai.shard")
		store := faults.Local()
		_, err := shard.Merge(t.Context(), out, []string{filepath.Join(dir, "a.amudai.shard"), filepath.Join(dir, "b.amudai.shard")},
			shard.MergeOptions{Open: shard.OpenOptions{Store: store}, Store: store, TempDir: dir})
		if _, missing := os.Stat(out); missing != nil {
			require.Error(t, err)
		} else {
			requireIntact(t, out)
		}
		requireIntact(t, filepath.Join(dir, "a.amudai.shard"))
		requireIntact(t, filepath.Join(dir, "b.amudai.shard"))
		return err
	}))
}

// The statistics of a column are those of the shards that have values of it, also if the first one has none and the second one lacks it.
func TestMergeStatisticsOfMissingColumns(t *testing.T) {
	dir := t.TempDir()
	of := arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8)
	var locations []string
	for i, row := range []string{`{"n":1,"m":null}`, `{"n":1}`, `{"n":1,"m":[{"key":"long","value":1}]}`} {
		fields := []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int8, Nullable: true}, {Name: "m", Type: of, Nullable: true}}
		if i == 1 {
			fields = fields[:1]
		}
		locations = append(locations, filepath.Join(dir, fmt.Sprintf("%d.amudai.shard", i)))
		writeJSON(t, t, locations[i], arrow.NewSchema(fields, nil), []string{row}, shard.WriterOptions{})
	}
	out := filepath.Join(dir, "merged.amudai.shard")
	_, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{})
	require.NoError(t, err)
	requireIntact(t, out)
}
