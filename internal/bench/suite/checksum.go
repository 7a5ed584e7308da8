package suite

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// checksum is a hash of every column of a result. It depends on the values, bit by bit, and their order, but
// neither on batches nor on the layout.
type checksum struct {
	columns []*xxh3.Hasher
	slot    []byte
}

// slots encodes values with their lengths before them.
var slots = arrowutil.Bits(func(dst []byte, n int64) []byte { return binary.AppendUvarint(dst, uint64(n)) })

func (c *checksum) add(b arrow.RecordBatch) {
	for i, col := range b.Columns() {
		if i == len(c.columns) {
			c.columns = append(c.columns, xxh3.New())
			_, _ = c.columns[i].WriteString(b.ColumnName(i))
		}
		appendSlot := slots.Marked(col)
		for row := range col.Len() {
			c.slot = appendSlot(c.slot[:0], row)
			_, _ = c.columns[i].Write(c.slot)
		}
	}
}

// equal reports whether two results are the same.
func (c *checksum) equal(o *checksum) bool {
	return slices.EqualFunc(c.columns, o.columns, func(a, b *xxh3.Hasher) bool { return a.Sum64() == b.Sum64() })
}
