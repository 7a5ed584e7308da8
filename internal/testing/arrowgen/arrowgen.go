// Package arrowgen makes Arrow arrays of any type for tests: random, but the
// same for the same seed, with extremes, runs, few and many distinct values,
// nulls at every level, and garbage under nulls where a builder allows it.
package arrowgen

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Gen makes arrays. It is not safe for concurrent use.
type Gen struct {
	Rand  *rand.Rand
	Nulls float64 // share of null slots
	Mem   memory.Allocator
	// Wide adds values that some stored forms cannot hold: timestamps beyond the year 9999,
	// decimals of more than 34 digits.
	Wide bool
	// Unions has Type return unions, too.
	Unions bool
}

// New makes a generator.
func New(seed uint64) *Gen {
	return &Gen{Rand: rand.New(rand.NewPCG(seed, 1)), Nulls: 0.1, Mem: memory.DefaultAllocator}
}

// Array makes an array of n values. The caller releases it.
func (g *Gen) Array(dt arrow.DataType, n int) arrow.Array {
	switch dt := dt.(type) {
	case *arrow.NullType:
		return array.NewNull(n)
	case arrow.ExtensionType:
		s := g.Array(dt.StorageType(), n)
		defer s.Release()
		return array.NewExtensionArrayWithStorage(dt, s)
	case *arrow.DictionaryType:
		return g.dictionary(dt, n)
	case *arrow.RunEndEncodedType:
		return g.runs(dt, n)
	}
	b := array.NewBuilder(g.Mem, dt)
	defer b.Release()
	p := g.pattern()
	for i := range n {
		g.append(b, p, i)
	}
	return b.NewArray()
}

// pattern is the sequence of values: each is drawn from a number of variants, in runs.
type pattern struct {
	variants uint64
	run      int
	current  uint64
}

func (g *Gen) pattern() *pattern {
	return &pattern{
		variants: []uint64{1, 2, 17, 1000, math.MaxUint64}[g.Rand.IntN(5)],
		run:      []int{1, 1, 3, 100}[g.Rand.IntN(4)],
	}
}

func (g *Gen) draw(p *pattern, i int) uint64 {
	if i%p.run == 0 {
		p.current = g.Rand.Uint64N(p.variants)
	}
	return p.current
}

// scramble spreads variants over all bits, and makes some of them extremes.
func scramble(v uint64) uint64 {
	switch v % 23 {
	case 3:
		return 0
	case 5:
		return math.MaxUint64
	case 7:
		return 1 << 63
	case 11:
		return v
	}
	v *= 0x9E3779B97F4A7C15
	return v ^ v>>29
}

func (g *Gen) append(b array.Builder, p *pattern, i int) {
	v := g.draw(p, i)
	if g.Rand.Float64() < g.Nulls {
		b.AppendNull()
		return
	}
	x := scramble(v)
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v%3 == 1)
	case *array.Int8Builder:
		b.Append(int8(x))
	case *array.Int16Builder:
		b.Append(int16(x))
	case *array.Int32Builder:
		b.Append(int32(x))
	case *array.Int64Builder:
		b.Append(int64(x))
	case *array.Uint8Builder:
		b.Append(uint8(x))
	case *array.Uint16Builder:
		b.Append(uint16(x))
	case *array.Uint32Builder:
		b.Append(uint32(x))
	case *array.Uint64Builder:
		b.Append(x)
	case *array.Float16Builder:
		b.Append(float16.FromBits(uint16(x)))
	case *array.Float32Builder:
		b.Append(g.float32(v, x))
	case *array.Float64Builder:
		b.Append(g.float64(v, x))
	default:
		g.appendOther(b, v, x)
	}
}

// float64 makes decimals of few digits and arbitrary bits: NaNs with payloads, infinities, -0.0, subnormals.
func (g *Gen) float64(v, x uint64) float64 {
	switch v % 7 {
	case 0:
		return math.Float64frombits(x)
	case 1:
		return math.Copysign(0, -1)
	case 2:
		return math.Float64frombits(0x7FF8000000000000 | v)
	}
	return float64(int64(v%1e6)) / 100
}

