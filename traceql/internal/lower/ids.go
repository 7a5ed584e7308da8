package lower

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// IDs is ids of traces in the order in which they were found.
type IDs struct {
	Order  []string
	Starts []int64 // of a span of each, where they were read: the trace does not begin later
	has    map[string]bool
}

// NewIDs is an empty set.
func NewIDs() *IDs { return &IDs{has: map[string]bool{}} }

// Add adds an id, unless it is there: fresh says so. More than limit are an error.
func (s *IDs) Add(id string, start int64, limit int) (fresh bool, err error) {
	if s.has[id] {
		return false, nil
	}
	if len(s.Order) == limit {
		return false, tooMany(limit)
	}
	s.has[id] = true
	s.Order = append(s.Order, id)
	s.Starts = append(s.Starts, start)
	return true, nil
}

// tooMany is the error of more traces than a limit.
func tooMany(limit int) error {
	return fault.Limitf("more than %d traces may match: the query needs a narrower condition, or a higher limit", limit)
}

// Only are the ids that another set has, too.
func (s *IDs) Only(other *IDs) *IDs {
	out := &IDs{has: other.has}
	for i, id := range s.Order {
		if other.has[id] {
			out.Order, out.Starts = append(out.Order, id), append(out.Starts, s.Starts[i])
		}
	}
	return out
}

// Has reports whether an id is in the set.
func (s *IDs) Has(id string) bool { return s.has[id] }

// OneOf is In as a condition on rows.
func OneOf(col spans.Column, ids []string) Cond { return of(In(col, ids)) }

// In is the condition that a trace has one of some ids.
func In(col spans.Column, ids []string) filter.Expr {
	width := -1
	if fixed, ok := col.Type.(*arrow.FixedSizeBinaryType); ok {
		width = fixed.ByteWidth
	}
	list := make([]any, 0, len(ids))
	for _, id := range ids {
		if width < 0 || len(id) == width { // ids of other sources may be longer
			list = append(list, []byte(id))
		}
	}
	return filter.In(filter.Col(col.Path), list...)
}
