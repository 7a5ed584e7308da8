package predicate

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// Verdict tells for how many of some rows a condition is true.
type Verdict uint8

// The verdicts. With Some, all or none are possible, too.
const (
	Some Verdict = iota
	None
	All
)

// String is the verdict in lower case.
func (v Verdict) String() string { return [...]string{"some", "none", "all"}[v%3] }

// Facts are known facts about a column in some rows, such as those of a shard, a stripe, a page or a block. The zero value
// states nothing. Fields that are not known for certain stay zero.
type Facts struct {
	NoNulls  bool // no row is null
	NoNaNs   bool // no row is NaN; for floats only
	NoValues bool // every row is null or NaN

	// Min and Max are bounds of the values that are neither null nor NaN. None is less than Min or greater than Max, but
	// neither need be a value of the column: a truncated string can be Min.
	Min, Max Limit

	// MayHold reports whether a byte string may be in the column. It is false if a Bloom filter or a dictionary excludes
	// the value. Nil is allowed.
	MayHold func(value []byte) bool
}

// Limit is a bound of the values of a column, in the form that they have in an Arrow array. The zero value is no bound,
// nor is a limit of a kind that does not suit the column.
type Limit struct {
	kind limitKind
	n    valueset.Int256 // for up to 64 bits, the lowest word
	b    []byte
}

type limitKind uint8

const (
	noLimit limitKind = iota
	limitInt
	limitUint
	limitFloat
	limitBytes
	limitDecimal
)

// IntLimit is a bound of signed integers, dates, times, and coefficients of decimals.
func IntLimit(v int64) Limit { return Limit{kind: limitInt, n: valueset.Int256{uint64(v)}} }

// UintLimit is a bound of unsigned integers.
func UintLimit(v uint64) Limit { return Limit{kind: limitUint, n: valueset.Int256{v}} }

// FloatLimit is a bound of floats. NaN is no bound.
func FloatLimit(v float64) Limit {
	if math.IsNaN(v) {
		return Limit{}
	}
	return Limit{kind: limitFloat, n: valueset.Int256{math.Float64bits(v)}}
}

// BytesLimit is a bound of strings and byte strings. It keeps v.
func BytesLimit(v []byte) Limit { return Limit{kind: limitBytes, b: v} }

// BoolLimit is a bound of booleans.
func BoolLimit(v bool) Limit { return IntLimit(int64(bitmap.Bit(v))) }

// Decimal128Limit is a bound of coefficients of decimals.
func Decimal128Limit(hi int64, lo uint64) Limit {
	return Limit{kind: limitDecimal, n: wide([2]uint64{lo, uint64(hi)})}
}

// Decimal256Limit is a bound of coefficients of decimals.
func Decimal256Limit(v valueset.Int256) Limit { return Limit{kind: limitDecimal, n: v} }

// IsKnown reports whether there is a bound.
func (l Limit) IsKnown() bool { return l.kind != noLimit }

func (l Limit) int() (int64, bool)     { return int64(l.n[0]), l.kind == limitInt }
func (l Limit) uint() (uint64, bool)   { return l.n[0], l.kind == limitUint }
func (l Limit) float() (float64, bool) { return math.Float64frombits(l.n[0]), l.kind == limitFloat }
func (l Limit) decimal() (valueset.Int256, bool) {
	if l.kind == limitInt {
		return wide([2]uint64{l.n[0], uint64(int64(l.n[0]) >> 63)}), true
	}
	return l.n, l.kind == limitDecimal
}

// Prune tells by facts alone for how many rows the expression is true. facts are those of the columns of [Bound.Columns],
// in the same order; columns at the end may be left out.
func (b *Bound) Prune(facts []Facts) Verdict { return b.root.Prune(facts) }

