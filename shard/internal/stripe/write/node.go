package write

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// nodeWriter writes one schema node and those below it. It is used by one
// goroutine at a time, which holds a slot of the worker pool.
type nodeWriter interface {
	// write appends every slot of arr.
	write(arr arrow.Array) error
	// finish cuts the last blocks and appends the results, children first. After an
	// error too the results belong to the caller, and the rest to release.
	finish(out []stripe.Node) ([]stripe.Node, error)
	// release drops staged bytes, once no segment is worked on; the writer is not used afterwards.
	release()
}

// newNodeWriter makes the writer for a column of the type table.
func newNodeWriter(c *buffers.Context, col *arrowmap.Column) (nodeWriter, error) {
	switch col.Rule {
	case arrowmap.DayTime, arrowmap.MonthDayNano:
		return newIntervalWriter(c, col)
	}
	if number, ok := newNumberWriters.Of(col.Stored.Type, col.Stored.Signed); ok {
		return number(c, col)
	}
	switch t := col.Stored.Type; t {
	case schema.Boolean:
		return newBooleanWriter(c, col), nil
	case schema.Binary, schema.String, schema.Guid:
		return newBytesWriter(c, col), nil
	case schema.FixedSizeBinary:
		if col.Stored.IsDecimal() {
			return newDecimalWriter(c, col)
		}
		return newBytesWriter(c, col), nil
	case schema.List, schema.Map:
		return newListWriter(c, col)
	case schema.Struct, schema.FixedSizeList:
		return newStructWriter(c, col)
	case schema.Union:
		return newUnionWriter(c, col)
	case schema.Unit:
		return &unitWriter{id: col.ID}, nil
	default:
		return nil, fmt.Errorf("column %q: stored type %v cannot be written", col.Arrow.Name, t)
	}
}

// finishNode appends a node: without buffers if all values are equal, and what is staged is dropped then.
func finishNode(out []stripe.Node, id uint32, s stats.Collector, release func(), buffers func(f *shardpb.FieldDescriptor) ([]stripe.Buffer, error)) ([]stripe.Node, error) {
	n := stripe.Node{ID: id, Field: &shardpb.FieldDescriptor{}}
	s.Fill(n.Field)
	if n.Field.ConstantValue != nil {
		release()
		return append(out, n), nil
	}
	var err error
	n.Buffers, err = buffers(n.Field)
	return append(out, n), err
}

// childWriters are those of the children of a node.
type childWriters []nodeWriter

func newChildWriters(c *buffers.Context, col *arrowmap.Column) (childWriters, error) {
	var out childWriters
	for i := range col.Children {
		child, err := newNodeWriter(c.Of(&col.Children[i]), &col.Children[i])
		if err != nil {
			return nil, err
		}
		out = append(out, child)
	}
	return out, nil
}

// finishNode completes the children, and appends their parent behind them.
func (w childWriters) finishNode(out []stripe.Node, id uint32, s stats.Collector, release func(), buffers func(f *shardpb.FieldDescriptor) ([]stripe.Buffer, error)) ([]stripe.Node, error) {
	for _, child := range w {
		var err error
		if out, err = child.finish(out); err != nil {
			return out, err
		}
	}
	return finishNode(out, id, s, release, buffers)
}

func (w childWriters) release() {
	for _, child := range w {
		child.release()
	}
}

// unitWriter writes a node that has nothing but a length: it counts positions,
// all null, and writes no buffer (docs/format.md §5.1).
type unitWriter struct {
	id   uint32
	rows uint64
}

func (w *unitWriter) write(arr arrow.Array) error {
	w.rows += uint64(arr.Len())
	return nil
}

func (w *unitWriter) finish(out []stripe.Node) ([]stripe.Node, error) {
	return append(out, stripe.Node{ID: w.id, Field: &shardpb.FieldDescriptor{PositionCount: w.rows, NullCount: &w.rows}}), nil
}

func (w *unitWriter) release() {}
