package shard

import (
	"fmt"
	"math"
	mathbits "math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/table/provider"
)

// keyTypes are types of columns, how a number becomes a value of each, and how a filter writes it.
var keyTypes = []struct {
	dt      arrow.DataType
	append  func(b array.Builder, v int64)
	literal func(v int64) string
}{
	{arrow.FixedWidthTypes.Boolean, func(b array.Builder, v int64) { b.(*array.BooleanBuilder).Append(v%2 != 0) }, func(v int64) string { return fmt.Sprint(v%2 != 0) }},
	{arrow.PrimitiveTypes.Int8, func(b array.Builder, v int64) { b.(*array.Int8Builder).Append(int8(v)) }, func(v int64) string { return fmt.Sprint(int8(v)) }},
	{arrow.PrimitiveTypes.Int32, func(b array.Builder, v int64) { b.(*array.Int32Builder).Append(int32(v)) }, func(v int64) string { return fmt.Sprint(v) }},
	{arrow.PrimitiveTypes.Int64, func(b array.Builder, v int64) { b.(*array.Int64Builder).Append(v << 40) }, func(v int64) string { return fmt.Sprint(v << 40) }},
	{arrow.PrimitiveTypes.Uint16, func(b array.Builder, v int64) { b.(*array.Uint16Builder).Append(uint16(v)) }, func(v int64) string { return fmt.Sprint(uint16(v)) }},
	{arrow.PrimitiveTypes.Uint64, func(b array.Builder, v int64) { b.(*array.Uint64Builder).Append(uint64(v)) }, func(v int64) string { return fmt.Sprint(uint64(v)) }},
	{arrow.FixedWidthTypes.Float16, func(b array.Builder, v int64) { b.(*array.Float16Builder).Append(float16.New(float32(v) / 8)) }, func(v int64) string { return fmt.Sprint(float64(v) / 8) }},
	{arrow.PrimitiveTypes.Float32, func(b array.Builder, v int64) { b.(*array.Float32Builder).Append(float32(v) / 10) }, func(v int64) string { return fmt.Sprint(float32(v) / 10) }},
	{arrow.PrimitiveTypes.Float64, func(b array.Builder, v int64) { b.(*array.Float64Builder).Append(someFloat(v)) }, func(v int64) string { return fmt.Sprintf("'%v'", someFloat(v)) }},
	{&arrow.Decimal32Type{Precision: 9, Scale: 2}, func(b array.Builder, v int64) { b.(*array.Decimal32Builder).Append(decimal.Decimal32(v)) }, hundredths},
	{&arrow.Decimal64Type{Precision: 18, Scale: 2}, func(b array.Builder, v int64) { b.(*array.Decimal64Builder).Append(decimal.Decimal64(v)) }, hundredths},
	{&arrow.Decimal128Type{Precision: 38, Scale: 2}, func(b array.Builder, v int64) { b.(*array.Decimal128Builder).Append(decimal128.FromI64(v)) }, hundredths},
	{&arrow.Decimal256Type{Precision: 70, Scale: 2}, func(b array.Builder, v int64) { b.(*array.Decimal256Builder).Append(decimal256.FromI64(v)) }, hundredths},
	{arrow.BinaryTypes.String, func(b array.Builder, v int64) { b.(*array.StringBuilder).Append(someText(v)) }, quoted},
	{arrow.BinaryTypes.StringView, func(b array.Builder, v int64) { b.(*array.StringViewBuilder).Append(someText(v)) }, quoted},
	{arrow.BinaryTypes.LargeBinary, func(b array.Builder, v int64) { b.(*array.BinaryBuilder).Append([]byte(someText(v))) }, quoted},
	{&arrow.FixedSizeBinaryType{ByteWidth: 3}, func(b array.Builder, v int64) {
		b.(*array.FixedSizeBinaryBuilder).Append([]byte{byte(v), byte(v >> 8), 'x'})
	}, func(v int64) string { return fmt.Sprintf("x'%02x%02x78'", byte(v), byte(v>>8)) }},
	{extensions.NewUUIDType(), func(b array.Builder, v int64) {
		b.(*extensions.UUIDBuilder).AppendBytes([16]byte{14: byte(v >> 8), 15: byte(v)})
	}, func(v int64) string { return fmt.Sprintf("'00000000-0000-0000-0000-00000000%04x'", uint16(v)) }},
	{arrow.FixedWidthTypes.Date32, func(b array.Builder, v int64) { b.(*array.Date32Builder).Append(arrow.Date32(v)) }, func(v int64) string { return "'" + arrow.Date32(v).FormattedString() + "'" }},
	{arrow.FixedWidthTypes.Date64, func(b array.Builder, v int64) { b.(*array.Date64Builder).Append(arrow.Date64(v * 86_400_000)) }, func(v int64) string { return "'" + arrow.Date32(v).FormattedString() + "'" }},
	{arrow.FixedWidthTypes.Timestamp_s, func(b array.Builder, v int64) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(v)) }, func(v int64) string { return instantText(v, arrow.Second) }},
	{arrow.FixedWidthTypes.Timestamp_us, func(b array.Builder, v int64) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(v)) }, func(v int64) string { return instantText(v, arrow.Microsecond) }},
	{arrow.FixedWidthTypes.Timestamp_ns, func(b array.Builder, v int64) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(v)) }, func(v int64) string { return instantText(v, arrow.Nanosecond) }},
	{arrow.FixedWidthTypes.Time32ms, func(b array.Builder, v int64) { b.(*array.Time32Builder).Append(arrow.Time32(v + 2000)) }, func(v int64) string { return "'" + arrow.Time32(v+2000).FormattedString(arrow.Millisecond) + "'" }},
	{arrow.FixedWidthTypes.Time64ns, func(b array.Builder, v int64) { b.(*array.Time64Builder).Append(arrow.Time64(v + 2000)) }, func(v int64) string { return "'" + arrow.Time64(v+2000).FormattedString(arrow.Nanosecond) + "'" }},
	{arrow.FixedWidthTypes.Duration_ms, func(b array.Builder, v int64) { b.(*array.DurationBuilder).Append(arrow.Duration(v)) }, func(v int64) string { return fmt.Sprintf("'%dms'", v) }},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}, func(b array.Builder, v int64) { _ = b.(*array.BinaryDictionaryBuilder).AppendString(someText(v)) }, quoted},
	{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64), func(b array.Builder, v int64) {
		b.(*array.RunEndEncodedBuilder).Append(1)
		b.(*array.RunEndEncodedBuilder).ValueBuilder().(*array.Int64Builder).Append(v)
	}, func(v int64) string { return fmt.Sprint(v) }},
}

