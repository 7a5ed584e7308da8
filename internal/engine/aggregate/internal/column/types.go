package column

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// TakePlain takes rows of a column, without dictionaries and other wrappers.
func TakePlain(mem memory.Allocator, c arrow.Array, rows []int64) (arrow.Array, error) {
	taken, err := arrowutil.Take(mem, c, rows)
	if err != nil {
		return nil, err
	}
	defer taken.Release()
	return arrowutil.Plain(mem, taken)
}

// SizeOf is about the number of bytes of an array.
func SizeOf(arr arrow.Array) int64 { return int64(arr.Data().SizeInBytes()) }
