package predicate

import "github.com/amudai/amudai-go/internal/engine/pattern"

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

// Nulls is met by null, or with Not by any value.
type Nulls struct{ Not bool }
