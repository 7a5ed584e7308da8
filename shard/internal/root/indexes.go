package root

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
)

// AddIndexes is the root with new indexes of a table, which is read as an Arrow schema. One that the root has already is not built again; if it has all, the error is
// [ErrNoChange].
func (r Root) AddIndexes(t *shardtable.Table, s *arrow.Schema, definitions []indexing.Definition, o indexing.Options) (Root, error) {
	var plans []*indexing.Plan
	for _, d := range definitions {
		p, err := indexing.New(r.Schema, s, d)
		if err != nil {
			return r, err
		}
		plans = append(plans, p)
	}
	if r.Change = "add index"; len(plans) != 1 {
		r.Change = fmt.Sprintf("add %d %s", len(plans), text.Plural(len(plans), "index"))
	}
	had, added := false, false
	r, err := r.WithIndexes(func(stripe int, all []Index) ([]Index, error) {
		for _, p := range plans {
			if p.PerStripe != (stripe != fault.None) {
				continue
			}
			if find(all, p) >= 0 {
				had = true
				continue
			}
			all, added = append(all, r.JoinStripes(p, ToBuild(p, t, stripe, o), o)), true
		}
		return all, nil
	})
	if err == nil && had && !added {
		err = ErrNoChange
	}
	return r, err
}

// find is the place of a stored index of the definition of a plan, or below 0.
func find(all []Index, p *indexing.Plan) int {
	return slices.IndexFunc(all, func(x Index) bool { return x.Build == nil && index.SameDefinition(x.Descriptor, p.Descriptor) })
}

// ReplaceIndexes is the root without the indexes that choose returns true for, or with rebuild with new ones of the same definitions behind those that stay; n is their
// number. described are those of the table, in their order.
func (r Root) ReplaceIndexes(t *shardtable.Table, s *arrow.Schema, described []shardtable.Description, choose func(shardtable.Description) bool, rebuild bool,
	o indexing.Options) (_ Root, n int, err error) {
	r, err = r.WithIndexes(func(stripe int, all []Index) (kept []Index, err error) {
		var built []Index
		for _, x := range all {
			d := described[0]
			described = described[1:]
			if !choose(d) {
				kept = append(kept, x)
				continue
			}
			if n++; !rebuild {
				continue
			}
			kind := index.ByType(d.Type)
			if kind == nil {
				return nil, fault.Unsupportedf("index of the type %q", d.Type)
			}
			p, err := indexing.Of(r.Schema, s, kind, x.Descriptor)
			if err != nil {
				return nil, err
			}
			built = append(built, ToBuild(p, t, stripe, o))
		}
		return append(kept, built...), nil
	})
	did := "drop"
	if rebuild {
		did = "rebuild"
	}
	r.Change = fmt.Sprintf("%s %d %s", did, n, text.Plural(n, "index"))
	return r, n, err
}

// Join is the index of a plan that is joined of stored ones when the root is written. These have its rows one after the other: each those of a stripe, or of a
// shard. If they cannot be joined, or one is damaged or missing, build makes the index of the rows.
func Join(p *indexing.Plan, all []Index, o indexing.Options, build func(context.Context) (*indexing.Built, error)) Index {
	return Index{Build: func(ctx context.Context) (*indexing.Built, error) {
		parts := make([]indexing.Part, len(all))
		var err error
		for i := 0; i < len(all) && err == nil; i++ {
			parts[i], err = all[i].part(ctx)
		}
		if err == nil {
			var joined *indexing.Built
			if joined, err = p.Join(ctx, parts, o); err == nil {
				return joined, nil
			}
		}
		if errors.Is(err, index.ErrCannotJoin) || errors.Is(err, fs.ErrNotExist) || fault.Is(err) {
			return build(ctx)
		}
		return nil, err
	}}
}

// JoinStripes is an index that is built of all rows of the root, joined of those of the same definition instead if all stripes have one.
func (r *Root) JoinStripes(p *indexing.Plan, built Index, o indexing.Options) Index {
	var all []Index
	for _, s := range r.Stripes {
		i := find(s.Indexes, p)
		if i < 0 || p.PerStripe {
			return built
		}
		all = append(all, s.Indexes[i])
	}
	return Join(p, all, o, built.Build)
}

// part is a stored index with its artifacts.
func (x *Index) part(ctx context.Context) (indexing.Part, error) {
	p := indexing.Part{Descriptor: x.Descriptor, Rows: x.File.Rows()}
	if x.Stripe != fault.None {
		p.Rows = x.File.Stripe(x.Stripe).Rows()
	}
	for _, a := range x.Descriptor.GetArtifacts() {
		at, err := x.File.IndexArtifact(ctx, x.Stripe, a.GetDataRef())
		if err != nil {
			return p, err
		}
		p.Artifacts = append(p.Artifacts, at)
	}
	return p, nil
}

// ToBuild is an index of a stripe of a table, or with fault.None of all of it, that is built when the root is written.
func ToBuild(p *indexing.Plan, t *shardtable.Table, stripe int, o indexing.Options) Index {
	rows := rowset.Range{To: t.NumRows()}
	if stripe != fault.None {
		rows.From = t.Stripe(stripe).Position()
		rows.To = rows.From + t.Stripe(stripe).Rows()
	}
	return Index{Build: func(ctx context.Context) (*indexing.Built, error) { return p.Build(ctx, t, rows, o) }}
}
