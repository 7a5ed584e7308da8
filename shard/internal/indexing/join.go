package indexing

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/storage"
)

// Part is a stored index of some rows, such as those of a stripe, or of a shard that becomes part of another.
type Part struct {
	Descriptor *shardpb.IndexDescriptor // with the schema ids of the plan
	Artifacts  []storage.ByteRange
	Rows       int64
}

// Join makes the index of the rows of all parts, one after the other, without reading any of these. The error wraps [index.ErrCannotJoin] if that is not possible, because the kind of
// index cannot be joined, parts are of other definitions, or do not know enough; then the index is to be built. Other errors tell that a part is damaged, and
// which. All parts are open at once.
func (p *Plan) Join(ctx context.Context, parts []Part, o Options) (*Built, error) {
	kind, ok := p.Kind.(index.Joiner)
	if !ok {
		return nil, fmt.Errorf("%s: %w", p.Kind.Type(), index.ErrCannotJoin)
	}
	rows, segments := int64(0), make([]index.Segment, len(parts))
	for i, part := range parts {
		if !index.SameDefinition(p.Descriptor, part.Descriptor) {
			return nil, fmt.Errorf("%s: part %d has another definition: %w", p.Kind.Type(), i, index.ErrCannotJoin)
		}
		segments[i].First = rows
		rows += part.Rows
	}
	err := parallel.Each(ctx, len(parts), cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0)), func(ctx context.Context, i int) (err error) {
		segments[i].Index, err = p.openPart(ctx, parts[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.write(ctx, rows, o, func(create func(string) io.Writer) error {
		return kind.Join(ctx, p.Descriptor, index.JoinOptions{Rows: rows, BuildOptions: o.build(1)}, segments, create)
	})
}

func (p *Plan) openPart(ctx context.Context, part Part) (index.Index, error) {
	x, err := p.Kind.Open(ctx, part.Descriptor, part.Artifacts, part.Rows)
	if err == nil {
		err = index.CheckIdentity(part.Descriptor, x)
	}
	if err != nil && len(part.Artifacts) == 1 {
		err = fault.Of(err, part.Artifacts[0].Reader.Name())
	}
	return x, fault.In(err, p.Kind.Type(), -1)
}
