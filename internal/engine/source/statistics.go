package source

import (
	"context"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// statistics asks the bounds, counts and constants of a whole stripe.
type statistics struct {
	stripe *Stripe
	loaded bool
}

func (s *statistics) Kind() Kinds { return Statistics }

func (s *statistics) Cost(*predicate.Node) (int64, bool) { return 1, true }

func (s *statistics) Ask(_ context.Context, leaf *predicate.Node, among rowset.Set) (Answer, error) {
	if !s.loaded {
		for i := range s.stripe.Columns {
			s.stripe.Facts[i] = s.stripe.Columns[i].Facts
		}
		s.loaded = true
	}
	return answerOf(leaf.Prune(s.stripe.Facts), among), nil
}

func (s *statistics) Note() string { return "of the stripe" }
