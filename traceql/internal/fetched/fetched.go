// Package fetched is the spans of traces that a search has read.
package fetched

import (
	"bytes"
	"errors"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// ErrTooLarge is the error of spans that need more memory than a limit.
var ErrTooLarge = errors.New("the spans of the traces are too large")

// Group is the spans of some traces.
type Group struct {
	IDs       []string       // of the traces
	MaxTraces int            // traces are added as they are found, at most so many; 0: no more. Others are ErrTooLarge
	Summaries []eval.Summary // of traces of which only spans that match were read; Spans is 0 where all were
	Parts     []Part

	place  map[string]int32 // of a trace
	counts []int            // of the spans of each trace
	of     [][]int32        // for each row of a part its trace, or -1
	size   int64            // in bytes
	limit  int64            // of size
	odd    map[int32]bool   // traces with a span of which a place was looked for, but is not known
}

// Part is rows of a source.
type Part struct {
	*spans.Batch
	Source   int  // of the search
	Matching bool // the rows match; otherwise they are all of their traces
	Numbers  []rowset.Range
}

// New is a group without spans, which take at most limit bytes.
func New(limit int64, ids []string) *Group {
	g := &Group{limit: limit, place: make(map[string]int32, len(ids)), odd: map[int32]bool{}}
	for _, id := range ids {
		g.addTrace(id)
	}
	return g
}

func (g *Group) addTrace(id string) int32 {
	n := int32(len(g.IDs))
	g.place[id], g.IDs, g.counts = n, append(g.IDs, id), append(g.counts, 0)
	return n
}

const perSpan = 64

// Add adds rows, and retains them until Release.
func (g *Group) Add(p Part) error {
	of := make([]int32, p.Record.NumRows())
	last, known := []byte(nil), int32(-1)
	for row := range of {
		if id := p.TraceID(row); row == 0 || !bytes.Equal(id, last) {
			var ok bool
			switch known, ok = g.place[string(id)]; {
			case ok:
			case g.MaxTraces == 0 || len(id) == 0:
				known = -1
			case len(g.IDs) == g.MaxTraces:
				return ErrTooLarge
			default:
				known = g.addTrace(string(id))
			}
			last = id
		}
		if of[row] = known; known >= 0 {
			g.counts[known]++
			if p.Places != nil && p.Places[row].Left == 0 {
				g.odd[known] = true
			}
		}
	}
	p.Record.Retain()
	g.Parts, g.of = append(g.Parts, p), append(g.of, of)
	if g.size += p.Size() + perSpan*int64(len(of)); g.size > g.limit {
		return ErrTooLarge
	}
	return nil
}

// Release gives up the rows.
func (g *Group) Release() {
	for _, p := range g.Parts {
		p.Record.Release()
	}
}

// Whole drops the rows of the traces that are not known by their summaries, and gives their ids: all of their spans are to be read.
func (g *Group) Whole(known func(trace int) bool) (ids []string) {
	for i, id := range g.IDs {
		if g.Summaries[i].Spans == 0 || g.odd[int32(i)] || !known(i) {
			g.Summaries[i].Spans, g.counts[i] = 0, 0
			ids = append(ids, id)
		}
	}
	return ids
}

// Summary describes a trace of which only the spans are there that match; nil for others.
func (g *Group) Summary(trace int) *eval.Summary {
	if g.Summaries == nil || g.Summaries[trace].Spans == 0 {
		return nil
	}
	return &g.Summaries[trace]
}

// Traces are the spans of each trace, in the order in which they were read.
func (g *Group) Traces() [][]eval.Span {
	total := 0
	for _, n := range g.counts {
		total += n
	}
	all, out := make([]eval.Span, total), make([][]eval.Span, len(g.counts))
	for i, n := range g.counts {
		out[i], all = all[:0:n], all[n:]
	}
	for k, p := range g.Parts {
		for row, i := range g.of[k] {
			if i >= 0 && (g.Summary(int(i)) != nil) == p.Matching {
				out[i] = append(out[i], eval.Span{Batch: p.Batch, Row: int32(row), Start: p.Start(row)})
			}
		}
	}
	return out
}