// Prune is [Bound.Prune] for a part of the expression.
func (n *Node) Prune(facts []Facts) Verdict {
	switch n.Kind {
	case NodeNever:
		return None
	case NodeAlways:
		return All
	case NodeAnd, NodeOr:
		decides, verdict := None, All
		if n.Kind == NodeOr {
			decides, verdict = All, None
		}
		for _, k := range n.Nodes {
			switch v := k.Prune(facts); v {
			case decides:
				return v
			case Some:
				verdict = Some
			}
		}
		return verdict
	case NodeCompare:
		return n.pruneCompare(factsOf(facts, n.Column), factsOf(facts, n.Other))
	case NodeValue:
		return Some
	}
	return n.pruneLeaf(factsOf(facts, n.Column))
}

// PruneStrings is [Node.Prune] for a test on strings or byte strings of which some facts are known.
func PruneStrings(t Test, f *Facts) Verdict {
	n := Node{Kind: NodeLeaf, Test: t, domain: stringDomain}
	return n.pruneLeaf(f)
}

var stringDomain = valueset.DomainOf(arrow.BinaryTypes.Binary)

var nothingKnown Facts

func factsOf(facts []Facts, column int) *Facts {
	if column >= len(facts) {
		return &nothingKnown
	}
	return &facts[column]
}

// mayBeNaN reports whether a row of the column may be NaN.
func (n *Node) mayBeNaN(f *Facts) bool { return n.domain.HasNaN() && !f.NoNaNs }

func (n *Node) allNull(f *Facts) bool { return f.NoValues && !n.mayBeNaN(f) }

func (n *Node) pruneLeaf(f *Facts) Verdict {
	if t, ok := n.Test.(Nulls); ok {
		switch {
		case n.allNull(f) && f.NoNulls: // no rows
			return None
		case n.allNull(f) != t.Not && (n.allNull(f) || f.NoNulls):
			return All
		case n.allNull(f) || f.NoNulls:
			return None
		}
		return Some
	}
	nan := n.mayBeNaN(f)
	floats, _ := n.Test.(valueset.Floats)
	some, all := !f.NoValues, true
	if !f.NoValues {
		some, all = limited(n.Test, f)
	}
	switch {
	case !some && !(nan && floats.NaN):
		return None
	case all && f.NoNulls && (!nan || floats.NaN):
		return All
	}
	return Some
}

// pruneCompare is Prune for a comparison of two columns. The bounds exclude some orders of their values.
func (n *Node) pruneCompare(a, b *Facts) Verdict {
	if n.allNull(a) || n.allNull(b) {
		return None
	}
	var may Comparison
	switch {
	case a.NoValues || b.NoValues:
	case n.domain.IsBool(): // of which some have several numbers for true
		may = Comparison{true, true, true}
	default:
		up, okUp := a.Max.Compare(b.Min)
		down, okDown := a.Min.Compare(b.Max)
		may = Comparison{!okDown || down < 0, !(okUp && up < 0 || okDown && down > 0), !okUp || up > 0}
	}
	may[Unordered+1] = n.mayBeNaN(a) || n.mayBeNaN(b)
	c := n.compare
	switch not := c.not(); {
	case !may.and(c):
		return None
	case !may.and(not) && a.NoNulls && b.NoNulls:
		return All
	}
	return Some
}

// and reports whether there is an order for which both comparisons are true.
func (c Comparison) and(o Comparison) bool {
	return c[0] && o[0] || c[1] && o[1] || c[2] && o[2] || c[3] && o[3]
}

// Compare is negative, zero or positive as a bound is less than another of the same column type, equal or greater. ok is false if one is not known.
func (l Limit) Compare(o Limit) (order int, ok bool) {
	if l.kind != o.kind {
		x, ok := l.decimal()
		y, also := o.decimal()
		return x.Compare(y), ok && also
	}
	switch l.kind {
	case limitInt:
		return cmp.Compare(int64(l.n[0]), int64(o.n[0])), true
	case limitUint:
		return cmp.Compare(l.n[0], o.n[0]), true
	case limitFloat:
		return cmp.Compare(math.Float64frombits(l.n[0]), math.Float64frombits(o.n[0])), true
	case limitBytes:
		return bytes.Compare(l.b, o.b), true
	case limitDecimal:
		return l.n.Compare(o.n), true
	}
	return 0, false
}