func someFloat(v int64) float64 {
	switch v {
	case 0:
		return math.Copysign(0, -1)
	case 1:
		return 0
	case 2:
		return math.Inf(1)
	}
	return float64(v) / 16
}

func someText(v int64) string {
	if v == 0 {
		return ""
	}
	return strings.Repeat(fmt.Sprintf("text %d", v), int(v&7)+1)
}
func quoted(v int64) string     { return "'" + someText(v) + "'" }
func hundredths(v int64) string { return fmt.Sprintf("%.2f", float64(v)/100) }
func instantText(v int64, u arrow.TimeUnit) string {
	return "'" + arrow.Timestamp(v).ToTime(u).UTC().Format("2006-01-02T15:04:05.999999999Z") + "'"
}

// keyBatch is columns of all types at the top, and again within a struct; values repeat.
func keyBatch(seed uint64, rows int) arrow.RecordBatch {
	rnd := rand.New(rand.NewPCG(seed, 2))
	var fields []arrow.Field
	for i, t := range keyTypes {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: t.dt, Nullable: true})
	}
	n := len(fields)
	fields = append(fields, arrow.Field{Name: "s", Type: arrow.StructOf(fields...), Nullable: true},
		arrow.Field{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true})
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	one := func(b array.Builder, i int) {
		if rnd.IntN(10) == 0 {
			b.AppendNull()
			return
		}
		keyTypes[i].append(b, int64(rnd.IntN(600)-40))
	}
	for range rows {
		for i := range n {
			one(b.Field(i), i)
		}
		s := b.Field(n).(*array.StructBuilder)
		s.Append(rnd.IntN(10) > 0)
		for i := range n {
			one(s.FieldBuilder(i), i)
		}
		b.Field(n + 1).(*array.ListBuilder).Append(rnd.IntN(10) > 0)
		for range rnd.IntN(3) {
			one(b.Field(n+1).(*array.ListBuilder).ValueBuilder(), 13)
		}
	}
	return b.NewRecordBatch()
}

