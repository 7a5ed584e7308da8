package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Index is an index that has columns of a filter. Its rows are those of the stripe.
type Index interface {
	// Name names the index in messages.
	Name() string
	// Cost estimates the values examined for a condition, a leaf or a conjunction, and returns the columns in it that the index has. There are none
	// if it knows nothing about the condition.
	Cost(n *predicate.Node) (values int64, columns []int)
	// Ask divides some rows of the stripe, and perhaps others. It may know about a part of a conjunction only; then no row is true. An index that cannot
	// be read is an error.
	Ask(ctx context.Context, n *predicate.Node, among rowset.Set) (Answer, error)
}

// indexes asks the indexes of a stripe and of its shard.
type indexes struct {
	stripe *Stripe
	asked  []asked
}

// asked is an index that was asked, for [Source.Note].
type asked struct {
	index   Index
	columns []int
	left    rowset.Set
	err     error
}

func (x *indexes) Kind() Kinds { return Indexes }

func (x *indexes) Cost(n *predicate.Node) (least int64, ok bool) {
	for _, index := range x.stripe.Indexes {
		if cost, columns := index.Cost(n); len(columns) > 0 && (!ok || cost < least) {
			least, ok = cost, true
		}
	}
	return least, ok
}

// Ask asks one index after the other. One that cannot be read is as if it were not there, but noted.
func (x *indexes) Ask(ctx context.Context, n *predicate.Node, among rowset.Set) (Answer, error) {
	answer := Answer{Maybe: among}
	for _, index := range x.stripe.Indexes {
		_, columns := index.Cost(n)
		if len(columns) == 0 {
			continue
		}
		got, err := index.Ask(ctx, n, among)
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		if err != nil {
			x.asked = append(x.asked, asked{index: index, columns: columns, err: err})
			continue
		}
		answer.Maybe = answer.Maybe.And(got.Maybe)
		if got.Decided() { // it has decided about all rows
			answer.True = answer.Maybe
		} else {
			answer.True = answer.True.Or(got.True.And(among))
		}
		x.asked = append(x.asked, asked{index: index, columns: columns, left: answer.Maybe})
		if answer.Maybe.Len() == answer.True.Len() {
			break
		}
	}
	return answer, nil
}

func (x *indexes) Note() string {
	var parts []string
	for _, a := range x.asked {
		paths := make([]string, len(a.columns))
		for i, c := range a.columns {
			paths[i] = x.stripe.Path(c)
		}
		of := a.index.Name() + " of " + strings.Join(paths, " and ")
		if a.err != nil {
			parts = append(parts, fmt.Sprintf("%s was not used: %v", of, a.err))
		} else {
			parts = append(parts, fmt.Sprintf("%s: %d rows", of, a.left.Len()))
		}
	}
	return notes(parts)
}
