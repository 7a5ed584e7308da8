package source

import (
	"context"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// bloom asks the Bloom filters of the byte strings of a stripe.
type bloom struct {
	stripe *Stripe
	asked  bool
}

func (b *bloom) Kind() Kinds { return BloomFilters }

func (b *bloom) Cost(leaf *predicate.Node) (int64, bool) {
	return 1, leaf.Kind == predicate.NodeLeaf && b.stripe.Columns[leaf.Column].Bloom != nil
}

func (b *bloom) Ask(_ context.Context, leaf *predicate.Node, among rowset.Set) (Answer, error) {
	facts := &b.stripe.Facts[leaf.Column]
	if facts.MayHold == nil {
		facts.MayHold = b.stripe.Columns[leaf.Column].Bloom()
	}
	b.asked = true
	return answerOf(leaf.Prune(b.stripe.Facts), among), nil
}

func (b *bloom) Note() string {
	if b.asked {
		return "of byte strings"
	}
	return ""
}
