package compact

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
)

// WithIndexes is the root of a shard with the indexes that a plan for it has left out, built anew. Another writer may have changed columns since; indexes of those that are
// gone are left out.
func (p *Plan) WithIndexes(ctx context.Context, t *shardtable.Table, r root.Root, o indexing.Options) (root.Root, error) {
	arrowSchema, err := t.ArrowSchema(ctx)
	if err != nil {
		return r, err
	}
	before := r // whose stored indexes may be joined
	return r.WithIndexes(func(stripe int, all []root.Index) ([]root.Index, error) {
		wanted := p.Indexes
		if stripe != fault.None {
			wanted = p.StripeIndexes
		}
		stored := all
		for _, d := range wanted {
			kind := index.ByType(d.GetIndexType())
			if d = p.now(d, r.Schema); d == nil || kind == nil || slices.ContainsFunc(stored, func(x root.Index) bool { return index.SameDefinition(x.Descriptor, d) }) {
				continue
			}
			plan, err := indexing.Of(r.Schema, arrowSchema, kind, d)
			if err != nil {
				return nil, err
			}
			plan.PerStripe = stripe != fault.None
			all = append(all, before.JoinStripes(plan, root.ToBuild(plan, t, stripe, o), o))
		}
		return all, nil
	})
}

// now is the definition of an index by the ids of a later schema; nil if one of its columns is gone.
func (p *Plan) now(d *shardpb.IndexDescriptor, later *schema.Schema) *shardpb.IndexDescriptor {
	d = proto.CloneOf(d)
	for _, f := range d.GetIndexedFields() {
		for i, id := range f.SchemaIds {
			path, err := indexing.PathOf(p.Root.Schema, id)
			if err != nil {
				return nil
			}
			n, err := later.Path(path)
			if err != nil {
				return nil
			}
			f.SchemaIds[i] = n.ID()
		}
	}
	return d
}

// Report says what became of a shard.
type Report struct {
	Stripes                 []int
	Before, After           int
	Rows, Deleted           int64
	Kept, Replaced, Written int64
	Rebuilt, Dropped        []string
}

// Report is that of a plan that was carried out, unless it is dry.
func (p *Plan) Report(dry bool) *Report {
	r := &Report{Stripes: p.Chosen, Before: p.before, After: p.before - len(p.Chosen) + p.built, Rows: p.rows, Deleted: p.deleted, Kept: p.kept, Replaced: p.replaced, Written: p.written}
	if dry {
		r.After += p.estimate
	}
	for _, d := range slices.Concat(p.Indexes, p.StripeIndexes) {
		to := &r.Rebuilt
		if index.ByType(d.GetIndexType()) == nil {
			to = &r.Dropped
		}
		if !slices.Contains(*to, d.GetIndexType()) {
			*to = append(*to, d.GetIndexType())
		}
	}
	return r
}

// addDefinitions adds the definitions of indexes, each once.
func addDefinitions(all []*shardpb.IndexDescriptor, more []root.Index) []*shardpb.IndexDescriptor {
	for _, x := range more {
		if !slices.ContainsFunc(all, func(d *shardpb.IndexDescriptor) bool { return index.SameDefinition(d, x.Descriptor) }) {
			all = append(all, x.Descriptor)
		}
	}
	return all
}
