package source

import (
	"context"
	"fmt"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Index is an index that has a column. Its rows are those of the stripe.
type Index interface {
	// Name names the index in messages.
	Name() string
	// Cost estimates the values examined for a condition. ok is false if the index knows nothing about it.
	Cost(test predicate.Test) (values int64, ok bool)
	// Ask divides some rows of the stripe. An index that cannot be read is an error.
	Ask(ctx context.Context, test predicate.Test, among rowset.Range) (Answer, error)
}

// indexes asks the indexes of a stripe and of its shard.
type indexes struct {
	stripe *Stripe
	notes  []string
}

func (x *indexes) Kind() Kinds { return Indexes }

func (x *indexes) Cost(leaf *predicate.Node) (least int64, ok bool) {
	if leaf.Kind != predicate.NodeLeaf {
		return 0, false
	}
	for _, index := range x.stripe.Columns[leaf.Column].Indexes {
		if cost, useful := index.Cost(leaf.Test); useful && (!ok || cost < least) {
			least, ok = cost, true
		}
	}
	return least, ok
}

// Ask asks one index after the other. One that cannot be read is as if it were not there, but noted.
func (x *indexes) Ask(ctx context.Context, leaf *predicate.Node, among rowset.Set) (Answer, error) {
	column := &x.stripe.Columns[leaf.Column]
	answer := Answer{Maybe: among}
	for _, index := range column.Indexes {
		if _, useful := index.Cost(leaf.Test); !useful {
			continue
		}
		got, err := index.Ask(ctx, leaf.Test, among.Bounds())
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		if err != nil {
			x.notes = append(x.notes, fmt.Sprintf("%s of %s was not used: %v", index.Name(), column.Path, err))
			continue
		}
		answer.Maybe = answer.Maybe.And(got.Maybe)
		answer.True = answer.True.Or(got.True.And(among))
		x.notes = append(x.notes, fmt.Sprintf("%s of %s: %d rows", index.Name(), column.Path, answer.Maybe.Len()))
		if answer.Maybe.Len() == answer.True.Len() {
			break
		}
	}
	return answer, nil
}

func (x *indexes) Note() string { return notes(x.notes) }
