package stripe

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Bytes that the file does not hold are limited by what makes sense: a few bytes
// of a constant, a run or a bomb could ask for any memory.
const (
	// maxBlockValues bounds the values of a block, or its bytes of bits. Writers
	// put at most 65,536 into one.
	maxBlockValues = 1 << 20
	// maxFree bounds an array of constants or nulls that take no bytes at all.
	maxFree = 256 << 20
	// smallBlock is what any block may decode to, and expansion how many times
	// its size a larger one, unless ReadOptions.MaxBlockBytes says otherwise.
	smallBlock = 64 << 20
	expansion  = 256
	largeBlock = 1 << 30
)

// blockBytes is what a block of size bytes may decode to.
func (o *ReadOptions) blockBytes(size int) int64 {
	if o.MaxBlockBytes > 0 {
		return o.MaxBlockBytes
	}
	return min(max(smallBlock, expansion*int64(size)), largeBlock)
}

// checkItems checks that an array may have n items below it. Each takes a bit at
// least, most take bytes, which readers of those count themselves.
func (o *ReadOptions) checkItems(n int64) error {
	if n < 0 || n > o.MaxArrayBytes || n > math.MaxInt {
		return ErrBatchTooLarge
	}
	return nil
}

// checkFree checks that n values of which the file holds no bytes may take size
// bytes each.
func (o *ReadOptions) checkFree(n, size int64) error {
	if n > min(o.MaxArrayBytes, maxFree)/max(size, 1) {
		return ErrBatchTooLarge
	}
	return nil
}

// checkBlock checks the number of values of a block.
func checkBlock(n int) error {
	if n > maxBlockValues {
		return fault.Limitf("block of %d values, more than %d", n, maxBlockValues)
	}
	return nil
}

// nullBytes is what a null of type dt takes in an array, in buffers of its own
// and of its children.
func nullBytes(dt arrow.DataType) int64 {
	const most = 1 << 40
	switch dt := dt.(type) {
	case arrow.ExtensionType:
		return nullBytes(dt.StorageType())
	case *arrow.FixedSizeListType:
		return min(1+int64(dt.Len())*min(nullBytes(dt.Elem()), most), most)
	case *arrow.StructType:
		size := int64(1)
		for _, f := range dt.Fields() {
			size = min(size+nullBytes(f.Type), most)
		}
		return size
	case arrow.FixedWidthDataType:
		return 1 + int64(dt.Bytes())
	}
	return 17 // offsets or a view header
}
