package column_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/column/encode"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

const allKinds = column.SparseDeltaDictionary

// rowsOf gives the value of each row: nil for null, a number or a string.
func rowsOf(c *column.Column) []any {
	out := make([]any, c.Rows)
	present := bitmap.Bits{Data: c.Present, Len: c.Rows}
	k := 0
	for row := range out {
		if !present.At(row) {
			continue
		}
		i := k
		if c.Codes != nil {
			i = int(c.Codes[k])
		}
		if c.Type.Textual() {
			out[row] = string(c.Values.Bytes(i))
		} else {
			out[row] = c.Values.Numbers[i]
		}
		k++
	}
	return out
}

// columnOf is the inverse of rowsOf. If coded, values are in a dictionary in order of appearance, with an entry that is not
// used and one that is there twice.
func columnOf(t column.Type, rows []any, coded bool) *column.Column {
	c := &column.Column{Name: "c", Type: t, Rows: len(rows)}
	if slices.Contains(rows, nil) {
		c.Present = make([]byte, (len(rows)+7)/8)
	}
	if t.Textual() {
		c.Values.Offsets = []uint32{0}
	}
	add := func(v any) {
		if t.Textual() {
			c.Values.Data = append(c.Values.Data, v.(string)...)
			c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
		} else {
			c.Values.Numbers = append(c.Values.Numbers, v.(uint64))
		}
	}
	codes := map[any]uint32{}
	if coded {
		c.Codes = []uint32{}
	}
	for row, v := range rows {
		if v == nil {
			continue
		}
		if c.Present != nil {
			bitmap.SetRange(c.Present, row, 1)
		}
		code, ok := codes[v]
		if !ok || !coded {
			code = uint32(c.Values.Len())
			add(v)
			if code == 0 && coded {
				add(v)
				add(v)
				code = 2
			}
			codes[v] = code
		}
		if coded {
			c.Codes = append(c.Codes, code)
		}
	}
	return c
}

// genRows draws the values of rows.
func genRows(t *rapid.T, typ column.Type, most int) []any {
	n := rapid.OneOf(rapid.IntRange(0, 10), rapid.IntRange(0, most)).Draw(t, "rows")
	var values *rapid.Generator[any]
	switch typ {
	case column.Bool:
		values = rapid.Map(rapid.Uint64Range(0, 1), func(v uint64) any { return v })
	case column.Float64:
		values = rapid.Map(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Float64frombits(0xfff8000000000001)})),
			func(v float64) any { return math.Float64bits(v) })
	case column.Int64, column.Uint64:
		values = rapid.Map(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(1000, 1256), rapid.Uint64Range(1<<60, 1<<60+1<<33)), func(v uint64) any { return v })
	default:
		one := rapid.OneOf(rapid.StringMatching(`[a-c]{0,3}`), rapid.StringMatching(`/api/v[12]/[a-z]{4}`), rapid.StringN(0, 20, 400),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) string { return string(b) }))
		if rapid.Bool().Draw(t, "one length") {
			one = rapid.Map(rapid.SliceOfN(rapid.Byte(), 8, 8), func(b []byte) string { return string(b) })
		}
		values = rapid.Map(one, func(v string) any { return v })
	}
	if rapid.Bool().Draw(t, "few") {
		values = rapid.SampledFrom(rapid.SliceOfN(values, 1, 300).Draw(t, "pool"))
	}
	nulls := rapid.SampledFrom([]string{"none", "all", "single", "runs"}).Draw(t, "nulls")
	rows := make([]any, 0, n)
	for len(rows) < n {
		run := 1
		if rapid.Bool().Draw(t, "run") {
			run = rapid.IntRange(1, 70).Draw(t, "length")
		}
		var v any
		switch null := rapid.Bool().Draw(t, "null"); {
		case nulls == "none", nulls == "runs" && !null, nulls == "single" && !(null && run == 1):
			v = values.Draw(t, "value")
		}
		rows = append(rows, slices.Repeat([]any{v}, min(run, n-len(rows)))...)
	}
	return rows
}

var plain = column.DecodeOptions{UUID: column.UUIDPlain}

