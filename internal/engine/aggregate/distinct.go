package aggregate

import (
	"bytes"
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/keys"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/spill"
	"github.com/amudai/amudai-go/internal/engine/rowfile"
)

// distinct leaves out rows whose value the group has had before. It knows the pairs of groups and values. Beyond the memory limit,
// rows of pairs that it does not know go to a spill, and follow at the end.
type distinct struct {
	o     *shared
	dt    arrow.DataType
	keyer *keys.Keyer
	spill *spill.Spill
	depth int
	whole bool // all rows that are not null are in one group: values alone are enough
	ids   []uint32
	last  uint32 // greatest number of a pair
}

func newDistinct(o *shared, dt arrow.DataType, whole bool, depth int) (*distinct, error) {
	types := []arrow.DataType{arrow.PrimitiveTypes.Uint32, dt}
	if whole {
		types = types[1:]
	}
	k, err := keys.New(o.Allocator, types, keys.Options{Room: o.limit / 16, Memory: o.limit, Rows: o.Rows})
	return &distinct{o: o, dt: dt, keyer: k, whole: whole, depth: depth}, err
}

func (d *distinct) size() int64 { return d.keyer.Size() }

func (d *distinct) release() {
	if d.keyer != nil {
		d.keyer.Release()
	}
	d.spill.Close()
	d.keyer, d.spill = nil, nil
}

// filter sets the groups of rows that are left out to none.
func (d *distinct) filter(groups []uint32, arg *argument) error {
	copied := memory.NewBufferBytes(bytes.Clone(arrowutil.Bytes(groups)))
	numbers := arrowutil.Make(arrow.PrimitiveTypes.Uint32, len(groups), []*memory.Buffer{nil, copied}, nil, 0)
	defer numbers.Release()
	d.ids = column.Resized(d.ids, len(groups))
	columns := []arrow.Array{numbers, arg.arr}
	if d.whole {
		columns = columns[1:]
	}
	if err := d.keyer.Find(d.ids, columns); err != nil {
		return err
	}
	var later []int64
	for i, id := range d.ids {
		switch {
		case id > d.last:
			d.last = id
			continue
		case id == keys.None && groups[i] != keys.None:
			later = append(later, int64(i))
		}
		groups[i] = keys.None
	}
	if later == nil {
		return nil
	}
	if d.spill == nil {
		var err error
		if d.spill, err = spill.New(d.o.spill(), []arrow.DataType{arrow.PrimitiveTypes.Uint32, d.dt}, d.depth); err != nil {
			return err
		}
	}
	// The groups of these rows are none by now, but not in the array, which has its own memory.
	return d.spill.Add([]arrow.Array{numbers, arg.arr}, later)
}

// finish calls add for the rows that went to a spill, once for each pair.
func (d *distinct) finish(ctx context.Context, arg *argument, add func(groups []uint32) error) error {
	if d.spill == nil {
		return nil
	}
	d.keyer.Release()
	d.keyer = nil
	defer d.release()
	return d.spill.Each(ctx, func(p *rowfile.File) error {
		part, err := newDistinct(d.o, d.dt, d.whole, d.depth+1)
		if err != nil {
			return err
		}
		defer part.release()
		err = p.Each(ctx, func(columns []arrow.Array, rows int) error {
			groups := append([]uint32(nil), arrowutil.Values[uint32](columns[0])...)
			if err := arg.load(d.o.Allocator, columns[1], false); err != nil {
				return err
			}
			defer arg.release()
			if err := part.filter(groups, arg); err != nil {
				return err
			}
			part.keyer.Full = part.keyer.Size() > d.o.limit && d.depth < spill.MostDepth
			return add(groups)
		})
		if err != nil {
			return err
		}
		return part.finish(ctx, arg, add)
	})
}
