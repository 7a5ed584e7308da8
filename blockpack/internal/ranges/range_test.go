package ranges

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// rangeBlocks are the values of a column in each block.
type rangeBlocks struct {
	t      column.Type
	values [][]column.Value
}

// columnOf makes a column with each value once, and a code for some rows; or with the values of all rows.
func columnOf(name string, t column.Type, values []column.Value, coded bool) *column.Column {
	c := &column.Column{Name: name, Type: t, Rows: len(values)}
	if t.Textual() {
		c.Values.Offsets = []uint32{0}
	}
	for i, v := range values {
		if t.Textual() {
			c.Values.Data = append(c.Values.Data, v.Data...)
			c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
		} else {
			c.Values.Numbers = append(c.Values.Numbers, v.Bits)
		}
		if coded {
			c.Codes = append(c.Codes, uint32(i))
		}
	}
	return c
}

func build(t require.TestingT, o BuildOptions, columns map[string]rangeBlocks, blocks int) (*Index, []byte) {
	b := NewBuilder(o)
	for i := range blocks {
		var list []*column.Column
		for name, c := range columns {
			list = append(list, columnOf(name, c.t, c.values[i], i%2 == 0))
		}
		b.AddBlock(list)
	}
	data, err := b.Finish(nil, 0, "test/1", []column.Field{{Name: "a", Type: column.Int64, Flags: column.Always}}, nil, "")
	require.NoError(t, err)
	x, err := parseRanges(data, blocks)
	require.NoError(t, err)
	return x, data
}

func parseRanges(data []byte, blocks int) (*Index, error) {
	c := &fields.Cursor{Data: data}
	x := Parse(c, blocks, false)
	if c.Err == nil && c.Left() > 0 {
		return nil, fmt.Errorf("%d bytes left", c.Left())
	}
	return x, c.Err
}

var rangeTexts = []string{"", "a", "ab", "abc", "b", "\xff", "\xff\xff", "z", string(bytes.Repeat([]byte("k"), 50)),
	string(bytes.Repeat([]byte("k"), 51)), string(bytes.Repeat([]byte("k"), 50)) + "a", string(bytes.Repeat([]byte("k"), 49)) + "z"}

func drawValue(t *rapid.T, typ column.Type) column.Value {
	v := column.Value{Type: typ}
	switch typ {
	case column.String, column.Bytes:
		text := rapid.OneOf(rapid.SampledFrom(rangeTexts), rapid.StringN(0, 60, 80)).Draw(t, "text")
		v.Data = []byte(text)
	case column.Float64:
		v.Bits = math.Float64bits(rapid.OneOf(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 256, 10, -256}), rapid.Float64()).Draw(t, "float"))
	default:
		v.Bits = rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, 10, 256, 1 << 63, 1<<63 - 1, math.MaxUint64}), rapid.Uint64Range(0, 300), rapid.Uint64()).Draw(t, "number")
	}
	return v
}

// TestRangeFindsAll builds indexes of random values with all kinds of limits: a lookup of each value, of intervals and
// of prefixes gives at least the blocks that have them.
func TestRangeFindsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.IntRange(1, 70).Draw(t, "blocks")
		columns := map[string]rangeBlocks{}
		types := []column.Type{column.String, column.Int64, column.Uint64, column.Float64, column.Bytes}
		for i, typ := range types {
			c := rangeBlocks{t: typ, values: make([][]column.Value, blocks)}
			for k := range c.values {
				for range rapid.IntRange(0, 6).Draw(t, "values") {
					c.values[k] = append(c.values[k], drawValue(t, typ))
				}
			}
			columns[fmt.Sprint("span.", i)] = c
		}
		o := BuildOptions{
			Buckets:  rapid.SampledFrom([]int{0, 1, 2, 5}).Draw(t, "buckets"),
			Budget:   rapid.SampledFrom([]int64{0, 1, 300, 2000}).Draw(t, "budget"),
			Distinct: rapid.SampledFrom([]int{0, 1, 3, 10}).Draw(t, "distinct"),
			Memory:   rapid.SampledFrom([]int64{0, 1, 500}).Draw(t, "memory"),
		}
		x, data := build(t, o, columns, blocks)
		_, again := build(t, o, columns, blocks)
		require.Equal(t, data, again)
		for _, name := range slices.Sorted(maps.Keys(columns)) {
			c := columns[name]
			checkColumn(t, x, name, c, drawValue(t, c.t), drawValue(t, c.t))
		}
	})
}

