package read

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/amudai/amudai-go/table/parquet/internal/convert"
)

const (
	int96Size = 12
	sparkKey  = "org.apache.spark.version"
)

// findUnits finds the units of the INT96 leaves among the columns at paths.
func (f *File) findUnits(ctx context.Context, paths []string) (err error) {
	done := f.at.open(&window{ctx: ctx, to: math.MaxInt64})
	defer done()
	for _, leaf := range f.leavesOf(paths) {
		if _, ok := f.units[leaf]; !ok {
			continue
		}
		f.units[leaf] = arrow.Microsecond
		if f.meta().KeyValueMetadata().FindValue(sparkKey) == nil {
			if f.units[leaf], err = f.int96Unit(ctx, leaf); err != nil {
				return err
			}
		}
	}
	return nil
}

// int96Unit returns the finest unit that holds all values of a leaf.
func (f *File) int96Unit(ctx context.Context, leaf int) (arrow.TimeUnit, error) {
	units := []arrow.TimeUnit{arrow.Nanosecond, arrow.Microsecond, arrow.Millisecond}
	fits := [3]bool{true, true, true}
	values := make([]pq.FixedLenByteArray, 4096)
	levels := make([]int16, 2*len(values))
	for g := range f.file.NumRowGroups() {
		column, err := f.file.RowGroup(g).Column(leaf)
		if err != nil {
			return 0, err
		}
		chunk, ok := column.(*file.FixedLenByteArrayColumnChunkReader)
		if !ok {
			return 0, fmt.Errorf("row group %d: column chunk %d is not INT96", g, leaf)
		}
		for chunk.HasNext() {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			total, n, err := chunk.ReadBatch(int64(len(values)), values, levels[:len(values)], levels[len(values):])
			if err != nil {
				return 0, fmt.Errorf("row group %d: %w", g, err)
			}
			if total == 0 {
				break
			}
			for i := range values[:n] {
				for k, unit := range units {
					if fits[k] {
						_, fits[k] = convert.Int96Time(values[i], unit)
					}
				}
			}
		}
		if err := chunk.Err(); err != nil {
			return 0, fmt.Errorf("row group %d: %w", g, err)
		}
	}
	for k, unit := range units {
		if fits[k] {
			return unit, nil
		}
	}
	return arrow.Nanosecond, nil // reading returns the error
}
