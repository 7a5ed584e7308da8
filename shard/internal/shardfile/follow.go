package shardfile

import (
	"bytes"
	"context"
	"errors"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/message"
	"github.com/amudai/amudai-go/storage"
)

// Limits of the references of a message, and of those in values that they lead to.
const (
	maxHops       = 8        // references one behind the other; a cycle has more
	maxValues     = 1024     // references
	maxValueBytes = 16 << 20 // of all values
)

// dataRefTag begins an AnyValue.data_ref, and fields of the same number in other messages.
var dataRefTag = []byte{22<<3&0x7f | 0x80 | 2, 22 >> 4}

// follow replaces the values of a message that refer to a value elsewhere by that value (docs/format.md §3.1). The message, of some payload, was
// found in an artifact. References that the policy does not allow stay.
func (f *File) follow(ctx context.Context, anchor *artifact, m proto.Message, payload []byte) error {
	if !bytes.Contains(payload, dataRefTag) {
		return nil
	}
	w := follower{file: f, values: maxValues, bytes: maxValueBytes}
	return w.message(ctx, anchor, m.ProtoReflect(), maxHops)
}

// follower follows the references of a message.
type follower struct {
	file          *File
	values, bytes int // left
}

func (w *follower) message(ctx context.Context, anchor *artifact, m protoreflect.Message, hops int) (err error) {
	if v, ok := m.Interface().(*commonpb.AnyValue); ok && v.GetDataRef() != nil {
		return w.value(ctx, anchor, v, hops)
	}
	return EachMessage(m, func(part protoreflect.Message) error { return w.message(ctx, anchor, part, hops) })
}

// EachMessage calls f for the messages in fields of a message, until an error.
func EachMessage(m protoreflect.Message, f func(protoreflect.Message) error) (err error) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() == nil:
		case fd.IsList():
			for i := 0; i < v.List().Len() && err == nil; i++ {
				err = f(v.List().Get(i).Message())
			}
		default:
			err = f(v.Message())
		}
		return err == nil
	})
	return err
}

// value replaces a reference by the value there.
func (w *follower) value(ctx context.Context, anchor *artifact, v *commonpb.AnyValue, hops int) error {
	ref := v.GetDataRef()
	if w.values--; hops == 0 || w.values < 0 {
		return anchor.in(fault.Limitf("more than %d references to values, or more than %d one behind the other", maxValues, maxHops), "value", ref)
	}
	there, at, err := w.file.Value(ctx, anchor, ref)
	if there == nil {
		return err
	}
	if w.bytes -= int(ref.Range.End - ref.Range.Start); w.bytes < 0 {
		return anchor.in(fault.Limitf("referenced values of more than %d bytes", maxValueBytes), "value", ref)
	}
	if err := w.message(ctx, at.(*artifact), there.ProtoReflect(), hops-1); err != nil {
		return err
	}
	if v.Kind = there.Kind; v.Annotation == nil {
		v.Annotation = there.Annotation
	}
	return nil
}

// Value reads the value that a reference in an artifact refers to, and returns it with its artifact; nil if the policy does not allow it.
func (f *File) Value(ctx context.Context, in storage.Reader, ref *commonpb.DataRef) (*commonpb.AnyValue, storage.Reader, error) {
	payload, at, err := f.frame(ctx, in.(*artifact), ref, "value", binding{})
	if errors.Is(err, fault.ErrUnsupported) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	there := &commonpb.AnyValue{}
	if err := message.Decode(payload, there); err != nil {
		return nil, nil, at.in(err, "value", ref)
	}
	return there, at, nil
}
