package stripe

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/arrowmap"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/internal/bitmap"
	"github.com/amudai/amudai-go/stats"
)

// structWriter writes structs and fixed-size lists: nothing of its own but a
// PRESENCE buffer if a value is null (shard.md §7.3).
type structWriter struct {
	ctx      *nodeContext
	id       uint32
	children []nodeWriter
	valid    presenceWriter
	stats    stats.Presence
}

func newStructWriter(c *nodeContext, col *arrowmap.Column) (*structWriter, error) {
	w := &structWriter{ctx: c, id: col.ID}
	var err error
	w.children, err = newChildWriters(c, col)
	return w, err
}

func (w *structWriter) write(arr arrow.Array) error {
	arr, err := w.ctx.plain(arr)
	if err != nil {
		return err
	}
	defer arr.Release()
	w.addPresence(arrowutil.Validity(arr))
	switch a := arr.(type) {
	case *array.Struct:
		for i, child := range w.children {
			if err := child.write(a.Field(i)); err != nil {
				return err
			}
		}
		return nil
	case *array.FixedSizeList:
		size := int64(a.DataType().(*arrow.FixedSizeListType).Len())
		from := int64(a.Data().Offset()) * size
		items := array.NewSlice(a.ListValues(), from, from+int64(a.Len())*size)
		defer items.Release()
		return w.children[0].write(items)
	}
	return fmt.Errorf("array of type %s for a struct", arr.DataType())
}

func (w *structWriter) addPresence(valid bitmap.Bits) {
	w.stats.Add(valid)
	w.valid.add(valid)
}

func (w *structWriter) finish(out []Node) ([]Node, error) {
	var err error
	for _, child := range w.children {
		if out, err = child.finish(out); err != nil {
			return nil, err
		}
	}
	node := Node{ID: w.id, Field: &shardpb.FieldDescriptor{}}
	w.stats.Fill(node.Field)
	node.Buffers, err = w.valid.finish(w.ctx, nil)
	return append(out, node), err
}

func (w *structWriter) release() {
	w.valid.bits.out.release()
	for _, child := range w.children {
		child.release()
	}
}
