package layout

import (
	"errors"

	"github.com/amudai/amudai-go/blockpack/internal/column"
)

var errStub = errors.New("not written yet")

// RangeOptions control the building of a range index.
type RangeOptions struct {
	Buckets int   // most keys of a column; 0: 1000
	Budget  int64 // bytes of the index; 0: 2 % of the data, at least 64 KiB
	Exclude func(name string) bool
	// Distinct is the number of distinct values of a column up to which each value's blocks are known; 0: 100,000.
	Distinct int
}

// RangeBuilder builds a range index block by block.
type RangeBuilder struct{}

// NewRangeBuilder returns an empty builder.
func NewRangeBuilder(o RangeOptions) *RangeBuilder { return &RangeBuilder{} }

// AddBlock adds the values of the columns of the next block.
func (b *RangeBuilder) AddBlock(columns []*column.Column) {}

// Finish appends the range index of all blocks, with the mark of the writer, and the list of the columns of the file.
// dataBytes is the size of all blocks.
func (b *RangeBuilder) Finish(dst []byte, dataBytes int64, mark string, columns []FileColumn) ([]byte, error) {
	return dst, errStub
}