func checkColumn(t *rapid.T, x *Index, name string, c rangeBlocks, lo, hi column.Value) {
	prefix := lo.Data[:min(len(lo.Data), rapid.IntRange(0, 60).Draw(t, "prefix"))]
	inPoint, _ := point(x, name, lo)
	between, betweenKnown := x.Interval(name, c.t, &lo, &hi, false)
	below, belowKnown := x.Interval(name, c.t, nil, &hi, false)
	above, aboveKnown := x.Interval(name, c.t, &lo, nil, false)
	begins, beginsKnown := prefixed(x, name, c.t, prefix)
	require.IsIncreasing(t, append([]uint32{0}, add1(between)...))
	for i, values := range c.values {
		has := func(list []uint32, known bool, what string, v column.Value) {
			if known {
				require.Contains(t, list, uint32(i), "%s %v of %s", what, v, name)
			}
		}
		for _, v := range values {
			list, known := point(x, name, v)
			if len(v.Data) > 0 || !c.t.Textual() && !v.IsNaN() {
				require.True(t, known, "%v of %s", v, name)
			}
			has(list, known, "point", v)
			if v.IsNaN() {
				continue
			}
			if !lo.IsNaN() && v.Compare(lo) >= 0 {
				has(above, aboveKnown, "above", v)
				if !hi.IsNaN() && v.Compare(hi) <= 0 {
					has(between, betweenKnown, "between", v)
				}
			}
			if !hi.IsNaN() && v.Compare(hi) <= 0 {
				has(below, belowKnown, "below", v)
			}
			if c.t.Textual() && bytes.HasPrefix(v.Data, prefix) {
				has(begins, beginsKnown, "prefix", v)
			}
			if v.Compare(lo) == 0 {
				require.True(t, inPoint == nil || slices.Contains(inPoint, uint32(i)))
			}
		}
	}
}

// point looks up a value.
func point(x *Index, name string, v column.Value) ([]uint32, bool) {
	return x.Interval(name, v.Type, &v, &v, false)
}

// prefixed looks up the values that begin with a prefix.
func prefixed(x *Index, name string, t column.Type, prefix []byte) ([]uint32, bool) {
	r := valueset.WithPrefix(prefix)
	lo, hi := &column.Value{Type: t, Data: r.Lo}, &column.Value{Type: t, Data: r.Hi}
	if r.NoHi {
		hi = nil
	}
	return x.Interval(name, t, lo, hi, true)
}

func add1(list []uint32) []uint32 {
	out := make([]uint32, len(list))
	for i, n := range list {
		out[i] = n + 1
	}
	return out
}

func text(s string) column.Value { return column.Value{Type: column.String, Data: []byte(s)} }