// TestRoundTrip encodes columns in the kind chosen, and in each that can hold them; decodes all rows, and takes some.
func TestRoundTrip(t *testing.T) {
	for typ := column.String; typ <= column.Bytes; typ++ {
		t.Run(typ.String(), func(t *testing.T) {
			e, d := &encode.Encoder{}, &column.Decoder{}
			rapid.Check(t, func(t *rapid.T) {
				rows := genRows(t, typ, 700)
				c := columnOf(typ, rows, rapid.Bool().Draw(t, "coded"))
				data, chosen, err := e.Append([]byte("before"), c)
				require.NoError(t, err)
				require.Equal(t, "before", string(data[:6]))
				data = data[6:]
				require.Equal(t, byte(chosen), data[1])
				check(t, d, data, typ, rows)

				again, _, err := new(encode.Encoder).Append(nil, columnOf(typ, rows, c.Codes == nil))
				require.NoError(t, err)
				require.Equal(t, data, again, "bytes depend on codes")

				for k := column.Dictionary; k <= allKinds; k++ {
					if forced, ok := inKind(t, e, c, k); ok {
						if k != column.XORBytes && k != column.SparseXORBytes {
							require.LessOrEqual(t, len(data), len(forced), "%s was chosen, %s is smaller", chosen, k)
						}
						check(t, d, forced, typ, rows)
					}
				}
			})
		})
	}
}

var frames = sync.OnceValue(func() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithSingleSegment(true), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return z
})

// inKind is the data of a column in a kind, also in those that are read but not written. ok is false if that cannot hold it.
func inKind(t require.TestingT, e *encode.Encoder, c *column.Column, k column.Kind) (data []byte, ok bool) {
	xor := k == column.XORBytes || k == column.SparseXORBytes
	from := k
	if xor {
		from = column.PrefixBytes
	}
	data, ok, err := e.AppendKind(nil, c, from)
	require.NoError(t, err)
	if !xor || !ok {
		return data, ok
	}
	var plain, last []byte
	values := c.ByRow()
	for row := range c.Rows {
		if values[row] < 0 {
			continue
		}
		v := c.Values.Bytes(int(values[row]))
		if last != nil && len(v) != len(last) {
			return nil, false
		}
		plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(v))), v...)
		column.XOR(plain[len(plain)-len(v):], last)
		last = v
	}
	frame := frames().EncodeAll(plain, nil)
	data = data[:10+binary.LittleEndian.Uint32(data[6:])] // up to the end of the presence
	data[1] = byte(k)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(frame))), frame...), true
}

// check decodes data, and compares all rows, some rows, and the parts.
func check(t *rapid.T, d *column.Decoder, data []byte, typ column.Type, rows []any) {
	o := plain
	o.Warn = func(err error) { require.NoError(t, err) }
	c, err := d.Decode(data, "c", typ, len(rows), o)
	require.NoError(t, err)
	require.Equal(t, rows, rowsOf(c), "%s", column.Kind(data[1]))
	present := 0
	for _, v := range rows {
		if v != nil {
			present++
		}
	}
	r, err := d.Open(data, "c", typ, len(rows), o)
	require.NoError(t, err)
	require.Equal(t, column.Kind(data[1]), r.Kind())
	require.Equal(t, present, r.PresentCount())
	require.Equal(t, c.Present, r.Present())
	if r.Coded() {
		v, err := r.Dictionary()
		require.NoError(t, err)
		codes, err := r.Codes(v.Len())
		require.NoError(t, err)
		require.Equal(t, c.Values, v)
		require.Equal(t, c.Codes, codes)
	}

	var some []int
	for row := range rows {
		if rapid.IntRange(0, 9).Draw(t, "take") == 0 {
			some = append(some, row)
		}
	}
	taken, err := r.Take(some)
	require.NoError(t, err)
	want := []any{}
	for _, row := range some {
		want = append(want, rows[row])
	}
	require.Equal(t, want, rowsOf(taken), "take from %s", column.Kind(data[1]))
}

// TestWriteLimits refuses values over the limit.
func TestWriteLimits(t *testing.T) {
	e := new(encode.Encoder)
	long := string(bytes.Repeat([]byte("x"), column.MaxValueLen))
	_, _, err := e.Append(nil, columnOf(column.String, []any{long}, false))
	require.NoError(t, err)
	_, _, err = e.Append(nil, columnOf(column.String, []any{"", long + "x"}, false))
	require.ErrorIs(t, err, fault.ErrLimit)
	require.ErrorContains(t, err, "a value of 10485761 bytes, where 10485760 are allowed")

	many := &column.Column{Name: "c", Type: column.Int64, Rows: column.MaxDictionaryEntries + 1}
	for row := range many.Rows {
		many.Values.Numbers = append(many.Values.Numbers, uint64(row))
	}
	_, _, err = e.Append(nil, many)
	require.ErrorIs(t, err, fault.ErrLimit)
	many.Type = column.Uint64
	_, kind, err := e.Append(nil, many)
	require.NoError(t, err)
	require.Equal(t, column.DeltaUint64, kind, "it needs no dictionary")
}

