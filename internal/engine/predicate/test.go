package predicate

import (
	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/engine/pattern"
)

// Test is the question that a leaf asks about each value of its column:
//
//   - [valueset.Values]: is the value in a set? The set is neither empty nor full.
//   - [*Text]: does the byte string match a pattern?
//   - [Nulls]: is there a value?
//
// Null meets no test but Nulls.
type Test any

// Text is met by the byte strings that match a pattern, or with Not by those that do not.
type Text struct {
	*pattern.Pattern
	Not bool
}

// Decider tells of the values of a shape whether some may meet the test, and whether all do. It has memory, and belongs to one goroutine at a time.
func (t *Text) Decider() search.Decide {
	var s pattern.Scratch
	return func(shape search.Shape) (some, all bool) {
		if some, all = t.Decide(shape, &s); t.Not {
			some, all = !all, !some
		}
		return some, all
	}
}

// Nulls is met by null, or with Not by any value.
type Nulls struct{ Not bool }
