package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/stripe/blocks"
	"github.com/amudai/amudai-go/stripe/read"
)

// Explanation is how a scan finds its rows, and what it took if it was run.
type Explanation struct {
	Columns []string // of the result
	Filter  string   // "" for none
	Looks   []string // columns that the filter looks at
	Rows    int64    // of the shard
	Asked   int64    // of the ranges and stripes of the options
	Stripes []StripeExplanation
	Run     *RunExplanation // nil if the scan was not run
}

// StripeExplanation is what is known of a stripe without a look at its values.
type StripeExplanation struct {
	Stripe int
	Rows   int64
	// Steps are the sources that were asked, in order, and what each left.
	Steps []StepExplanation
}

// StepExplanation is what is left of a stripe after a source.
type StepExplanation struct {
	Source Sources
	Left   int64  // rows that may meet the filter
	Sure   int64  // those among them that do
	Ranges int    // that the rows that are left make
	Note   string // what the source is
}

// RunExplanation is what a scan did.
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
	// Prune is the time of asking statistics, filters, dictionaries and indexes, Read
	// that of the requests, within the others; all of all goroutines together.
	Prune, Choose, Decode, Read time.Duration
	Elapsed                     time.Duration
}

// scanStats count what a scan does.
type scanStats struct {
	blocks.Counters
	evaluated             atomic.Int64
	prune, choose, decode atomic.Int64 // nanoseconds

	mu      sync.Mutex
	columns map[openedColumn]int64 // blocks of those that were opened
}

type openedColumn struct {
	stripe int
	id     uint32
}

// open notes that a column was opened, maybe a part of it.
func (s *scanStats) open(stripe int, id uint32, c *read.Column) {
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

// Explain tells which rows a scan would look at, and why not at others. It reads
// metadata, and for filters what they are held against: dictionaries and indexes.
func (s *Shard) Explain(ctx context.Context, o ScanOptions) (*Explanation, error) {
	sc, err := s.newScanner(ctx, o)
	if err != nil {
		return nil, err
	}
	defer sc.close()
	x := &Explanation{Filter: o.Filter.String(), Rows: s.NumRows()}
	for _, f := range sc.schema.Fields() {
		x.Columns = append(x.Columns, f.Name)
	}
	asked := map[int]rowset.Set{}
	var order []int
	for t, ok := sc.plan.next(); ok; t, ok = sc.plan.next() {
		if _, seen := asked[t.stripe]; !seen {
			order = append(order, t.stripe)
		}
		x.Asked += t.to - t.from
		asked[t.stripe] = asked[t.stripe].Or(rowset.Of(rowset.Range{From: t.from, To: t.to}))
	}
	if sc.filter != nil {
		x.Looks = sc.filter.bound.Columns()
	}
	for _, i := range order {
		st := StripeExplanation{Stripe: i, Rows: s.file.Stripe(i).Rows()}
		if sc.filter != nil {
			f, err := newOpenStripe(sc, i).filter()
			if err != nil {
				return nil, fault.InStripe(err, i)
			}
			st.Steps = f.steps
		}
		x.Stripes = append(x.Stripes, st)
	}
	return x, nil
}

// Analyze is Explain, and runs the scan.
func (s *Shard) Analyze(ctx context.Context, o ScanOptions) (*Explanation, error) {
	before := s.file.Reads()
	start := time.Now()
	sc, err := s.newCutter(ctx, o)
	if err != nil {
		return nil, err
	}
	sc.stats = &scanStats{}
	run := &RunExplanation{}
	for err == nil {
		var rows int64
		if rows, err = sc.step(); err == nil {
			run.Rows += rows
			run.Batches++
		}
	}
	sc.close()
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	run.Elapsed = time.Since(start)
	after := s.file.Reads()
	run.Requests, run.Bytes, run.Read = after.Requests-before.Requests, after.Bytes-before.Bytes, after.Took-before.Took
	sc.stats.put(run)
	x, err := s.Explain(ctx, o)
	if err != nil {
		return nil, err
	}
	x.Run = run
	return x, nil
}

// step is next for those who do not want the batch.
func (c *cutter) step() (rows int64, err error) {
	_, _, b, err := c.next()
	if err != nil {
		return 0, err
	}
	defer b.Release()
	return b.NumRows(), nil
}

func (s *scanStats) put(r *RunExplanation) {
	r.Evaluated = s.evaluated.Load()
	for _, n := range s.columns {
		r.BlocksOfColumns += n
	}
	r.BlocksAgain = s.Blocks.Load() - s.Distinct()
	r.Blocks, r.BlockBytes, r.WholeBlocks, r.Values = s.Blocks.Load(), s.Bytes.Load(), s.Whole.Load(), s.Values.Load()
	r.Prune, r.Choose, r.Decode = time.Duration(s.prune.Load()), time.Duration(s.choose.Load()), time.Duration(s.decode.Load())
}

// counters are what reads of columns add to, nil if nobody wants to know.
func (s *scanStats) counters() *blocks.Counters {
	if s == nil {
		return nil
	}
	return &s.Counters
}

// trace notes what a source has left.
func (f *stripeFilter) trace(source Sources, note string) {
	ranges := 0
	for range f.maybe.Ranges() {
		ranges++
	}
	f.steps = append(f.steps, StepExplanation{source, f.maybe.Len(), f.sure.Len(), ranges, note})
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
		fmt.Fprintf(&b, "excluding rows %v, choosing among others %v, ", round(r.Prune), round(r.Choose))
	}
	fmt.Fprintf(&b, "decoding %v; %v of these reading\n", round(r.Decode), round(r.Read))
	return b.String()
}

func plural(n int64, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// kept tells how many entries of dictionaries leaves want.
func (f *stripeFilter) kept(leaves []*filter.Node) string {
	var out []string
	for _, n := range leaves {
		if c := f.leaves[n]; c != nil {
			kept := 0
			for _, k := range c.keep {
				kept += int(k)
			}
			out = append(out, fmt.Sprintf("%d of %d entries of %s", kept, len(c.keep), f.pred.bound.Column(n.Column).Path))
		}
	}
	return strings.Join(out, ", ")
}
