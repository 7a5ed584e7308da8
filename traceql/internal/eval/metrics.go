package eval

import (
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Observe calls visit for the spans of sets: with the values by which they are grouped, those that the function of time series is about, and
// whether they are in the subset of compare(). The slices are valid during the call.
func (p *Program) Observe(t *Trace, sets []Set, m *lang.Metrics, work *Work, visit func(i int, by, of []value.Value, selected bool) error) (err error) {
	r := run{p, t, work}
	by := make([]value.Value, len(m.By))
	var of []value.Value
	for _, set := range sets {
		for _, i := range set.Spans {
			if err := work.add(1); err != nil {
				return err
			}
			for k, e := range m.By {
				if by[k], err = r.value(e, i); err != nil {
					return err
				}
			}
			of = of[:0]
			if m.X != nil {
				v, err := r.value(m.X, i)
				if err != nil {
					return err
				}
				numbers(v, func(v value.Value) { of = append(of, v) })
			}
			selected := false
			if m.Subset != nil {
				if selected, err = r.matches(m.Subset, p.number[m.Subset], i); err != nil {
					return err
				}
			}
			if err := visit(i, by, of, selected); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rows makes rows of any traces look like a trace, for queries that look at each span alone.
func Rows(list []Span) *Trace { return &Trace{Spans: list, root: -1} }
