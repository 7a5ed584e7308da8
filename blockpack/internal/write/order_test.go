package write

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
)

// row is what the rows of drawn blocks have.
type row struct {
	trace, service string // "": none
	start          uint64
	extra          []bool // attributes
}

// blockOf makes columns of rows; those of strings have codes or not.
func blockOf(rows []row, coded bool) otlp.Block {
	b := otlp.Block{Rows: len(rows)}
	add := func(name string, t column.Type, value func(r row) (v []byte, n uint64, ok bool)) {
		c := &column.Column{Name: name, Type: t, Rows: len(rows)}
		known := map[string]uint32{}
		for i, r := range rows {
			v, n, ok := value(r)
			if !ok {
				if c.Present == nil {
					c.Present = make([]byte, (len(rows)+7)/8)
					for k := range i {
						c.Present[k/8] |= 1 << (k % 8)
					}
				}
				continue
			}
			if c.Present != nil {
				c.Present[i/8] |= 1 << (i % 8)
			}
			if !t.Textual() {
				c.Values.Numbers = append(c.Values.Numbers, n)
				continue
			}
			if coded {
				code, seen := known[string(v)]
				if !seen {
					code = uint32(len(known))
					known[string(v)] = code
				}
				c.Codes = append(c.Codes, code)
				if seen {
					continue
				}
			}
			if c.Values.Offsets == nil {
				c.Values.Offsets = []uint32{0}
			}
			c.Values.Data = append(c.Values.Data, v...)
			c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
		}
		if c.Values.Len() > 0 {
			b.Columns = append(b.Columns, c)
		}
	}
	add(serviceName, column.String, func(r row) ([]byte, uint64, bool) { return []byte(r.service), 0, r.service != "" })
	for i := range 3 {
		add(fmt.Sprint("span.", i), column.String, func(r row) ([]byte, uint64, bool) { return []byte(r.trace), 0, r.extra[i] })
	}
	add(spans.Start, column.Uint64, func(r row) ([]byte, uint64, bool) { return nil, r.start, true })
	add(spans.TraceID, column.Bytes, func(r row) ([]byte, uint64, bool) { return []byte(r.trace), 0, true })
	return b
}

// texts spells the values of the rows of a block.
func texts(b otlp.Block) []string {
	out := make([]bytes.Buffer, b.Rows)
	for _, c := range b.Columns {
		for row, k := range c.Each() {
			if c.Type.Textual() {
				fmt.Fprintf(&out[row], "%s=%s ", c.Name, c.Values.Bytes(k))
			} else {
				fmt.Fprintf(&out[row], "%s=%d ", c.Name, c.Values.Numbers[k])
			}
		}
	}
	list := make([]string, b.Rows)
	for i := range list {
		list[i] = out[i].String()
	}
	return list
}

var drawRows = rapid.Custom(func(t *rapid.T) []row {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) row {
		return row{
			trace:   rapid.SampledFrom([]string{"0123456789abcdef", "0123456789abcdeg", "1123456789abcdef"}).Draw(t, "trace"),
			service: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "service"),
			start:   rapid.Uint64Range(0, 5).Draw(t, "start"),
			extra:   rapid.SliceOfN(rapid.Bool(), 3, 3).Draw(t, "extra"),
		}
	}), 1, 100).Draw(t, "rows")
})

// TestOrders checks that every order keeps all rows, as they are, and sorts them by what it says.
func TestOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows.Draw(t, "rows")
		b := blockOf(rows, rapid.Bool().Draw(t, "coded"))
		o := rapid.SampledFrom([]Order{Similar, Trace, Start, Arrival}).Draw(t, "order")
		want, keys := texts(b), []string(nil)
		for _, r := range rows {
			keys = append(keys, map[Order]string{
				Similar: r.service, Trace: r.trace + fmt.Sprint(r.start), Start: fmt.Sprint(r.start),
			}[o])
		}
		p := permutation(b, o)
		got := texts(new(encoder).sort(b, o))
		require.ElementsMatch(t, want, got)
		if o == Arrival {
			require.Nil(t, p)
			require.Equal(t, want, got)
			return
		}
		if p == nil {
			p = make([]uint32, len(rows))
			for i := range p {
				p[i] = uint32(i)
			}
		}
		require.True(t, slices.IsSortedFunc(p, func(a, b uint32) int { return bytes.Compare([]byte(keys[a]), []byte(keys[b])) }))
		for i := 1; i < len(p); i++ {
			if want[p[i-1]] == want[p[i]] {
				require.Less(t, p[i-1], p[i], "equal rows stay in order")
			}
		}
	})
}

// TestSimilarSetsAreNeighbours counts how often the presence of a column changes between rows.
func TestSimilarSetsAreNeighbours(t *testing.T) {
	var rows []row
	for i := range 1000 {
		k := i * 7 % 8
		rows = append(rows, row{trace: "0123456789abcdef", service: "a", start: uint64(i), extra: []bool{k&1 != 0, k&2 != 0, k&4 != 0}})
	}
	b := new(encoder).sort(blockOf(rows, true), Similar)
	changes := 0
	for _, c := range b.Columns {
		for i := 1; c.Present != nil && i < c.Rows; i++ {
			if c.Present[i/8]>>(i%8)&1 != c.Present[(i-1)/8]>>((i-1)%8)&1 {
				changes++
			}
		}
	}
	require.Equal(t, 1+3+7, changes, "as many as counting in binary takes")
}

// The bounds of a column do not tell in which order its values came, though both zeros are equal.
func TestBoundsOfZeros(t *testing.T) {
	const minus = 1 << 63
	for _, numbers := range [][]uint64{{0, minus}, {minus, 0}} {
		c := &column.Column{Type: column.Float64, Rows: 2, Values: column.Values{Numbers: numbers}}
		s := bounds(c)
		require.Equal(t, []uint64{minus, 0}, []uint64{s.Min.Bits, s.Max.Bits})
	}
}
