package scan

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowfilter"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/storage"
)

// Explanation describes how a scan finds its rows, and the cost of a run.
type Explanation struct {
	Columns []string // of the result
	Filter  string   // "" for none
	Looks   []string // columns that the filter looks at
	Rows    int64    // of the table
	Bytes   int64    // stored, of the table
	Asked   int64    // of the ranges and stripes of the options
	Stripes []StripeExplanation
	Run     *RunExplanation // nil if the scan was not run
}

// StripeExplanation describes the rows of a stripe that are left without a look at its values.
type StripeExplanation struct {
	Stripe int
	First  int64 // position of its first row in the table
	Rows   int64
	Hidden int64 // rows among these that no scan shows, such as deleted ones
	// Bytes are those that the columns of the result take in the stripe; 0 if no rows are left.
	Bytes int64
	// Steps are the sources that were asked, in order, with the rows that each has left.
	Steps []rowfilter.Step
}

// RunExplanation is the cost of a run.
type RunExplanation struct {
	Rows, Batches   int64 // of the result
	Evaluated       int64 // rows whose values the filter looked at
	Requests, Bytes int64 // read for the scan: metadata, indexes, dictionaries and blocks
	Blocks          int64 // that were read and decoded
	BlocksAgain     int64 // those among them that were read before
	BlockBytes      int64
	WholeBlocks     int64 // those of which all values were wanted
	Values          int64 // that were wanted of the blocks
	BlocksOfColumns int64 // of all columns that were opened, those of the filter too
	// Prune is the time for statistics, Bloom filters, dictionaries and indexes, Filter for evaluating the condition on
	// rows, and Decode for decoding the result. Read is the time of requests, which the others include. Times of all
	// goroutines are added up.
	Prune, Filter, Decode, Read time.Duration
	Elapsed                     time.Duration
}

// runStats counts the work of a scan.
type runStats struct {
	reads                 table.Counters
	evaluated             atomic.Int64
	prune, filter, decode stopwatch

	mu      sync.Mutex
	columns map[openedColumn]int64 // blocks of those that were opened
}

// stopwatch adds up the time of several goroutines.
type stopwatch struct{ nanoseconds atomic.Int64 }

func (w *stopwatch) since(start time.Time) { w.nanoseconds.Add(int64(time.Since(start))) }

func (w *stopwatch) total() time.Duration { return time.Duration(w.nanoseconds.Load()) }

type openedColumn struct {
	stripe int
	id     uint32
}

// open records that a column, or a part of it, was opened, after it was read: some know their blocks only then.
func (s *runStats) open(stripe int, id uint32, c table.ColumnReader) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.columns == nil {
		s.columns = map[openedColumn]int64{}
	}
	k := openedColumn{stripe, id}
	s.columns[k] = max(s.columns[k], c.Blocks())
}

// Explain describes which rows a scan would look at, and why it would skip others.
func Explain(ctx context.Context, t table.Table, o Options) (*Explanation, error) {
	sc, err := newScanner(ctx, t, o)
	if err != nil {
		return nil, err
	}
	defer sc.close()
	sc.filter.Trace()
	x := &Explanation{Filter: o.Filter.String(), Rows: t.NumRows(), Bytes: t.StoredBytes()}
	for _, f := range sc.schema.Fields() {
		x.Columns = append(x.Columns, f.Name)
	}
	seen := map[int]bool{}
	var order []int
	plan := sc.newPlan()
	for t, ok := plan.next(); ok; t, ok = plan.next() {
		if t.err != nil {
			return nil, t.err
		}
		if !seen[t.stripe] {
			order = append(order, t.stripe)
		}
		seen[t.stripe] = true
		x.Asked += t.all.Len()
	}
	if sc.filter != nil {
		x.Looks = sc.filter.Paths()
	}
	if o.Rows == nil && o.Stripes == nil { // those without a visible row, too
		order = nil
		for i := range t.NumStripes() {
			order = append(order, i)
		}
	}
	for _, i := range order {
		st, err := sc.explainStripe(ctx, i)
		if err != nil {
			return nil, fault.InStripe(err, i)
		}
		x.Stripes = append(x.Stripes, st)
	}
	return x, nil
}

// explainStripe describes the rows that are left of a stripe.
func (sc *scanner) explainStripe(ctx context.Context, i int) (StripeExplanation, error) {
	stripe := sc.table.Stripe(i)
	st := StripeExplanation{Stripe: i, First: stripe.Position(), Rows: stripe.Rows()}
	visible, err := stripe.Visible(ctx)
	if err != nil {
		return st, err
	}
	s := newStripeScan(sc, i, visible)
	if visible != nil {
		st.Hidden = st.Rows - visible.Len()
	}
	if st.Left() == 0 {
		return st, nil
	}
	if sc.filter != nil {
		f, err := s.filter()
		if err != nil {
			return st, err
		}
		st.Steps = f.Steps
	}
	if st.Left() == 0 {
		return st, nil
	}
	if err := sc.prefetchStripes(ctx, i); err != nil {
		return st, err
	}
	ranges, err := s.stripe.RangesToOpen(ctx, sc.columns, table.AllValues, math.MaxInt64)
	st.Bytes = storage.TotalSize(ranges)
	return st, err
}

// Left is the most rows that a scan may show, for which the filter may be true.
func (s *StripeExplanation) Left() int64 {
	left := s.Rows - s.Hidden
	if n := len(s.Steps); n > 0 {
		left = min(left, s.Steps[n-1].Left)
	}
	return left
}

