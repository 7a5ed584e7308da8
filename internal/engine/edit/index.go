package edit

import (
	"context"
	"errors"
	"io"

	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/indexing"
	"github.com/amudai/amudai-go/internal/format/shardwriter"
)

// WriteIndex writes the artifacts of an index, and returns its complete description.
func WriteIndex(ctx context.Context, w *shardwriter.Writer, p *indexing.Plan, a *indexing.Artifacts) (*shardpb.IndexDescriptor, error) {
	d := proto.Clone(p.Descriptor).(*shardpb.IndexDescriptor)
	size := uint64(0)
	for i, s := range a.Spools {
		ref, err := w.WriteArtifact(ctx, s.Size(), func(out io.Writer) error {
			_, err := s.WriteTo(out)
			return err
		})
		if err != nil {
			return nil, err
		}
		d.Artifacts = append(d.Artifacts, &shardpb.IndexArtifact{Name: a.Names[i], DataRef: ref})
		size += uint64(s.Size())
	}
	d.IndexSize = &size
	return d, nil
}

// Builder builds an index of a stripe, or with fault.None of the whole shard.
type Builder func(p *indexing.Plan, stripe int) (*indexing.Artifacts, error)

// AddIndexes builds indexes and adds them to a root.
func (r *Root) AddIndexes(ctx context.Context, plans []*indexing.Plan, build Builder) error {
	for _, p := range plans {
		if !p.PerStripe {
			if err := r.AddIndex(ctx, fault.None, p, build); err != nil {
				return err
			}
			continue
		}
		for i := range r.StripeIndexes {
			if err := r.AddIndex(ctx, i, p, build); err != nil {
				return err
			}
		}
	}
	return nil
}

// AddIndex builds an index of a stripe, or with fault.None of the whole shard, and adds it to a root.
func (r *Root) AddIndex(ctx context.Context, stripe int, p *indexing.Plan, build Builder) error {
	a, err := build(p, stripe)
	if err != nil {
		return err
	}
	d, err := WriteIndex(ctx, r.Writer, p, a)
	if err := errors.Join(err, a.Close()); err != nil {
		return err
	}
	if stripe == fault.None {
		r.Indexes = append(r.Indexes, d)
	} else {
		r.StripeIndexes[stripe] = append(r.StripeIndexes[stripe], d)
	}
	return nil
}

// Drop removes indexes, and returns them with the stripes that they are of, fault.None for the whole shard.
func (r *Root) Drop(drop func(stripe, i int) bool) (dropped []Dropped) {
	without := func(stripe int, all []*shardpb.IndexDescriptor) (kept []*shardpb.IndexDescriptor) {
		for i, d := range all {
			if drop(stripe, i) {
				dropped = append(dropped, Dropped{stripe, d})
			} else {
				kept = append(kept, d)
			}
		}
		return kept
	}
	r.Indexes = without(fault.None, r.Indexes)
	for i, all := range r.StripeIndexes {
		r.StripeIndexes[i] = without(i, all)
	}
	return dropped
}

// Dropped is an index that was removed.
type Dropped struct {
	Stripe     int
	Descriptor *shardpb.IndexDescriptor
}
