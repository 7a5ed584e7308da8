package write

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
)

// variant is a union, or the struct of a tag and alternatives that stands for one.
type variant struct {
	c     *col
	tags  [128]int8 // number of the alternative, from 1, by type code; 0 for none, -1 for codes that the union lacks
	kids  []*field  // alternatives
	child []int     // of the array, by alternative
	items []int32   // of the cluster, by alternative
	name  string
}

func (n *variant) reset() {
	clear(n.items)
	for _, k := range n.kids {
		k.reset()
	}
}

func (n *variant) append(e *encoder, arr arrow.Array, rows spans) error {
	switch a := arr.(type) {
	case *array.Struct:
		tags := a.Field(0).(*array.Uint8)
		return n.put(e, rows, func(i int) (byte, int) { return tags.Value(i), i }, a.Field)
	case *array.SparseUnion:
		return n.put(e, rows, func(i int) (byte, int) { return byte(a.TypeCode(i)), i }, a.Field)
	case *array.DenseUnion:
		return n.put(e, rows, func(i int) (byte, int) { return byte(a.TypeCode(i)), int(a.ValueOffset(i)) }, a.Field)
	}
	return in(fault.Unsupportedf("an array of type %v as a variant", arr.DataType()), n.name)
}

// put appends the values that at gives the type codes and the places of.
func (n *variant) put(e *encoder, rows spans, at func(row int) (code byte, place int), child func(i int) arrow.Array) error {
	places := make([]spans, len(n.kids))
	for _, r := range rows {
		for from := r.from; from < r.to; {
			k, err := n.c.room(e, r.to-from)
			if err != nil {
				return err
			}
			out := n.c.buf[:n.c.n*switchSize]
			for row := from; row < from+k; row++ {
				code, place := at(row)
				if code >= 128 || n.tags[code] < 0 {
					return in(fault.Unsupportedf("type code %d, which the union lacks", int8(code)), n.name)
				}
				tag, item := n.tags[code], int32(0)
				if tag > 0 {
					if place < 0 || place >= child(n.child[tag-1]).Len() {
						return in(arrowutil.ErrMalformed, n.name)
					}
					if item = n.items[tag-1]; item == math.MaxInt32 {
						return in(fault.Limitf("a cluster with more than %d values of an alternative", math.MaxInt32), n.name)
					}
					n.items[tag-1]++
					places[tag-1] = places[tag-1].add(place, place+1)
				}
				out = column.AppendSwitch(out, []int8{tag}, []int32{item})
			}
			n.c.staged(k)
			from += k
		}
	}
	for i, kid := range n.kids {
		if len(places[i]) == 0 {
			continue
		}
		if err := kid.put(e, child(n.child[i]), places[i]); err != nil {
			return err
		}
	}
	return nil
}

const switchSize = 12
