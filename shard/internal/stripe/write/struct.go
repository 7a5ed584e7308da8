package write

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// structWriter writes structs and fixed-size lists: nothing of its own but a
// PRESENCE buffer if a value is null (docs/format.md §5.4).
type structWriter struct {
	ctx      *buffers.Context
	id       uint32
	children childWriters
	valid    buffers.PresenceWriter
	stats    stats.Presence
}

func newStructWriter(c *buffers.Context, col *arrowmap.Column) (*structWriter, error) {
	w := &structWriter{ctx: c, id: col.ID}
	var err error
	w.children, err = newChildWriters(c, col)
	return w, err
}

func (w *structWriter) write(arr arrow.Array) error {
	arr, err := w.ctx.Plain(arr)
	if err != nil {
		return err
	}
	defer arr.Release()
	valid := arrowutil.Validity(arr)
	w.addPresence(valid)
	switch a := arr.(type) {
	case *array.Struct:
		for i, child := range w.children {
			if err := writeMasked(w.ctx, child, a.Field(i), valid); err != nil {
				return err
			}
		}
		return nil
	case *array.FixedSizeList:
		items := fixedItems(a)
		defer items.Release()
		return writeMasked(w.ctx, w.children[0], items, repeatBits(valid, a))
	}
	return fmt.Errorf("array of type %s for a struct", arr.DataType())
}

// writeMasked writes a child's values, null wherever the parent is: what lies
// under a null parent may be garbage that does not even convert.
func writeMasked(c *buffers.Context, child nodeWriter, arr arrow.Array, valid bitmap.Bits) error {
	if valid.Data == nil {
		return child.write(arr)
	}
	masked, err := arrowutil.Mask(c.Mem, arr, valid)
	if err != nil {
		return err
	}
	defer masked.Release()
	return child.write(masked)
}

// fixedItems is the items of a's lists; the caller releases it.
func fixedItems(a *array.FixedSizeList) arrow.Array {
	size := int64(a.DataType().(*arrow.FixedSizeListType).Len())
	from := int64(a.Data().Offset()) * size
	return array.NewSlice(a.ListValues(), from, from+int64(a.Len())*size)
}

// repeatBits is the validity of each item's list.
func repeatBits(valid bitmap.Bits, a *array.FixedSizeList) bitmap.Bits {
	size := int(a.DataType().(*arrow.FixedSizeListType).Len())
	if valid.Data == nil {
		return bitmap.All(valid.Len * size)
	}
	out := bitmap.Bits{Data: make([]byte, (valid.Len*size+7)/8), Len: valid.Len * size}
	for i := range valid.Len {
		if valid.At(i) {
			bitmap.SetRange(out.Data, i*size, size)
		}
	}
	return out
}

func (w *structWriter) addPresence(valid bitmap.Bits) {
	w.stats.Add(valid)
	w.valid.Add(valid)
}

func (w *structWriter) finish(out []stripe.Node) ([]stripe.Node, error) {
	return w.children.finishNode(out, w.id, &w.stats, w.release, func(*shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
		return w.valid.Finish(w.ctx, nil)
	})
}

func (w *structWriter) release() {
	w.valid.Release()
	w.children.release()
}
