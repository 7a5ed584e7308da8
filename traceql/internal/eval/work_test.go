package eval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// endsAfter is a context that ends when it was looked at some times.
type endsAfter struct {
	context.Context
	looks int
}

func (c *endsAfter) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func program(t *testing.T, query string) *eval.Program {
	t.Helper()
	q, err := lang.Parse(query)
	if err != nil {
		t.Fatal(err)
	}
	return eval.NewProgram(q)
}

// chainOf is a trace in which each span is the child of the one before.
func chainOf(n int) *eval.Trace {
	ids, parents := make([][]byte, n), make([][]byte, n)
	for i := range ids {
		ids[i] = []byte{byte(i >> 8), byte(i), 1}
		if i > 0 {
			parents[i] = ids[i-1]
		}
	}
	return newTrace(ids, parents, spans.Verdict{})
}

var costly = []string{
	strings.Repeat("{ } >> ", 999) + "{ }",
	"{ }" + strings.Repeat(" | count() > 0", 999),
	"{ }" + strings.Repeat(" | { }", 999),
	"{ } | by(nestedSetLeft) | ({ } !> { })",
	"{ nestedSetLeft > 0" + strings.Repeat(" && nestedSetLeft > 0", 999) + " }",
}

// An evaluation ends soon after its context, counted in steps.
func TestCancelled(t *testing.T) {
	const spans, perLook = 1000, 1 << 14
	for _, query := range costly {
		p, trace := program(t, query), chainOf(spans)
		for looks := range 5 {
			work := eval.NewWork(&endsAfter{t.Context(), looks}, 1<<40)
			_, err := p.Run(trace, work)
			if most := int64((looks + 1) * (perLook + spans)); !errors.Is(err, context.Canceled) || work.Steps > most {
				t.Errorf("%.40s: %v after %d steps, more than %d", query, err, work.Steps, most)
			}
		}
	}
}

// The steps of an evaluation are limited.
func TestSteps(t *testing.T) {
	for _, query := range costly {
		p, trace := program(t, query), chainOf(1000)
		work := eval.NewWork(t.Context(), 1<<40)
		sets, err := p.Run(trace, work)
		if err != nil || len(sets) == 0 {
			t.Fatalf("%.40s: %d sets, %v", query, len(sets), err)
		}
		if _, err := p.Run(trace, eval.NewWork(t.Context(), work.Steps)); err != nil {
			t.Errorf("%.40s: %v", query, err)
		}
		if _, err := p.Run(trace, eval.NewWork(t.Context(), work.Steps-1)); !errors.Is(err, fault.ErrLimit) {
			t.Errorf("%.40s: no limit at %d steps: %v", query, work.Steps, err)
		}
	}
}
