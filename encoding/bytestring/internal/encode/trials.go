package encode

import (
	"slices"

	"github.com/amudai/amudai-go/encoding"
)

// trials find the best method for a block. The best tree so far is in dst, and the plan of the encoder has the best
// methods.
type trials struct {
	e     *Encoder
	w     *Workspace
	in    *Input
	dst   []byte
	start int // of the tree in dst, which is missing as long as the values as they are are the best
	best  int64
	size  int   // of the best tree
	other int64 // the cost of the best that is not limited
	// expected is the estimated size of the best if it has parts of its own and came out smaller, in MinimalSize, else 0.
	expected int
}

// begin takes the values as they are for the best, which takes most.
func (t *trials) begin() {
	e := t.e
	plain := method{row: e.table.plain}
	e.plan = plan{method: plain, other: plain, plain: int64(t.in.plainLen()), every: exploreEvery}
	t.size = t.in.plainLen()
	t.best = e.cost(e.table.plain, t.size, t.in)
	t.other = t.best
}

// run tries the methods.
func (t *trials) run() {
	e := t.e
	ranked, tried := e.ranked, false
	if e.ranked = (ranking{}); ranked.methods == nil {
		if tried = e.o.Features != 0; tried && t.tryFew() {
			return
		}
		ranked = e.rank(t.w, t.in)
	}
	ranked.of(t.in)
	e.plan.learned = ranked.learned
	long := e.fit(t.in.Values, e.blockBytes()) < t.in.N
	var done []*Row
	for _, x := range ranked.methods {
		if tried && x.row.Limited || slices.Contains(done, x.row) && x.cost >= t.best {
			continue // another level, of which the estimate errs as that of the first did
		}
		if x.cost == 0 {
			if !x.suits(t.w, t.in, &e.plan.learned) {
				continue
			}
		} else if !t.mayCost(&x, long) && !e.muchSmaller(x.size, t.size, t.in) {
			if !x.row.Limited && x.cost < t.other {
				t.other, e.plan.other = x.cost, x.method
			}
			continue
		}
		t.add(x)
		done = append(done, x.row)
	}
}

// tryFew tries the methods for few distinct values, before anything is known about the others. done tells that none of
// those can win: they take two bytes a value at least.
func (t *trials) tryFew() (done bool) {
	e := t.e
	for _, m := range e.policy.methods {
		if m.row.Limited && e.allows(m) && m.suits(t.w, t.in, &e.plan.learned) {
			t.add(estimate{method: m})
		}
	}
	return e.plan.method.row.Limited && len(t.dst)-t.start < 2*t.in.N
}

// add tries a method on all values.
func (t *trials) add(x estimate) {
	e, at := t.e, len(t.dst)
	dst, ok := e.appendAs(t.w, t.dst, t.in, x.method)
	size := len(dst) - at
	if t.dst = dst[:at]; !ok || size >= t.in.plainLen() {
		return
	}
	cost := e.methodCost(x.method, size, t.in)
	if !x.row.Limited && cost < t.other {
		t.other, e.plan.other = cost, x.method
	}
	if e.muchSmaller(size, t.size, t.in) || cost < t.best && !e.muchSmaller(t.size, size, t.in) {
		t.best, t.size, t.expected, e.plan.method = cost, size, 0, x.method
		if e.o.Profile == encoding.MinimalSize && x.row.Nests && size < x.size {
			t.expected = x.size
		}
		t.dst = append(t.dst[:t.start], dst[at:]...)
	}
}

// muchSmaller reports whether a size is so much smaller than another that the time to decode does not matter: by 15 in 16, and two bits a value, by
// three quarters, and half a byte a value, or by half, and two bytes a value. It never is in edition reference.
func (e *Encoder) muchSmaller(size, other int, in *Input) bool {
	less := other - size
	return e.o.Features != 0 && (16*size < other && 4*less > in.N || 4*size < other && 2*less > in.N || 2*size < other && less > 2*in.N)
}

// mayCost reports whether a method may be the best, for all that is known. The estimates decide where a trial costs much: on a long block,
// and of an encoding with parts of its own. If one of these has come out smaller than expected, so may others, in MinimalSize:
// HighCompression, whose best is larger, tries them. What has no use for a long block is not written as one in Balanced, where another is, for a gain that may be none.
func (t *trials) mayCost(x *estimate, long bool) bool {
	dear := long || x.row.Nests
	switch {
	case dear && t.e.numbers.Thorough():
		return x.cost-x.cost/dearError < t.best || x.size-x.size/estimateError < t.expected
	case long && !x.row.Long && t.e.o.Profile == encoding.Balanced:
		return x.cost+x.cost/dearError < t.best
	case dear:
		return x.cost < t.best
	}
	return x.cost-x.cost/estimateError < t.best
}