// hashIndexes are indexes of all columns, of the struct, and of several columns together.
func hashIndexes(kind string) (list []IndexDefinition) {
	all := IndexDefinition{Type: kind}
	for i := range keyTypes {
		all.Columns = append(all.Columns, fmt.Sprint("c", i))
	}
	return []IndexDefinition{all, {Type: kind, Columns: []string{"s", "tags"}}, {Type: kind, Columns: []string{"c2", "s.c13", "c26"}, Together: true}}
}

// Conditions have the same rows with an index of hashes as without, whatever the type.
func TestHashIndex(t *testing.T) {
	for _, kind := range []string{HashIndex, HashmapIndex} {
		for _, later := range []bool{false, true} {
			t.Run(fmt.Sprint(kind, later), func(t *testing.T) {
				location := filepath.Join(t.TempDir(), "x.shard")
				batch := keyBatch(1, 4000)
				defer batch.Release()
				o := WriterOptions{StripeRows: 2500, Layout: TwoLevel}
				if !later {
					o.Indexes, o.Layout = hashIndexes(kind), SingleFile
				}
				writeBatch(t, location, batch, o)
				if later {
					require.NoError(t, AddIndex(t.Context(), location, EditOptions{Parallelism: 2}, hashIndexes(kind)...))
				}
				requireSound(t, location)
				requireSameKeys(t, location)
			})
		}
	}
}

func writeBatch(t testing.TB, location string, batch arrow.RecordBatch, o WriterOptions) {
	w, err := Create(t.Context(), location, batch.Schema(), o)
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
}

// requireSameKeys asks for values of all columns.
func requireSameKeys(t *testing.T, location string) {
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	ask := func(where string, few bool) (notes string) {
		e, err := filter.Parse(where)
		require.NoError(t, err)
		o := ScanOptions{Filter: e, Columns: []string{}, Disable: Statistics | BloomFilters | Dictionaries | RangeIndexes}
		x, err := s.explain(t.Context(), o)
		require.NoError(t, err)
		for _, st := range x.Stripes {
			require.Len(t, st.Steps, 1, where)
			require.NotContains(t, st.Steps[0].Note, "not used", where)
			if few {
				require.Less(t, 20*st.Steps[0].Left, int64(2500), where)
			}
			notes = st.Steps[0].Note
		}
		count := func(disable Sources) (rows []RowRange) {
			o.Disable = disable
			for b, err := range s.Scan(t.Context(), o) {
				require.NoError(t, err)
				rows = append(rows, b.RowRanges()...)
			}
			return rows
		}
		want := count(Indexes)
		require.Equal(t, want, count(o.Disable&^Indexes), where)
		require.Equal(t, want, count(0), where)
		return notes
	}
	for i, k := range keyTypes {
		for _, v := range []int64{0, 559, -3, 1, 2, 7, 100}[:sweep.Count(3, 7)] {
			column := fmt.Sprint("c", i)
			ask(column+" = "+k.literal(v), k.dt.ID() != arrow.BOOL)
			ask("s."+column+" = "+k.literal(v), k.dt.ID() != arrow.BOOL)
			if k.dt.ID() != arrow.BOOL {
				ask(fmt.Sprintf("%s in (%s, %s)", column, k.literal(v), k.literal(v+2)), true)
			}
		}
	}
	ask("c8 is nan", true)
	text := keyTypes[13].literal
	for v := range int64(20) {
		notes := ask(fmt.Sprintf("c2 = %d and c26 = %s and s.c13 >= '' and s.c13 in (%s, 'x')", v, text(v), text(v/2)), true)
		require.Contains(t, notes, "of c2 and s.c13 and c26: ")
	}
	for _, where := range []string{"c2 > 5", "c2 <> 5", "not c2 in (5, 6)", "c13 starts with 'text'", "c2 is null", "c2 = s.c2"} {
		want, _ := rowsWhere(t, location, where, OpenOptions{}, Indexes)
		got, unusable := rowsWhere(t, location, where, OpenOptions{}, 0)
		require.Equal(t, want, got, where)
		require.Empty(t, unusable)
	}
}