// TestRangePrunes checks that lookups give few blocks where values differ.
func TestRangePrunes(t *testing.T) {
	c := rangeBlocks{t: column.String}
	n := rangeBlocks{t: column.Int64}
	for i := range 10 {
		c.values = append(c.values, []column.Value{text(fmt.Sprint("service-", i)), text("common")})
		n.values = append(n.values, []column.Value{{Type: column.Int64, Bits: uint64(int64(i*100 - 500))}, {Type: column.Int64, Bits: uint64(int64(i*100 - 450))}})
	}
	for name, o := range map[string]BuildOptions{"distinct": {}, "bounds": {Distinct: 1}} {
		t.Run(name, func(t *testing.T) {
			x, _ := build(t, o, map[string]rangeBlocks{"service": c, "n": n}, 10)
			blocks, known := point(x, "service", text("service-7"))
			require.True(t, known)
			if name == "distinct" {
				require.Equal(t, []uint32{7}, blocks)
			}
			blocks, known = point(x, "service", text("common"))
			require.True(t, known)
			require.Len(t, blocks, 10)
			blocks, known = point(x, "service", text("a"))
			require.True(t, known)
			require.Empty(t, blocks)
			blocks, known = point(x, "n", column.Value{Type: column.Int64, Bits: uint64(math.MaxUint64 - 299)})
			require.True(t, known)
			require.Equal(t, []uint32{2}, blocks)
			hi := column.Value{Type: column.Int64, Bits: uint64(math.MaxUint64 - 399)}
			blocks, known = x.Interval("n", column.Int64, nil, &hi, false)
			require.True(t, known)
			require.Equal(t, []uint32{0, 1}, blocks)
			for what, known := range map[string]bool{
				"other type":   known2(point(x, "n", text("a"))),
				"unknown name": known2(point(x, "m", text("a"))),
				"empty":        known2(point(x, "service", text(""))),
				"empty prefix": known2(prefixed(x, "service", column.String, nil)),
				"from empty":   known2(x.Interval("service", column.String, nil, &hi, false)),
				"mark":         known2(point(x, MarkColumn, text("test/1"))),
			} {
				require.False(t, known, what)
			}
			list, ok := x.FileColumns()
			require.True(t, ok)
			require.Equal(t, []column.Field{{Name: "a", Type: column.Int64, Flags: column.Always}}, list)
			require.Equal(t, "test/1", x.Mark())
		})
	}
}

func known2(_ []uint32, known bool) bool { return known }

// TestRangeTypes checks what columns a range index has: none of Bool, nor of a single type of a name.
func TestRangeTypes(t *testing.T) {
	b := NewBuilder(BuildOptions{Exclude: func(name string) bool { return name == "excluded" }})
	num := func(n ...uint64) (out []column.Value) {
		for _, v := range n {
			out = append(out, column.Value{Type: column.Int64, Bits: v})
		}
		return out
	}
	b.AddBlock([]*column.Column{
		columnOf("trace:id", column.Bytes, []column.Value{text("0123456789abcdef")}, false),
		columnOf("excluded", column.Int64, num(1), false),
		columnOf("bool", column.Bool, num(1), false),
		columnOf("empty", column.String, []column.Value{text("")}, false),
		columnOf("nan", column.Float64, []column.Value{{Bits: math.Float64bits(math.NaN())}}, false),
		columnOf("mixed", column.String, []column.Value{text("a")}, false),
		columnOf("mixed", column.Int64, num(3, 4), false),
	})
	data, err := b.Finish(nil, 0, "", nil, nil, "")
	require.NoError(t, err)
	x, err := parseRanges(data, 1)
	require.NoError(t, err)
	var names []string
	for col := range x.All() {
		names = append(names, col.Name)
		require.Equal(t, column.RangeInt64, col.Type)
		require.Equal(t, int64(3), col.Min)
		require.Equal(t, int64(4), col.Max)
	}
	require.Equal(t, []string{"mixed"}, names)
	require.Empty(t, x.Mark())
}

// TestRangeBudget keeps an index of many values small.
func TestRangeBudget(t *testing.T) {
	b := NewBuilder(BuildOptions{Budget: 20_000})
	for block := range 200 {
		var ids, services []column.Value
		for i := range 300 {
			n := uint64(block*300+i) * 0x9E3779B97F4A7C15
			ids = append(ids, column.Value{Type: column.Uint64, Bits: n})
			services = append(services, text(fmt.Sprint("service-", block/50)))
		}
		b.AddBlock([]*column.Column{columnOf("ids", column.Uint64, ids, false), columnOf("services", column.String, services, true)})
	}
	data, err := b.Finish(nil, 1<<40, "test/1", nil, nil, "")
	require.NoError(t, err)
	require.Less(t, len(data), 21_000)
	x, err := parseRanges(data, 200)
	require.NoError(t, err)
	blocks, known := point(x, "services", text("service-2"))
	require.True(t, known)
	require.Len(t, blocks, 50)
}

// foreignColumn is a column as other writers make them.
func foreignColumn(name string, t column.Type, keys ...[]byte) []byte {
	data := binary.LittleEndian.AppendUint32(nil, 1)
	data = appendRangeHead(data, name, t, 0, 0)
	data = binary.LittleEndian.AppendUint64(data, 0)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(keys)))
	for i, k := range keys {
		data = append(data, k...)
		data = binary.LittleEndian.AppendUint32(data, 1)
		data = binary.LittleEndian.AppendUint32(data, uint32(i))
	}
	return data
}

