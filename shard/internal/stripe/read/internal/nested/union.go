package nested

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// Union reads a union node, whose alternatives have its positions.
type Union struct {
	Alternatives Struct
	Chosen       Node // the number of the alternative
}

// Need implements [Node].
func (r *Union) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.Alternatives.Need(w, rows, add)
	r.Chosen.Need(w, rows, add)
}

// Read implements [Node].
func (r *Union) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	chosen, err := r.Chosen.Read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	defer chosen.Release()
	dt := r.Alternatives.Type.(arrow.UnionType)
	codes, err := typeCodes(w, dt, chosen)
	if err != nil {
		return nil, err
	}
	children, err := ReadAll(ctx, w, rows, r.Alternatives.Children)
	if err != nil {
		codes.Release()
		return nil, err
	}
	defer arrowutil.ReleaseAll(children)
	return arrowutil.Union(w.Limits.Allocator, dt, codes, children), nil
}

// typeCodes are the codes of alternatives by their numbers.
func typeCodes(w *work.Worker, dt arrow.UnionType, chosen arrow.Array) (*memory.Buffer, error) {
	codes, all := arrowutil.NewBuffer(w.Limits.Allocator, chosen.Len()), dt.TypeCodes()
	for i, k := range arrowutil.Values[uint8](chosen) {
		if int(k) >= len(all) {
			codes.Release()
			return nil, fault.Corruptf("alternative %d of a union of %d at row %d of those asked for", k, len(all), i)
		}
		codes.Bytes()[i] = byte(all[k])
	}
	return codes, nil
}