// jsonBatch is JSON texts, at the top and within a struct.
func jsonBatch(t testing.TB, rows int) arrow.RecordBatch {
	dt, err := extensions.NewJSONType(arrow.BinaryTypes.String)
	require.NoError(t, err)
	rnd := rand.New(rand.NewPCG(3, 4))
	column := func() arrow.Array {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		for i := range rows {
			switch n := rnd.IntN(300); {
			case n == 0:
				b.AppendNull()
			case n == 1:
				b.Append(fmt.Sprintf(`{"user":{"id":%d},"user":{"id":7}}`, i%300))
			case n%3 == 0:
				b.Append(fmt.Sprintf(`{"kind":"k%d","user":{"id":%d.0,"admin":%v,"tags":["x",%d]}}`, n, i%300, n == 3, n))
			default:
				b.Append(fmt.Sprintf(`{"at":%d, "user" : {"id":%d,"name":"user %d"} , "v1.2":%de-2}`, i, n, n, n))
			}
		}
		return array.NewExtensionArrayWithStorage(dt, b.NewArray())
	}
	top, inner := column(), column()
	s, err := array.NewStructArrayWithNulls([]arrow.Array{inner}, []string{"doc"}, nil, 0, 0)
	require.NoError(t, err)
	schema := arrow.NewSchema([]arrow.Field{{Name: "payload", Type: dt, Nullable: true}, {Name: "s", Type: s.DataType(), Nullable: true}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{top, s}, int64(rows))
}

// Values within JSON texts are found, with an index and without, in shards and in other tables.
func TestJSONIndex(t *testing.T) {
	batch := jsonBatch(t, 5000)
	for _, kind := range []string{HashIndex, HashmapIndex} {
		location := filepath.Join(t.TempDir(), "x.shard")
		writeBatch(t, location, batch, WriterOptions{StripeRows: 3000, Indexes: []IndexDefinition{{Type: kind, Columns: []string{"payload"}}}})
		require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, IndexDefinition{Type: kind, Columns: []string{"s"}}))
		requireSound(t, location)
		s, err := Open(t.Context(), location, OpenOptions{})
		require.NoError(t, err)
		defer s.Close()
		for where, used := range map[string]bool{
			"payload.user.id = 42": true, "payload.user.id in (7, 42.00)": true, "s.doc.user.name = 'user 44'": true, "payload.user.admin": true,
			`payload.v1\.2 = 0.44`: true, "s.doc.kind = 'k9' and s.doc.user.id < 100": true, "payload.kind = 'k9' or payload.user.id = 8": true,
			"payload.user.id > 298": false, "payload.user.name starts with 'user 29'": false, "payload.user is null": false, "payload.user.id <> 7": false,
			"payload.none = 'x'": true, "payload.user = 5": true, "not payload.user.id in (1)": false, "payload.user.tags = 'x'": true,
		} {
			e, err := filter.Parse(where)
			require.NoError(t, err)
			bound, err := filter.Bind(e, batch.Schema())
			require.NoError(t, err)
			bits, err := bound.Select(batch)
			require.NoError(t, err)
			n := int64(0)
			for _, b := range bits {
				n += int64(mathbits.OnesCount8(b))
			}
			for _, disable := range []Sources{0, Indexes} {
				var got int64
				for b, err := range s.Scan(t.Context(), ScanOptions{Filter: e, Columns: []string{"payload"}, Disable: disable}) {
					require.NoError(t, err, where)
					got += b.NumRows()
				}
				require.Equal(t, n, got, where)
			}
			x, err := s.explain(t.Context(), ScanOptions{Filter: e})
			require.NoError(t, err)
			notes := fmt.Sprint(x.Stripes[0].Steps)
			require.Equal(t, used, strings.Contains(notes, kind), "%s: %s", where, notes)
			require.NotContains(t, notes, "not used")
		}
	}
}

// Terms of JSON texts are not those of the values in them, which may be escaped.
func TestTermsOfJSON(t *testing.T) {
	dt, err := extensions.NewJSONType(arrow.BinaryTypes.String)
	require.NoError(t, err)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 1000 {
		b.Append([]string{`{"user":"bob"}`, `{"user":"b\u006fb"}`, `{"user":"alice","friend":"bob"}`}[i%3])
	}
	column := array.NewExtensionArrayWithStorage(dt, b.NewArray())
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "doc", Type: dt}}, nil), []arrow.Array{column}, 1000)
	for _, kind := range []string{"", InvertedIndex} {
		location := filepath.Join(t.TempDir(), "x.shard")
		writeBatch(t, location, batch, WriterOptions{Indexes: []IndexDefinition{{Type: kind, Columns: []string{"doc"}}}})
		for _, where := range []string{"doc.user = 'bob'", "has(doc.user, 'bob')", "has(doc.user, 'bob') and doc.user contains 'bob'", "doc.friend = 'bob'"} {
			want, _ := rowsWhere(t, location, where, OpenOptions{}, Indexes)
			got, _ := rowsWhere(t, location, where, OpenOptions{}, 0)
			require.NotEmpty(t, want)
			require.True(t, slices.Equal(want, got), where)
		}
	}
}

