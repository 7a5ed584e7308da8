package otlp

import (
	"strings"

	"github.com/amudai/amudai-go/blockpack/internal/column"
)

// fill is how many of the first spans a block is known to have room for.
type fill struct {
	rows  int
	bytes int64 // of their values
}

// Ready is the number of the first spans that fill a block: at most rows, or as few as have bytes of values or more. It is 0 while they do
// not. What a resource or scope has does not count. The result depends on the spans only, not on how they came.
func (b *Builder) Ready(rows int, bytes int64) int {
	for b.fill.rows < b.rows {
		b.fill.bytes += int64(b.sizes[b.fill.rows])
		b.fill.rows++
		if b.fill.rows >= rows || b.fill.bytes >= bytes {
			return b.fill.rows
		}
	}
	return 0
}

// addSizes adds the sizes of the strings and bytes of rows.
func (b *Builder) addSizes(columns []*column.Column, rows int) {
	first := len(b.sizes)
	b.sizes = append(b.sizes, make([]uint32, rows)...)
	sizes := b.sizes[first:]
	for _, c := range columns {
		ofSpan := !strings.HasPrefix(c.Name, "resource") && !strings.HasPrefix(c.Name, "scope")
		if !c.Type.Textual() || !ofSpan || b.strips(c.Name) {
			continue
		}
		k := 0
		for i := range sizes {
			if c.Present != nil && c.Present[i/8]>>(i%8)&1 == 0 {
				continue
			}
			at := k
			if c.Codes != nil {
				at = int(c.Codes[k])
			}
			k++
			sizes[i] += uint32(len(c.Values.Bytes(at)))
		}
	}
}