func (g *Gen) float32(v, x uint64) float32 {
	switch v % 7 {
	case 0:
		return math.Float32frombits(uint32(x))
	case 1:
		return float32(math.Copysign(0, -1))
	case 2:
		return math.Float32frombits(0x7FC00000 | uint32(v&0xFFFF))
	}
	return float32(v%1e4) / 10
}

func (g *Gen) appendOther(b array.Builder, v, x uint64) {
	switch b := b.(type) {
	case array.StringLikeBuilder:
		b.Append(g.text(v))
	case *array.BinaryBuilder:
		b.Append([]byte(g.bytes(v)))
	case *array.BinaryViewBuilder:
		b.Append([]byte(g.bytes(v)))
	case *array.FixedSizeBinaryBuilder:
		w := b.Type().(*arrow.FixedSizeBinaryType).ByteWidth
		s := g.bytes(v)
		for len(s) < w {
			s += "\x00" + s + "x"
		}
		b.Append([]byte(s[:w]))
	case *array.Decimal32Builder, *array.Decimal64Builder, *array.Decimal128Builder, *array.Decimal256Builder:
		b.AppendValueFromString(g.digits(b.Type(), v))
	case *array.Date32Builder:
		b.Append(arrow.Date32(int64(x%200_000) - 100_000))
	case *array.Date64Builder:
		b.Append(arrow.Date64((int64(x%200_000) - 100_000) * 86_400_000))
	case *array.Time32Builder:
		b.Append(arrow.Time32(x % 86_400))
	case *array.Time64Builder:
		b.Append(arrow.Time64(x % 86_400_000_000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(g.instant(b.Type().(*arrow.TimestampType).Unit, x)))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(int64(x) / 1_000_000_000))
	case *array.MonthIntervalBuilder:
		b.Append(arrow.MonthInterval(int32(x)))
	case *array.DayTimeIntervalBuilder:
		b.Append(arrow.DayTimeInterval{Days: int32(x), Milliseconds: int32(x >> 32)})
	case *array.MonthDayNanoIntervalBuilder:
		b.Append(arrow.MonthDayNanoInterval{Months: int32(v), Days: int32(x), Nanoseconds: int64(x)})
	case *array.StructBuilder:
		b.Append(true)
		for f := range b.NumField() {
			g.child(b.FieldBuilder(f))
		}
	case *array.MapBuilder:
		b.Append(true)
		for range v % 4 {
			g.appendKey(b.KeyBuilder())
			g.child(b.ItemBuilder())
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			g.child(b.ValueBuilder())
		}
	case array.VarLenListLikeBuilder:
		n := int(v % 5)
		b.AppendWithSize(true, n)
		for range n {
			g.child(b.ValueBuilder())
		}
	default:
		g.appendWrapped(b, x)
	}
}

// appendWrapped serves builders of dictionaries, runs, nulls and extensions inside others.
func (g *Gen) appendWrapped(b array.Builder, x uint64) {
	switch b := b.(type) {
	case *array.NullBuilder:
		b.AppendNull()
	case interface{ StorageBuilder() array.Builder }:
		g.child(b.StorageBuilder())
	case array.DictionaryBuilder:
		one := New(x%50).Array(b.Type().(*arrow.DictionaryType).ValueType, 1)
		defer one.Release()
		if err := b.AppendArray(one); err != nil {
			panic(err)
		}
	case *array.RunEndEncodedBuilder:
		b.Append(1)
		g.child(b.ValueBuilder())
	case array.UnionBuilder:
		codes := b.Type().(arrow.UnionType).TypeCodes()
		k := int(x % uint64(len(codes)))
		b.Append(codes[k])
		for i := range codes {
			if i == k {
				g.child(b.Child(i))
			} else if b.Mode() == arrow.SparseMode {
				b.Child(i).AppendEmptyValue()
			}
		}
	default:
		panic(fmt.Sprintf("arrowgen: builder %T", b))
	}
}

