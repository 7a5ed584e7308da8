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
	notes  []func() string
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
			x.notes = append(x.notes, func() string { return fmt.Sprintf("%s of %s was not used: %v", index.Name(), x.pathsOf(columns), err) })
			continue
		}
		answer.Maybe = answer.Maybe.And(got.Maybe)
		if got.Decided() { // it has decided about all rows
			answer.True = answer.Maybe
		} else {
			answer.True = answer.True.Or(got.True.And(among))
		}
		left := answer.Maybe
		x.notes = append(x.notes, func() string { return fmt.Sprintf("%s of %s: %d rows", index.Name(), x.pathsOf(columns), left.Len()) })
		if answer.Maybe.Len() == answer.True.Len() {
			break
		}
	}
	return answer, nil
}

func (x *indexes) pathsOf(columns []int) string {
	paths := make([]string, len(columns))
	for i, c := range columns {
		paths[i] = x.stripe.Columns[c].Path
	}
	return strings.Join(paths, " and ")
}

func (x *indexes) Note() string {
	var parts []string
	for _, note := range x.notes {
		parts = append(parts, note())
	}
	return notes(parts)
}
