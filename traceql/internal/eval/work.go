package eval

import (
	"context"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Work counts the steps of evaluations: a step is a look at a span, a node of an expression, an element of a list, or 64 bytes. It ends an
// evaluation of more steps than allowed, and one whose context has ended.
type Work struct {
	Steps int64

	ctx   context.Context
	limit int64
	last  int64 // steps when the context was looked at
}

// NewWork counts up to limit steps.
func NewWork(ctx context.Context, limit int64) *Work { return &Work{ctx: ctx, limit: limit} }

// stepsPerLook is the number of steps between two looks at the context.
const stepsPerLook = 1 << 14

// add counts steps that are about to be done.
func (w *Work) add(n int64) error {
	if w == nil { // constants are not counted
		return nil
	}
	w.Steps += n
	if w.Steps > w.limit {
		return fault.Limitf("the evaluation of the query needs more than %d steps", w.limit)
	}
	if w.Steps-w.last >= stepsPerLook {
		w.last = w.Steps
		return w.ctx.Err()
	}
	return nil
}

const bytesPerStep = 64

// sizeOf is the number of steps that a look at a value takes.
func sizeOf(v value.Value) int64 {
	n := int64(1 + len(v.Text())/bytesPerStep)
	for _, e := range v.List() {
		n += sizeOf(e)
	}
	return n
}