// A damaged index of hashes is reported, and changes no answer; rebuilding mends it. Recovery keeps a sound one.
func TestHashIndexLife(t *testing.T) {
	for _, kind := range []string{HashIndex, HashmapIndex} {
		location := filepath.Join(t.TempDir(), "x.shard")
		batch := jsonBatch(t, 3000)
		writeBatch(t, location, batch, WriterOptions{Layout: TwoLevel})
		require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, IndexDefinition{Type: kind, Columns: []string{"payload"}}))
		again := filepath.Join(t.TempDir(), "y.shard")
		report, err := Recover(t.Context(), location, again, RecoverOptions{})
		require.NoError(t, err)
		require.Equal(t, 1, report.Indexes)
		requireSound(t, again)

		files, err := filepath.Glob(filepath.Join(filepath.Dir(location), "*.amudai.index"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, name := range files {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			for i := 0; i < len(b); i += 50 {
				b[i] ^= 0x10
			}
			require.NoError(t, os.WriteFile(name, b, 0o600))
		}
		const where = "payload.user.id = 42"
		want, _ := rowsWhere(t, location, where, OpenOptions{}, Indexes)
		reported := 0
		got, unusable := rowsWhere(t, location, where, OpenOptions{IndexError: func(error) { reported++ }}, 0)
		require.Equal(t, want, got)
		require.NotEmpty(t, unusable)
		require.Positive(t, reported)
		found, err := Verify(t.Context(), location, OpenOptions{}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.False(t, found.OK())
		n, err := RebuildIndex(t.Context(), location, EditOptions{}, func(Index) bool { return true })
		require.NoError(t, err)
		require.Equal(t, 1, n)
		requireSound(t, location)
		got, unusable = rowsWhere(t, location, where, OpenOptions{}, 0)
		require.Equal(t, want, got)
		require.Empty(t, unusable)
	}
}

// What cannot have an index of hashes is refused.
func TestHashIndexRefused(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeBatch(t, location, keyBatch(5, 10), WriterOptions{})
	for _, d := range []IndexDefinition{
		{Type: HashIndex, Columns: []string{"s", "c1"}, Together: true},
		{Type: HashIndex, Columns: []string{"tags", "c1"}, Together: true},
		{Type: HashIndex, Columns: []string{"c1", "c1"}},
		{Type: HashIndex, Columns: []string{"c1"}, Properties: []Property{{Name: "coarse", Value: 2}}},
		{Type: TermIndex, Columns: []string{"c13", "c14"}, Together: true},
	} {
		require.Error(t, AddIndex(t.Context(), location, EditOptions{}, d))
	}
}

// An index of bounds answers for all tests of its column, and for a struct not by what is in it.
func TestRangeIndexOfPart(t *testing.T) {
	const rows = 2000
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "c", Type: arrow.BinaryTypes.String}, {Name: "s", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}), Nullable: true},
	}, nil))
	defer b.Release()
	for range rows {
		b.Field(0).(*array.StringBuilder).Append("abc")
		b.Field(1).(*array.StructBuilder).Append(true)
		b.Field(1).(*array.StructBuilder).FieldBuilder(0).AppendNull()
	}
	batch := b.NewRecordBatch()
	location := filepath.Join(t.TempDir(), "x.shard")
	writeBatch(t, location, batch, WriterOptions{Indexes: []IndexDefinition{{Type: index.Ranges, Columns: []string{"c"}}, {Type: index.Ranges, Columns: []string{"s"}}}})
	for _, where := range []string{"c starts with 'ab' and c matches 'x'", "c matches '^ab' and c contains 'y'", "s is null", "s is not null", "s.a is null", "s.a is not null"} {
		e, err := filter.Parse(where)
		require.NoError(t, err)
		s, err := Open(t.Context(), location, OpenOptions{})
		require.NoError(t, err)
		for _, disable := range []Sources{Indexes, Statistics | Dictionaries | BloomFilters | RangeIndexes, 0} {
			n := int64(0)
			for b, err := range s.Scan(t.Context(), ScanOptions{Filter: e, Disable: disable, Columns: []string{}}) {
				require.NoError(t, err)
				n += b.NumRows()
			}
			want := int64(0)
			if where == "s is not null" || where == "s.a is null" {
				want = rows
			}
			require.Equal(t, want, n, "%s without %v", where, disable)
		}
		require.NoError(t, s.Close())
	}
}
