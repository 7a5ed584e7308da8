package write

import (
	"cmp"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
)

// permuter changes the order of rows. It keeps memory for the next column.
type permuter struct {
	p       []uint32 // row i of the result is row p[i]
	inverse []uint32
	value   []uint32 // of rows, their numbers among those with a value
	picked  []pick
}

// pick is a row of the result, and the number of its value.
type pick struct{ row, k uint32 }

// use sets the permutation.
func (m *permuter) use(p []uint32) {
	m.p = p
	m.inverse = slices.Grow(m.inverse[:0], len(p))[:len(p)]
	for i, row := range p {
		m.inverse[row] = uint32(i)
	}
}

// block gives the rows of a block in the order of a permutation.
func (m *permuter) block(b otlp.Block, p []uint32) otlp.Block {
	m.use(p)
	out := otlp.Block{Rows: b.Rows, Columns: make([]*column.Column, len(b.Columns))}
	for i, c := range b.Columns {
		out.Columns[i] = m.apply(c)
	}
	return out
}

// sparse is how many times as many rows as values a column has for which only the rows with a value are looked at.
const sparse = 16

// apply gives a column with its rows in the new order. Values of a column with codes are those of c.
func (m *permuter) apply(c *column.Column) *column.Column {
	out := &column.Column{Name: c.Name, Type: c.Type, Rows: c.Rows, PackedUUID: c.PackedUUID}
	order := m.p
	if c.Present != nil {
		order, out.Present = m.present(c)
	}
	if c.Codes != nil {
		out.Codes, out.Values = gather(c.Codes, order), c.Values
		return out
	}
	out.Values = column.Pick(&c.Values, order)
	return out
}

// present gives the numbers of the values of a column in the new order, and the new bitmap.
func (m *permuter) present(c *column.Column) (order []uint32, bitmap []byte) {
	bitmap = make([]byte, len(c.Present))
	count := c.PresentCount()
	if count*sparse < c.Rows {
		m.picked = m.picked[:0]
		for row, k := range c.Ranks() {
			m.picked = append(m.picked, pick{m.inverse[row], uint32(k)})
		}
		slices.SortFunc(m.picked, func(a, b pick) int { return cmp.Compare(a.row, b.row) })
		order = make([]uint32, 0, count)
		for _, v := range m.picked {
			bitmap[v.row/8] |= 1 << (v.row % 8)
			order = append(order, v.k)
		}
		return order, bitmap
	}
	m.value = slices.Grow(m.value[:0], c.Rows)[:c.Rows]
	for row, k := range c.Ranks() {
		m.value[row] = uint32(k)
	}
	order = make([]uint32, 0, count)
	for i, row := range m.p {
		if c.Present[row/8]>>(row%8)&1 != 0 {
			bitmap[i/8] |= 1 << (i % 8)
			order = append(order, m.value[row])
		}
	}
	return order, bitmap
}

func gather[T any](from []T, order []uint32) []T {
	out := make([]T, len(order))
	for i, k := range order {
		out[i] = from[k]
	}
	return out
}
