package traceql

import (
	"context"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/lower"
)

// Explanation describes how a search finds its traces. Its String method is a page of text.
type Explanation struct {
	Query      string
	Candidates string          // the conditions that a trace must meet to be examined
	Scans      []Scan          // that find candidates, in the order of the search
	Spans      []ScanCondition // the conditions on spans of candidates, for each spanset filter of the query
	Run        *Run            // nil after Explain
}

// Scan describes the scans of all sources for a condition.
type Scan struct {
	Condition string
	Sources   []ScanCondition
}

// ScanCondition describes what a source evaluates for a condition.
type ScanCondition struct {
	Source    int // index in the sources of the search
	Condition string
	Filter    filter.Expr  // on rows; empty for all rows
	None      bool         // no row of the source can meet the condition: it is not read
	Exact     bool         // the filter is the condition; otherwise the spans that it leaves are examined one by one
	Plan      fmt.Stringer // how the source finds the rows; nil if it does not tell
}

// Run counts the work of a search.
type Run struct {
	Candidates int64 // traces that may match
	Fetched    int64 // traces whose spans were read; some of them twice if Options.Order needs it
	Spans      int64 // their spans
	Evaluated  int64 // conditions on single spans, because no filter on columns decides them
	Steps      int64 // of evaluations, as Options.MaxSteps counts them
	Traces     int64 // of the result
}

// Explain describes a search without running it. Sources may read indexes.
func Explain(ctx context.Context, q *Query, sources []Source, o Options) (*Explanation, error) {
	s, err := newSearch(ctx, q, sources, o)
	if err != nil {
		return nil, err
	}
	return s.explain()
}

// Analyze runs a search and describes it, with its work in Explanation.Run.
func Analyze(ctx context.Context, q *Query, sources []Source, o Options) (*Explanation, error) {
	s, err := newSearch(ctx, q, sources, o)
	if err != nil {
		return nil, err
	}
	e, err := s.explain()
	if err != nil {
		return nil, err
	}
	if err := s.run(func(*Trace) bool { return true }); err != nil && err != errStop {
		return nil, err
	}
	e.Run = &s.counts
	return e, nil
}

func (s *search) explain() (*Explanation, error) {
	e := &Explanation{Query: s.q.String(), Candidates: s.traces.String()}
	leaves, err := s.inOrder(s.traces)
	if err != nil {
		return nil, err
	}
	for _, c := range leaves {
		scan := Scan{Condition: c.String()}
		for _, src := range s.sources {
			sc, err := src.explain(s.ctx, c.String(), src.condition(c))
			if err != nil {
				return nil, err
			}
			scan.Sources = append(scan.Sources, sc)
		}
		e.Scans = append(e.Scans, scan)
	}
	for i, f := range s.q.program.Filters {
		for _, src := range s.sources {
			e.Spans = append(e.Spans, src.scanCondition(lang.Text(f), src.filters.Cond(i)))
		}
	}
	return e, nil
}

// inOrder are the conditions in the order in which they are scanned for.
func (s *search) inOrder(c *lower.Candidates) (leaves []*lower.Candidates, err error) {
	if c.And == nil && c.Or == nil {
		return []*lower.Candidates{c}, nil
	}
	list := c.Or
	if c.And != nil {
		order, err := s.byRows(c.And)
		if err != nil {
			return nil, err
		}
		for _, i := range order {
			list = append(list, c.And[i])
		}
		if len(list) == 0 {
			list = c.And[:1]
		}
	}
	for _, below := range list {
		part, err := s.inOrder(below)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, part...)
	}
	return leaves, nil
}

func (s *source) scanCondition(text string, cond lower.Cond) ScanCondition {
	return ScanCondition{Source: s.index, Condition: text, Filter: cond.Filter(), None: cond.None(), Exact: cond.Exact()}
}

func (s *source) explain(ctx context.Context, condition string, cond lower.Cond) (ScanCondition, error) {
	sc := s.scanCondition(condition, cond)
	explained, ok := s.Source.(ExplainedSource)
	if !ok || sc.None {
		return sc, nil
	}
	var err error
	sc.Plan, _, err = explained.ExplainScan(ctx, []string{s.traceID().Path}, sc.Filter)
	return sc, err
}

// String describes the search as text of several lines.
func (e *Explanation) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "query:      %s\ncandidates: %s\n", e.Query, e.Candidates)
	for _, scan := range e.Scans {
		fmt.Fprintf(&out, "scan for %s\n", scan.Condition)
		for _, sc := range scan.Sources {
			out.WriteString("  " + sc.line() + "\n")
			if sc.Plan != nil {
				for line := range strings.Lines(strings.TrimSpace(sc.Plan.String())) {
					out.WriteString("    " + line)
				}
				out.WriteString("\n")
			}
		}
	}
	for _, sc := range e.Spans {
		fmt.Fprintf(&out, "spans of %s\n  %s\n", sc.Condition, sc.line())
	}
	if e.Run != nil {
		fmt.Fprintf(&out, "run:        %d candidates, %d traces read with %d spans, %d conditions evaluated on single spans, %d steps, %d traces found\n",
			e.Run.Candidates, e.Run.Fetched, e.Run.Spans, e.Run.Evaluated, e.Run.Steps, e.Run.Traces)
	}
	return out.String()
}

func (c ScanCondition) line() string {
	text := c.Filter.String()
	switch {
	case c.None:
		return fmt.Sprintf("source %d: no span can match", c.Source)
	case text == "":
		text = "all rows"
	}
	if !c.Exact {
		text += ", then span by span"
	}
	return fmt.Sprintf("source %d: %s", c.Source, text)
}