// TestForeignRanges reads keys of base types and of other sizes, in any order, and believes none that is not right.
func TestForeignRanges(t *testing.T) {
	u64 := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	for name, c := range map[string]struct {
		t     column.Type
		keys  [][]byte
		find  column.Value
		want  []uint32
		known bool
	}{
		"Int64":          {column.Int64, [][]byte{u64(5), u64(math.MaxUint64)}, column.Value{Type: column.Int64, Bits: 0}, []uint32{1}, true},
		"Uint64":         {column.Uint64, [][]byte{u64(5), u64(math.MaxUint64)}, column.Value{Type: column.Uint64, Bits: 6}, []uint32{0}, true},
		"Bool":           {column.Bool, [][]byte{{0}, {1}}, column.Value{Type: column.Bool, Bits: 1}, []uint32{1}, true},
		"String":         {column.String, [][]byte{{1, 0, 0, 0, 'b'}, {1, 0, 0, 0, 'a'}}, text("aa"), []uint32{1}, true},
		"RangeString":    {column.RangeString, [][]byte{{1, 0, 0, 0, 'b'}, {1, 0, 0, 0, 'b'}}, text("c"), []uint32{0, 1}, true},
		"RangeDuration":  {column.RangeDuration, [][]byte{append([]byte{8}, u64(5)...)}, column.Value{Type: column.Int64, Bits: 6}, []uint32{0}, true},
		"bucket numbers": {column.RangeInt64, [][]byte{{2, 1, 0}}, column.Value{Type: column.Int64, Bits: 6}, nil, false},
		"NaN":            {column.Float64, [][]byte{u64(math.Float64bits(math.NaN()))}, column.Value{Type: column.Float64, Bits: 0}, nil, false},
		"blocks":         {column.Int64, [][]byte{u64(1), u64(2), u64(3)}, column.Value{Type: column.Int64, Bits: 1}, nil, false},
	} {
		data := foreignColumn("a", c.t, c.keys...)
		x, err := parseRanges(data, 2)
		require.NoError(t, err, name)
		x.mark = "test/1"
		blocks, known := point(x, "a", c.find)
		require.Equal(t, c.known, known, name)
		require.Equal(t, c.want, blocks, name)
		if !c.known {
			_, err := x.Column("a").Entries()
			require.Error(t, err, name)
		}
		x, err = parseRanges(data, 2)
		require.NoError(t, err, name)
		_, known = point(x, "a", c.find)
		require.False(t, known, name)
	}
	twice := foreignColumn("a", column.Int64, u64(1))
	twice = append(twice, twice[4:]...)
	twice[0] = 2
	x, err := parseRanges(twice, 2)
	require.NoError(t, err)
	x.mark = "test/1"
	_, known := point(x, "a", column.Value{Type: column.Int64, Bits: 1})
	require.False(t, known, "two columns of a name")
}

func BenchmarkRangeBuilder(b *testing.B) {
	var blocks [][]*column.Column
	for block := range 50 {
		var ids, starts, services []column.Value
		for i := range 8000 {
			n := uint64(block*8000 + i)
			ids = append(ids, column.Value{Type: column.Uint64, Bits: n * 0x9E3779B97F4A7C15})
			starts = append(starts, column.Value{Type: column.Uint64, Bits: n})
		}
		for i := range 20 {
			services = append(services, text(fmt.Sprint("service-", i)))
		}
		blocks = append(blocks, []*column.Column{columnOf("ids", column.Uint64, ids, false), columnOf("starts", column.Uint64, starts, false), columnOf("services", column.String, services, true)})
	}
	b.ResetTimer()
	for range b.N {
		r := NewBuilder(BuildOptions{})
		for _, c := range blocks {
			r.AddBlock(c)
		}
		if _, err := r.Finish(nil, 10<<20, "test/1", nil, nil, ""); err != nil {
			b.Fatal(err)
		}
	}
}