// limited reports whether some value between the bounds may meet a test, and whether all values there do.
func limited(test Test, f *Facts) (some, all bool) {
	switch t := test.(type) {
	case valueset.Bools:
		lo, okLo := f.Min.int()
		hi, okHi := f.Max.int()
		onlyTrue, onlyFalse := okLo && lo > 0, okHi && hi < 1
		some = t.False && !onlyTrue || t.True && !onlyFalse
		return some, t.False && onlyFalse || t.True && onlyTrue
	case valueset.Ints:
		lo, okLo := f.Min.int()
		hi, okHi := f.Max.int()
		return overlap(t, lo, hi, okLo, okHi, cmp.Compare)
	case valueset.Uints:
		lo, okLo := f.Min.uint()
		hi, okHi := f.Max.uint()
		return overlap(t, lo, hi, okLo, okHi, cmp.Compare)
	case valueset.Floats:
		lo, okLo := f.Min.float()
		hi, okHi := f.Max.float()
		return overlap(t.Intervals, lo, hi, okLo, okHi, cmp.Compare)
	case valueset.Decimals:
		lo, okLo := f.Min.decimal()
		hi, okHi := f.Max.decimal()
		return overlap(t, lo, hi, okLo, okHi, valueset.Int256.Compare)
	case valueset.Bytes:
		return limitedBytes(t, f)
	case *Text:
		return t.limited(f)
	}
	return true, false
}

// overlap is limited for intervals. Each bound may be unknown.
func overlap[T any](intervals []valueset.Interval[T], lo, hi T, okLo, okHi bool, compare func(a, b T) int) (some, all bool) {
	i := 0
	if okLo { // the first interval that does not end below lo
		i = sort.Search(len(intervals), func(i int) bool { return compare(intervals[i].Hi, lo) >= 0 })
	}
	if i == len(intervals) {
		return false, false
	}
	some = !okHi || compare(intervals[i].Lo, hi) <= 0
	all = okLo && okHi && compare(intervals[i].Lo, lo) <= 0 && compare(intervals[i].Hi, hi) >= 0
	return some, all
}

// limitedBytes is limited for ranges of byte strings.
func limitedBytes(t valueset.Bytes, f *Facts) (some, all bool) {
	okLo, okHi := f.Min.kind == limitBytes, f.Max.kind == limitBytes
	i := 0
	if okLo { // the first range that does not end below Min
		i = sort.Search(len(t), func(i int) bool { return t[i].NoHi || bytes.Compare(t[i].Hi, f.Min.b) > 0 })
	}
	for ; i < len(t); i++ {
		r := t[i]
		if okHi && bytes.Compare(r.Lo, f.Max.b) > 0 {
			return false, false
		}
		if v, ok := r.Constant(); f.MayHold == nil || !ok || f.MayHold(v) {
			return true, okLo && okHi && bytes.Compare(r.Lo, f.Min.b) <= 0 && r.Holds(f.Max.b)
		}
	}
	return false, false
}

func (t *Text) limited(f *Facts) (some, all bool) {
	if len(t.Prefix) > 0 {
		some, _ := limitedBytes(valueset.Bytes{valueset.WithPrefix(t.Prefix)}, f)
		if !some {
			return t.Not, t.Not
		}
	}
	return true, false
}

// Columns are the indices of the columns that a node looks at, in ascending order.
func (n *Node) Columns() []int {
	var out []int
	var visit func(n *Node)
	visit = func(n *Node) {
		switch n.Kind {
		case NodeLeaf:
			out = append(out, n.Column)
		case NodeCompare:
			out = append(out, n.Column, n.Other)
		case NodeValue:
			out = append(out, n.inputs...)
		}
		for _, k := range n.Nodes {
			visit(k)
		}
	}
	visit(n)
	slices.Sort(out)
	return slices.Compact(out)
}