// Analyze runs a scan, and describes it with its cost.
func Analyze(ctx context.Context, t table.Table, o Options) (*Explanation, error) {
	before := t.Requests()
	start := time.Now()
	r, err := newRebatcher(ctx, t, o)
	if err != nil {
		return nil, err
	}
	r.stats = &runStats{reads: t.NewCounters()}
	r.filter.Trace()
	run := &RunExplanation{}
	for more := true; more && err == nil; {
		more, err = r.step(run)
	}
	r.close()
	if err != nil {
		return nil, err
	}
	run.Elapsed = time.Since(start)
	after := t.Requests()
	run.Requests, run.Bytes, run.Read = after.N-before.N, after.Bytes-before.Bytes, after.Took-before.Took
	r.stats.put(run)
	x, err := Explain(ctx, t, o)
	if err != nil {
		return nil, err
	}
	x.Run = run
	return x, nil
}

// step counts the next batch, if there is one.
func (r *rebatcher) step(run *RunExplanation) (more bool, err error) {
	_, _, b, err := r.next()
	if err != nil || b == nil {
		return false, err
	}
	defer b.Release()
	run.Rows += b.NumRows()
	run.Batches++
	return true, nil
}

func (s *runStats) put(r *RunExplanation) {
	r.Evaluated = s.evaluated.Load()
	for _, n := range s.columns {
		r.BlocksOfColumns += n
	}
	c := s.reads.Counts()
	r.BlocksAgain = c.Blocks - c.Distinct
	r.Blocks, r.BlockBytes, r.WholeBlocks, r.Values = c.Blocks, c.BlockBytes, c.Whole, c.Values
	r.Prune, r.Filter, r.Decode = s.prune.total(), s.filter.total(), s.decode.total()
}

// counters are the counters of column reads, nil if the scan is not analyzed.
func (s *runStats) counters() table.Counters {
	if s == nil {
		return nil
	}
	return s.reads
}

// evaluations is the counter of the rows whose values a filter looks at, nil if the scan is not analyzed.
func (s *runStats) evaluations() *atomic.Int64 {
	if s == nil {
		return nil
	}
	return &s.evaluated
}

// openFilter counts the columns that a filter has opened in a stripe.
func (s *runStats) openFilter(stripe int, f *rowfilter.Stripe) {
	if s != nil {
		f.EachOpened(func(id uint32, c table.ColumnReader) { s.open(stripe, id, c) })
	}
}

// String prints the explanation.
func (x *Explanation) String() string {
	var b strings.Builder
	columns := strings.Join(x.Columns, ", ")
	if len(x.Columns) == 0 {
		columns = "none"
	} else if len(x.Columns) > 12 {
		columns = fmt.Sprintf("%s and %d more", strings.Join(x.Columns[:12], ", "), len(x.Columns)-12)
	}
	fmt.Fprintf(&b, "columns: %s\n", columns)
	if x.Filter != "" {
		fmt.Fprintf(&b, "where:   %s\nlooks at: %s\n", x.Filter, strings.Join(x.Looks, ", "))
	}
	fmt.Fprintf(&b, "rows:    %d of %d\n", x.Asked, x.Rows)
	for _, s := range x.Stripes {
		fmt.Fprintf(&b, "stripe %d: %d rows\n", s.Stripe, s.Rows)
		for _, step := range s.Steps {
			fmt.Fprintf(&b, "  %-16s leaves %s", step.Source, plural(step.Left, "row"))
			if step.Ranges > 1 {
				fmt.Fprintf(&b, " in %s", plural(int64(step.Ranges), "range"))
			}
			if step.Sure > 0 {
				fmt.Fprintf(&b, ", %d of them for sure", step.Sure)
			}
			if step.Note != "" {
				fmt.Fprintf(&b, " (%s)", step.Note)
			}
			b.WriteByte('\n')
		}
	}
	if x.Run != nil {
		b.WriteString(x.Run.text(x.Filter != ""))
	}
	return b.String()
}

func (r *RunExplanation) text(filtered bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "result:  %s in %s\n", plural(r.Rows, "row"), plural(r.Batches, "batch"))
	if filtered {
		fmt.Fprintf(&b, "values looked at for the filter: of %s\n", plural(r.Evaluated, "row"))
	}
	fmt.Fprintf(&b, "read:    %s, %s\n", plural(r.Requests, "request"), plural(r.Bytes, "byte"))
	read := r.Blocks - r.BlocksAgain
	fmt.Fprintf(&b, "blocks:  %d read, %d skipped of the %d in the columns opened", read, r.BlocksOfColumns-read, r.BlocksOfColumns)
	if r.BlocksAgain > 0 {
		fmt.Fprintf(&b, "; %d read twice", r.BlocksAgain)
	}
	fmt.Fprintf(&b, "\n         %s, %d of them whole; %s wanted\n", plural(r.BlockBytes, "byte"), r.WholeBlocks, plural(r.Values, "value"))
	round := func(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
	fmt.Fprintf(&b, "time:    %v; ", round(r.Elapsed))
	if filtered {
		fmt.Fprintf(&b, "excluding rows %v, filtering others %v, ", round(r.Prune), round(r.Filter))
	}
	fmt.Fprintf(&b, "decoding %v; %v of these reading\n", round(r.Decode), round(r.Read))
	return b.String()
}

func plural(n int64, what string) string { return fmt.Sprint(n, " ", text.Plural(n, what)) }
