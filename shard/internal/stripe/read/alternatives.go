package read

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// openAlternatives opens those encodings of a node that are supported. The error is that of the first one.
func (n *openNode) openAlternatives(ctx context.Context, natives []*shardpb.NativeDataEncoding) (nodeReader, error) {
	var readers []nodeReader
	var first error
	for _, native := range natives {
		other := *n
		other.field = stripe.FieldOf(n.field, native)
		r, err := other.openNative(ctx, native)
		switch {
		case err == nil:
			readers = append(readers, r)
		case !errors.Is(err, fault.ErrUnsupported):
			return nil, err
		case first == nil:
			first = err
		}
	}
	switch len(readers) {
	case 0:
		return nil, first
	case 1:
		return readers[0], nil
	}
	return alternatives(readers), nil
}

// alternatives read a node that has several encodings: the first that is supported, block by block. What is evaluated on encoded values is not
// asked of them, because a later block may need another one.
type alternatives []nodeReader

func (a alternatives) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	a[0].Need(w, rows, add)
}

func (a alternatives) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arr arrow.Array, err error) {
	for i, r := range a {
		if arr, err = r.Read(ctx, w, rows); err == nil || i == len(a)-1 || !errors.Is(err, fault.ErrUnsupported) {
			break
		}
	}
	return arr, err
}
