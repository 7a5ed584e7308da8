package write

import (
	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

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
