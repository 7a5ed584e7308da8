package encode

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Input is a sequence of values that is to become a tree.
type Input[U word.Uint] struct {
	Values []U
	T      word.Type
	Wrap   bool        // order values as signed whatever T is: differences
	Valid  bitmap.Bits // which slots hold a value, if Nulls > 0
	Nulls  int
	Hint   *Hint // what was found out about such trees; nil if nothing is chosen

	level  int           // depth of the tree
	free   int           // levels that do not count, see Part
	parent encoding.Code // what the tree is a part of, 0 at the top
	role   Role          // what it is there
}

// Child is the input of a part of the tree of in, of the same width.
func (in Input[U]) Child(e *Workspace, values []U, parent encoding.Code, index int) Input[U] {
	return ChildOf[U, U](e, in, values, parent, index)
}

// Some is the input of a part that has some of the values of in.
func (in Input[U]) Some(e *Workspace, values []U, parent encoding.Code, index int) Input[U] {
	out := in.Child(e, values, parent, index)
	out.Wrap = in.Wrap && e.Weights.Features != 0
	return out
}

// ChildOf is the input of a part of the tree of in.
func ChildOf[U, X word.Uint](e *Workspace, in Input[U], values []X, parent encoding.Code, index int) Input[X] {
	part := e.table.Find(parent).part(index)
	out := Input[X]{Values: values, T: part.Type(in.T), level: in.level + 1, free: in.free + bitmap.Bit(part.Free), parent: parent, role: part.Role}
	if in.Hint != nil {
		out.Hint = in.Hint.kid(parent, index, len(values), &e.levels[out.level].few)
	}
	return out
}

// Flip is what turns the order of in into that of unsigned words.
func (in Input[U]) Flip() U {
	if in.T.Signed() || in.Wrap {
		return 1 << (word.BitsOf[U]() - 1)
	}
	return 0
}

// Bounds are the least and the largest value; there is at least one.
func (in Input[U]) Bounds() (low, high U) {
	flip := in.Flip()
	low, high = word.Span(in.Values, flip)
	return low ^ flip, high ^ flip
}

// ValidWord is the mask of the 64 slots from i on: those that hold a value.
func (in Input[U]) ValidWord(i int) uint64 {
	if in.Nulls > 0 {
		return in.Valid.Word(i)
	}
	return bitmap.All(len(in.Values)).Word(i)
}

const (
	window  = 64 // consecutive values of a sample
	windows = 8  // of a sample
)

// SampleLen is the most values that a sample has: sequences up to this are looked at whole.
const SampleLen = 768

// Windows is the number of windows that are a sample of the values: one of all, if they are few.
func (in Input[U]) Windows() int {
	if len(in.Values) <= SampleLen {
		return 1
	}
	return windows
}

// Window is a window of the sample.
func (in Input[U]) Window(i int) []U {
	n := len(in.Values)
	if n <= SampleLen {
		return in.Values
	}
	at := (n - window) / (windows - 1) * i
	return in.Values[at : at+window]
}