func (g *Gen) child(b array.Builder) {
	g.append(b, &pattern{variants: 50, run: 1}, 0)
}

// appendKey appends a map key, which is never null.
func (g *Gen) appendKey(b array.Builder) {
	nulls := g.Nulls
	g.Nulls = 0
	g.append(b, &pattern{variants: 1000, run: 1}, 0)
	g.Nulls = nulls
}

func (g *Gen) text(v uint64) string {
	switch v % 9 {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("größe-%d-日本語", v)
	case 2:
		return fmt.Sprintf("a rather longer value that is not stored inline, number %d of them", v)
	}
	return fmt.Sprintf("v%d", v)
}

func (g *Gen) bytes(v uint64) string {
	if v%5 == 1 {
		return string([]byte{0xFF, 0, byte(v), 0x80})
	}
	return g.text(v)
}

// digits is a decimal number that fits the type.
func (g *Gen) digits(dt arrow.DataType, v uint64) string {
	d := dt.(arrow.DecimalType)
	most := int(d.GetPrecision())
	if !g.Wide {
		most = min(most, 34)
	}
	s := fmt.Sprintf("%d%d%d", v%9+1, scramble(v+1), scramble(v+2))
	n := 1 + int(v%uint64(most))
	for len(s) < n {
		s += s
	}
	s = s[:n]
	scale := int(d.GetScale())
	if scale > 0 {
		for len(s) <= scale {
			s = "0" + s
		}
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	}
	for ; scale < 0; scale++ {
		s += "0"
	}
	if v%2 == 1 {
		s = "-" + s
	}
	return s
}

// instant is a time between the years 1700 and 2200 in nanoseconds, and between the years 1 and 9999 in other
// units.
func (g *Gen) instant(u arrow.TimeUnit, x uint64) int64 {
	const century = 100 * 365 * 86_400
	s := int64(x%(5*century)) - 2*century
	if u != arrow.Nanosecond && x%3 == 0 {
		s = int64(x%(99*century)) - 19*century
	}
	switch u {
	case arrow.Second:
		return s
	case arrow.Millisecond:
		return s*1e3 + int64(x%1000)
	case arrow.Microsecond:
		return s*1e6 + int64(x%1_000_000)
	}
	return s*1e9 + int64(x%1_000_000_000)
}

// dictionary makes a dictionary with unused, repeated and null values.
func (g *Gen) dictionary(dt *arrow.DictionaryType, n int) arrow.Array {
	values := g.Array(dt.ValueType, 1+g.Rand.IntN(100))
	defer values.Release()
	b := array.NewBuilder(g.Mem, dt.IndexType)
	defer b.Release()
	for range n {
		if g.Rand.Float64() < g.Nulls {
			b.AppendNull()
			continue
		}
		if err := b.AppendValueFromString(fmt.Sprint(g.Rand.IntN(values.Len()))); err != nil {
			panic(err)
		}
	}
	indices := b.NewArray()
	defer indices.Release()
	return array.NewDictionaryArray(dt, indices, values)
}

func (g *Gen) runs(dt *arrow.RunEndEncodedType, n int) arrow.Array {
	b := array.NewBuilder(g.Mem, dt.RunEnds())
	defer b.Release()
	count := 0
	for end := 0; end < n; count++ {
		end = min(n, end+1+g.Rand.IntN(20))
		if err := b.AppendValueFromString(fmt.Sprint(end)); err != nil {
			panic(err)
		}
	}
	ends := b.NewArray()
	defer ends.Release()
	values := g.Array(dt.Encoded(), count)
	defer values.Release()
	return array.NewRunEndEncodedArray(ends, values, n, 0)
}

// Batch makes a record batch of n rows.
func (g *Gen) Batch(s *arrow.Schema, n int) arrow.RecordBatch {
	columns := make([]arrow.Array, s.NumFields())
	for i := range columns {
		columns[i] = g.Array(s.Field(i).Type, n)
		defer columns[i].Release()
	}
	return array.NewRecordBatch(s, columns, int64(n))
}
