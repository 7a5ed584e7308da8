package shard

import (
	"context"
	"sync"

	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// shardAnswer is what the statistics of a whole shard say about a filter. They are asked
// once a scan, before those of the first stripe.
type shardAnswer struct {
	mu      sync.Mutex
	known   bool
	verdict filter.Verdict
}

// askShard asks the statistics of the whole shard. What they exclude needs no look at any
// stripe; one stripe alone tells more than they do.
func (p *predicate) askShard(ctx context.Context, s *Shard) (filter.Verdict, error) {
	if s.NumStripes() < 2 {
		return filter.Some, nil
	}
	p.whole.mu.Lock()
	defer p.whole.mu.Unlock()
	if p.whole.known {
		return p.whole.verdict, nil
	}
	facts := make([]filter.Facts, len(p.columns))
	for i := range p.columns {
		c := &p.columns[i]
		nodes := make([]*shardpb.FieldDescriptor, len(c.nodes))
		for k, n := range c.nodes {
			d, err := s.file.FieldDescriptor(ctx, n.ID)
			if err != nil {
				return filter.Some, err
			}
			nodes[k] = ofAllStripes(d, s.NumRows())
		}
		facts[i] = factsOf(c.leaf(), nodes)
	}
	p.whole.known, p.whole.verdict = true, p.bound.Prune(facts)
	return p.whole.verdict, nil
}

// ofAllStripes is what the descriptor of a shard says about all of its rows. Stripes that
// lack the column have nulls that it does not count, and other statistics may be those of
// some stripes only.
func ofAllStripes(d *shardpb.FieldDescriptor, rows int64) *shardpb.FieldDescriptor {
	out := &shardpb.FieldDescriptor{PositionCount: d.GetPositionCount(), RangeStats: d.GetRangeStats()}
	if d.GetPositionCount() == uint64(rows) {
		out.NullCount = d.NullCount
	}
	return out
}
