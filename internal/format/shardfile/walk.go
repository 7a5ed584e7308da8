package shardfile

import (
	"context"
	"fmt"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// MessageRef is the place of a framed message of the metadata.
type MessageRef struct {
	Element  string         // what it is, such as "stripe 2/field 7"
	Artifact storage.Reader // that holds it
	Range    Range          // of the frame
}

// Messages calls visit for every message that the shard refers to, the directory
// first. What is wrong with a reference itself, or with a list that is needed to
// find others, is given as err. Nothing is known of the messages; visit reads
// them. An error of visit ends the walk.
func (f *File) Messages(ctx context.Context, visit func(m MessageRef, err error) error) error {
	d := f.directory
	if f.directoryRange.End > 0 {
		m := MessageRef{"directory", f.root, Range{f.directoryRange.Start, f.directoryRange.End - lengthSize}}
		if err := visit(m, nil); err != nil {
			return err
		}
	}
	for _, e := range []struct {
		name string
		ref  *commonpb.DataRef
	}{
		{"schema", d.GetSchemaRef()}, {"stripe list", d.GetStripeListRef()}, {"url list", d.GetUrlListRef()},
		{"properties", d.GetPropertiesRef()}, {"indexes", d.GetIndexesRef()}, {"field list", d.GetFieldListRef()},
	} {
		if err := f.visitRef(ctx, f.root, e.ref, e.name, visit); err != nil {
			return err
		}
	}
	if !isAbsent(d.GetFieldListRef()) {
		list, err := f.fieldList(ctx)
		if err := f.visitList(ctx, list, err, "", true, visit); err != nil {
			return err
		}
	}
	for _, s := range f.stripes {
		if err := s.visit(ctx, visit); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stripe) visit(ctx context.Context, visit func(MessageRef, error) error) error {
	for _, e := range []struct {
		name string
		ref  *commonpb.DataRef
	}{
		{"properties", s.directory.PropertiesRef}, {"indexes", s.directory.IndexesRef}, {"field list", s.directory.FieldListRef},
	} {
		if err := s.f.visitRef(ctx, s.anchor, e.ref, s.element(e.name), visit); err != nil {
			return err
		}
	}
	list, err := s.fieldList(ctx)
	return s.f.visitList(ctx, list, err, fmt.Sprintf("stripe %d/", s.index), false, visit)
}

// visitList visits the messages of a field list, or tells why it cannot be read.
// self says that absolute URLs mean the shard itself (docs/format.md §2.5).
func (f *File) visitList(ctx context.Context, l *fieldList, err error, prefix string, self bool, visit func(MessageRef, error) error) error {
	if err != nil {
		return visit(MessageRef{Element: prefix + "field list"}, err)
	}
	for i := range l.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		url, start, end := l.At(i)
		if self && url != "" {
			if url, err = f.ownURL(url); err != nil {
				if err := visit(MessageRef{Element: prefix + fieldElement(uint32(i))}, fault.Of(err, l.at.Name())); err != nil {
					return err
				}
				continue
			}
		}
		ref := &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{Start: start, End: end}}
		if err := f.visitRef(ctx, l.at, ref, prefix+fieldElement(uint32(i)), visit); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) visitRef(ctx context.Context, anchor *artifact, ref *commonpb.DataRef, element string, visit func(MessageRef, error) error) error {
	if isAbsent(ref) {
		return nil
	}
	at, err := f.artifact(ctx, anchor, ref.GetUrl())
	if err != nil {
		return visit(MessageRef{Element: element}, fault.Of(fault.In(err, element, -1), anchor.Name()))
	}
	start, end, err := f.checkFrame(at, ref.GetRange().GetStart(), ref.GetRange().GetEnd())
	return visit(MessageRef{element, at, Range{start, end}}, fault.Of(fault.In(err, element, -1), at.Name()))
}

// FieldURL is the url by which the shard's field list refers to the descriptor of
// a schema id, as it is stored.
func (f *File) FieldURL(ctx context.Context, id uint32) (string, error) {
	l, err := f.fieldList(ctx)
	if err != nil || uint64(id) >= uint64(l.Len()) {
		return "", err
	}
	url, _, _ := l.At(int(id))
	return url, nil
}
