package edit

import (
	"context"
	"errors"
	"io"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/indexing"
	"github.com/amudai/amudai-go/internal/format/shardwriter"
)

// WriteIndex writes the artifacts of an index, and returns its complete description.
func WriteIndex(ctx context.Context, w *shardwriter.Writer, p *indexing.Plan, a *indexing.Artifacts) (*shardpb.IndexDescriptor, error) {
	d := p.Descriptor
	d.Artifacts = nil
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

// AddIndexes builds indexes and adds them to a root.
func (r *Root) AddIndexes(ctx context.Context, plans []*indexing.Plan, build func(*indexing.Plan) (*indexing.Artifacts, error)) error {
	for _, p := range plans {
		a, err := build(p)
		if err != nil {
			return err
		}
		d, err := WriteIndex(ctx, r.Writer, p, a)
		if err := errors.Join(err, a.Close()); err != nil {
			return err
		}
		r.Indexes = append(r.Indexes, d)
	}
	return nil
}

// Drop removes the chosen indexes, and returns their number.
func (r *Root) Drop(chosen []bool) (n int) {
	kept := r.Indexes[:0]
	for i, d := range r.Indexes {
		if chosen[i] {
			n++
		} else {
			kept = append(kept, d)
		}
	}
	r.Indexes = kept
	return n
}