// TestLarge is TestRoundTrip with many rows: wide indexes, large dictionaries, long values.
func TestLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n uint64) func(row int) uint64 { return func(int) uint64 { return r.Uint64N(n) } }
	shapes := map[string]func(row int) uint64{
		"few":       random(7),
		"256":       func(row int) uint64 { return uint64(row % 256) },
		"257":       func(row int) uint64 { return uint64(row*31) % 257 },
		"many":      random(2000),
		"distinct":  random(1 << 62),
		"ascending": func(row int) uint64 { return 1_700_000_000_000_000_000 + uint64(row)*999_983 },
		"runs":      func(row int) uint64 { return uint64(row / 50) },
		"negative":  func(row int) uint64 { return -r.Uint64N(1000) },
	}
	const n = 4000
	e, d := &encode.Encoder{}, &column.Decoder{}
	for name, shape := range shapes {
		for typ := column.String; typ <= column.Bytes; typ++ {
			for nulls := range 3 {
				t.Run(fmt.Sprint(name, typ, nulls), func(t *testing.T) {
					rows := make([]any, n)
					for row := range rows {
						v := shape(row)
						switch {
						case nulls == 1 && r.IntN(3) > 0, nulls == 2 && row/100%2 == 0:
						case typ == column.Bool:
							rows[row] = v % 2
						case !typ.Textual():
							rows[row] = v
						case v == 0:
							rows[row] = strings.Repeat("long ", 2000)
						default:
							rows[row] = fmt.Sprintf("/value/%d", v)
						}
					}
					c := columnOf(typ, rows, nulls == 0)
					chosen, kind, err := e.Append(nil, c)
					require.NoError(t, err)
					for k := column.Dictionary; k <= allKinds; k++ {
						data, ok := inKind(t, e, c, k)
						if !ok {
							continue
						}
						if k != column.XORBytes && k != column.SparseXORBytes {
							require.LessOrEqual(t, len(chosen), len(data)+len(data)/1000, "%s was chosen, %s is smaller", kind, k) // dictionaries of ascending values may be a little smaller
						}
						got, err := d.Decode(data, "c", typ, n, plain)
						require.NoError(t, err)
						if !slices.Equal(rows, rowsOf(got)) {
							t.Fatal(k)
						}
					}
				})
			}
		}
	}
}

// TestPrefixes writes URLs with prefixes, and values that share none without.
func TestPrefixes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range []struct {
		name     string
		value    func() string
		prefixes int // of which one is empty
		most     int // bytes
	}{
		{"random", func() string { return string(binary.BigEndian.AppendUint64(nil, r.Uint64())) }, 1, 16300},
		{"few", func() string { return fmt.Sprintf("/cart/%d", r.IntN(5)) }, 2, 900},
		{"users", func() string { return fmt.Sprintf("https://shop.example/users/%08x", r.Uint32()) }, 2, 10250},
		{"paths", func() string {
			return fmt.Sprintf("/%s/%s/%08x", []string{"cart", "orders", "items"}[r.IntN(3)], []string{"view", "change"}[r.IntN(2)], r.Uint32())
		}, 10, 11100},
	} {
		t.Run(v.name, func(t *testing.T) {
			rows := make([]any, 2000)
			for row := range rows {
				rows[row] = v.value()
			}
			data, ok, err := new(encode.Encoder).AppendKind(nil, columnOf(column.Bytes, rows, false), column.PrefixBytes)
			require.NoError(t, err)
			require.True(t, ok)
			require.LessOrEqual(t, len(data), v.most)
			got, err := column.Decode(data, "c", column.Bytes, len(rows), plain)
			require.NoError(t, err)
			require.Equal(t, rows, rowsOf(got))
			require.Equal(t, v.prefixes, column.NumPrefixes(t, data, len(rows)))
		})
	}
}

// TestParallel encodes and decodes in several goroutines, with the same result.
func TestParallel(t *testing.T) {
	all := examples(t)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			e, d := &encode.Encoder{}, &column.Decoder{}
			for _, x := range all {
				c, err := d.Decode(x.data, "c", x.typ, x.rows, plain)
				assert.NoError(t, err)
				first, _, err := e.Append(nil, c)
				assert.NoError(t, err)
				again, _, err := new(encode.Encoder).Append(nil, c)
				assert.NoError(t, err)
				assert.Equal(t, first, again)
			}
		})
	}
	wait.Wait()
}
