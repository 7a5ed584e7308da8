package shardfile

import (
	"bytes"
	"context"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/message"
	"github.com/amudai/amudai-go/storage"
)

const copiesElement = "copies of descriptors"

// copiesRef refers to the copies; it is absent if there are none.
func (f *File) copiesRef(ctx context.Context) (*commonpb.DataRef, error) {
	p, err := f.Properties(ctx)
	for _, q := range p.GetStandardProperties() {
		if q.GetName() == PropertyDescriptors {
			at := &commonpb.UInt64Range{Start: 1} // no valid range
			if l := q.GetValue().GetListValue().GetElements(); len(l) == 2 {
				at.Start, at.End = uint64(l[0].GetI64Value()), uint64(l[1].GetI64Value())
			}
			return &commonpb.DataRef{Range: at}, nil
		}
	}
	return nil, err
}

// copyOf is a copy of the frames of the descriptors and the field list of a stripe, if there is one and requests are slow.
func (f *File) copyOf(ctx context.Context, at *artifact, stripe int) ([]byte, error) {
	if stripe == fault.None || at != f.root || at.r.Capabilities().Latency != storage.LatencyHigh {
		return nil, nil
	}
	all, err := f.copies.Get(ctx, func() ([][]byte, error) { return f.readCopies(ctx) })
	if err != nil || all == nil {
		return nil, err
	}
	return all[stripe], nil
}

func (f *File) readCopies(ctx context.Context) (all [][]byte, err error) {
	ref, err := f.copiesRef(ctx)
	if err != nil || isAbsent(ref) {
		return nil, err
	}
	payload, at, err := f.frame(ctx, f.root, ref, copiesElement, binding{})
	if err != nil {
		return nil, err
	}
	all, err = message.Unpack(payload, len(f.stripes))
	return all, at.in(err, copiesElement, ref)
}

// CheckCopies compares the copies with what they are of.
func (f *File) CheckCopies(ctx context.Context) error {
	all, err := f.readCopies(ctx)
	if err != nil {
		return err
	}
	for i, b := range all {
		at, err := f.artifact(ctx, f.stripes[i].anchor, f.stripes[i].directory.FieldListRef.GetUrl())
		if err != nil {
			return fault.InStripe(err, i)
		}
		end := int64(f.stripes[i].directory.FieldListRef.GetRange().GetEnd())
		original, err := at.read(ctx, end-int64(len(b)), end)
		if err == nil && !bytes.Equal(b, original) {
			err = fault.Corruptf("they differ from the descriptors")
		}
		if err != nil {
			return fault.InStripe(fault.In(err, copiesElement, -1), i)
		}
	}
	return nil
}
