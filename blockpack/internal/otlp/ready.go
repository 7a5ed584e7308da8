package otlp

import "github.com/amudai/amudai-go/blockpack/internal/column"

// fill is where blocks of the spans end, as far as these were looked at.
type fill struct {
	rows  int   // that were looked at
	begin int   // of the last block
	bytes int64 // of its values
	ends  []int
}

// Ready gives the ends of the full blocks of the spans: a block has so many rows, or as few as have bytes of values or more. What a resource
// or scope has does not count. The ends depend on the spans only, not on how they came.
func (b *Builder) Ready(rows int, bytes int64) []int {
	f := &b.fill
	for f.rows < b.rows {
		f.bytes += int64(b.sizes[f.rows])
		f.rows++
		if f.rows-f.begin >= rows || f.bytes >= bytes {
			f.ends = append(f.ends, f.rows)
			f.begin, f.bytes = f.rows, 0
		}
	}
	return f.ends
}

// addSizes adds the sizes of the strings and bytes of rows.
func (b *Builder) addSizes(columns []*column.Column, rows int) {
	first := len(b.sizes)
	b.sizes = append(b.sizes, make([]uint32, rows)...)
	sizes := b.sizes[first:]
	for _, c := range columns {
		if scope, _, _ := scopeOf(c.Name); scope != ofSpan || !c.Type.Textual() {
			continue
		}
		for i, k := range c.Each() {
			sizes[i] += uint32(len(c.Values.Bytes(k)))
		}
	}
}
