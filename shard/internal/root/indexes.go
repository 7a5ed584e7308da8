package root

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
)

// AddIndexes is the root with new indexes of a table, which is read as an Arrow schema.
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
	return r.WithIndexes(func(stripe int, all []Index) ([]Index, error) {
		for _, p := range plans {
			if p.PerStripe == (stripe != fault.None) {
				all = append(all, r.JoinStripes(p, ToBuild(p, t, stripe, o), o))
			}
		}
		return all, nil
	})
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
