package valuedict

import (
	"context"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/storage"
)

// buffer is a buffer without blocks that is not read yet.
type buffer struct {
	reader      storage.Reader
	kind        string
	start, size int64  // in bytes
	sum         []byte // checksum of the whole buffer; none in buffers of other writers
}

// openBuffer finds a buffer of a node, which name is for errors; it reads nothing of it. One of more than most bytes is an error.
func openBuffer(ctx context.Context, src stripe.Source, node blocks.Node, b *shardpb.EncodedBuffer, name string, most int64) (*buffer, error) {
	r, err := src.Artifact(ctx, node.ID, b.GetBuffer())
	if err != nil {
		return nil, err
	}
	size, err := r.Size(ctx)
	if err != nil {
		return nil, err
	}
	o := &buffer{reader: r, kind: b.GetKind().String(), sum: b.GetChecksums()}
	start, end, err := blocks.RangeOf(b.GetBuffer(), size)
	if err != nil {
		return nil, o.wrap(err)
	}
	if o.start, o.size = start, end-start; o.size > most {
		return nil, o.wrap(fault.Limitf("%s of %d bytes", name, o.size))
	}
	return o, nil
}

// wrap adds the buffer and its artifact to an error.
func (b *buffer) wrap(err error) error {
	return fault.Of(fault.InBuffer(err, b.kind, b.start), b.reader.Name())
}

// Size is the size of the buffer in bytes.
func (b *buffer) Size() int64 { return b.size }
