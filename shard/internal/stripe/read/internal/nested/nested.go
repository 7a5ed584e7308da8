// Package nested reads nodes with nodes below them: structs, lists, maps and unions.
package nested

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// Node reads one schema node and those below it. It may be used concurrently, as scratch memory belongs to the
// worker.
type Node interface {
	// Read returns the values of a set of positions, in order.
	Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error)
	// Need returns the byte ranges for that, as far as they are known in advance.
	Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange))
}

// Unknown is a number of positions that only the data determine.
const Unknown = -1

// ReadAll reads the same rows of several nodes. The caller releases the arrays.
func ReadAll(ctx context.Context, w *work.Worker, rows rowset.Set, nodes []Node) ([]arrow.Array, error) {
	var out []arrow.Array
	for _, n := range nodes {
		arr, err := n.Read(ctx, w, rows)
		if err != nil {
			arrowutil.ReleaseAll(out)
			return nil, err
		}
		out = append(out, arr)
	}
	return out, nil
}
