package source

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Pages are the minima and maxima of a column for every few rows.
type Pages struct {
	N        int   // number of pages
	PageRows int64 // rows of a page; the last one may be shorter
	// Starts are the first rows of the pages, in ascending order, and the number of rows of the stripe, where pages
	// differ in length. PageRows is then 0.
	Starts []int64
	// Low and High are the bounds of each page; none for a page of nulls.
	Low, High func(page int) predicate.Limit
	// Invalid counts the nulls and NaNs of each page. It is nil if there are none.
	Invalid []uint16
	// Nulls replaces Invalid where NaNs are not counted: the nulls of each page, -1 if they are not counted either.
	Nulls func(page int) int64
}

// rows returns the rows of a page of a stripe.
func (p *Pages) rows(page, stripe int64) rowset.Range {
	if p.Starts != nil {
		return rowset.Range{From: p.Starts[page], To: p.Starts[page+1]}
	}
	return rowset.Range{From: page * p.PageRows, To: min((page+1)*p.PageRows, stripe)}
}

// of is the page that has a row.
func (p *Pages) of(row int64) int64 {
	if p.Starts != nil {
		return int64(sort.Search(p.N, func(i int) bool { return p.Starts[i+1] > row }))
	}
	return row / p.PageRows
}

// rangeIndex asks the range indexes of a stripe.
type rangeIndex struct {
	stripe *Stripe
	pages  []loadedPages // by column
	facts  []predicate.Facts

	grid     *Pages // the pages of the condition
	pageRows int64  // of the latest that had a length
	decided  bool   // a page has decided a condition
	skipped  int64  // distance of the pages that were sampled without a decision; 0 if no index was skipped
}

type loadedPages struct {
	*Pages
	loaded bool
}

func (r *rangeIndex) Kind() Kinds { return RangeIndexes }

// minPageRows is a lower bound of the rows of a page, which gives a cost before the index is read.
const minPageRows = 256

func (r *rangeIndex) Cost(*predicate.Node) (int64, bool) {
	return r.stripe.Rows / minPageRows, true
}

// sampledPages is the approximate number of pages that are evaluated first. If none of them decides a condition,
// few others would.
const sampledPages = 256

func (r *rangeIndex) Ask(ctx context.Context, leaf *predicate.Node, among rowset.Set) (Answer, error) {
	columns := leaf.Columns()
	some, err := r.load(ctx, columns)
	if err != nil || !some {
		return Answer{Maybe: among}, err
	}
	copy(r.facts, r.stripe.Facts)
	defer clear(r.facts)
	bounds := among.Bounds()
	first, end := r.grid.of(bounds.From), r.grid.of(bounds.To-1)+1
	if step := (end-first)/sampledPages | 1; step > 1 && r.decidesNothing(leaf, columns, first, end, step) {
		r.skipped = step
		return Answer{Maybe: among}, nil
	}
	r.decided = true
	var maybe, sure []rowset.Range
	for k := range r.pagesOf(among) {
		page := r.page(k)
		switch r.verdict(leaf, columns, k) {
		case predicate.Some:
			maybe = append(maybe, page)
		case predicate.All:
			maybe = append(maybe, page)
			sure = append(sure, page)
		}
	}
	return Answer{rowset.Of(maybe...).And(among), rowset.Of(sure...).And(among)}, nil
}

func (r *rangeIndex) Note() string {
	switch {
	case r.pageRows == 0 && (r.decided || r.skipped > 0):
		return "bounds of pages"
	case r.decided:
		return fmt.Sprintf("bounds of every %d rows", r.pageRows)
	case r.skipped > 0:
		return fmt.Sprintf("bounds of every %d rows, skipped after a sample of one in %d decided nothing", r.pageRows, r.skipped)
	}
	return ""
}

// load reads the indexes of columns. some is false if no column has one.
func (r *rangeIndex) load(ctx context.Context, columns []int) (some bool, err error) {
	if r.pages == nil {
		r.pages = make([]loadedPages, len(r.stripe.Columns))
		r.facts = make([]predicate.Facts, len(r.stripe.Columns))
	}
	for _, i := range columns {
		p := &r.pages[i]
		if !p.loaded {
			if p.Pages, err = r.stripe.Columns[i].Pages(ctx); err != nil {
				return false, err
			}
			p.loaded = true
		}
		if p.Pages != nil && !some {
			r.grid, r.pageRows, some = p.Pages, p.PageRows, true
		}
	}
	return some, nil
}

// page returns the rows of a page.
func (r *rangeIndex) page(k int64) rowset.Range { return r.grid.rows(k, r.stripe.Rows) }

// pagesOf returns the pages that contain some of the rows, each once, in ascending order.
func (r *rangeIndex) pagesOf(rows rowset.Set) func(yield func(page int64) bool) {
	return func(yield func(int64) bool) {
		next := int64(0)
		for in := range rows.Ranges() {
			last := r.grid.of(in.To - 1)
			for k := max(r.grid.of(in.From), next); k <= last; k++ {
				if !yield(k) {
					return
				}
				next = k + 1
			}
		}
	}
}

// decidesNothing evaluates one in step of the pages from first to end. It returns true if no page excludes a row
// or is certain to match.
func (r *rangeIndex) decidesNothing(leaf *predicate.Node, columns []int, first, end, step int64) bool {
	for k := first; k < end; k += step {
		if r.verdict(leaf, columns, k) != predicate.Some {
			return false
		}
	}
	return true
}

// verdict evaluates a condition on the bounds of a page.
func (r *rangeIndex) verdict(leaf *predicate.Node, columns []int, page int64) predicate.Verdict {
	n := int(r.page(page).Len())
	for _, i := range columns {
		if p := r.pages[i].Pages; p != nil && (p == r.grid || p.PageRows == r.grid.PageRows && slices.Equal(p.Starts, r.grid.Starts)) { // of the same rows
			p.narrow(&r.facts[i], &r.stripe.Facts[i], int(page), n, r.stripe.Columns[i].Direct)
		}
	}
	return leaf.Prune(r.facts)
}

// narrow replaces the facts about the whole stripe by those about page k, which has n rows.
func (p *Pages) narrow(page, whole *predicate.Facts, k, n int, direct bool) {
	page.NoNulls, page.NoNaNs, page.NoValues = whole.NoNulls, whole.NoNaNs, whole.NoValues // the others are replaced, or the same
	if k >= p.N {
		page.Min, page.Max = whole.Min, whole.Max
		return
	}
	page.Min, page.Max = p.Low(k), p.High(k)
	if p.Nulls != nil {
		nulls := p.Nulls(k)
		page.NoNulls = page.NoNulls || direct && nulls == 0
		page.NoValues = page.NoValues || nulls == int64(n)
		return
	}
	invalid := 0
	if p.Invalid != nil {
		invalid = int(p.Invalid[k])
	}
	if invalid == 0 {
		page.NoNulls = page.NoNulls || direct
		page.NoNaNs = true
	}
	page.NoValues = page.NoValues || invalid == n
}
