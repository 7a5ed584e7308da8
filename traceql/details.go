package traceql

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/fetched"
	"github.com/amudai/amudai-go/traceql/internal/lower"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// withDetails calls visit for matches of a group with their details.
func (s *search) withDetails(list []match, visit func(match) error) error {
	return halved(list, func(list []match) error {
		free, err := s.details(list)
		if err != nil {
			return s.tooLarge(err, len(list), list[0].id)
		}
		defer free()
		for _, m := range list {
			if err := s.ctx.Err(); err != nil {
				return err
			}
			if err := visit(m); err != nil {
				return err
			}
		}
		return nil
	})
}

// wanted is a span whose details are read.
type wanted struct {
	to   *eval.Span // in Trace.Details
	part int        // of the group
	row  int32
}

// details reads the columns of the spans of results.
func (s *search) details(list []match) (free func(), err error) {
	of := list[0].group
	number := make(map[*spans.Batch]int, len(of.Parts))
	for k, p := range of.Parts {
		number[p.Batch] = k
	}
	var want []wanted
	for _, m := range list {
		m.trace.Details = slices.Clone(m.trace.Spans)
		s.eachShown(m, func(i int) {
			to := &m.trace.Details[i]
			want = append(want, wanted{to, number[m.trace.Spans[i].Batch], to.Row})
		})
	}
	slices.SortFunc(want, func(a, b wanted) int { return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.row, b.row)) })
	want = slices.Compact(want)
	var kept []arrow.RecordBatch
	free = func() {
		for _, rec := range kept {
			rec.Release()
		}
	}
	size := int64(0)
	for len(want) > 0 {
		first := of.Parts[want[0].part]
		src := s.sources[first.Source]
		n := slices.IndexFunc(want, func(w wanted) bool {
			return of.Parts[w.part].Source != first.Source || of.Parts[w.part].Matching != first.Matching
		})
		if n < 0 {
			n = len(want)
		}
		own := want[:n]
		want = want[n:]
		if src.details == nil || first.Matching {
			continue // the evaluation has read all
		}
		for b, err := range src.Scan(s.ctx, src.paths(src.details), filter.Expr{}, numbersOf(of, own)) {
			if err == nil && size > s.o.MaxBytes {
				err = errTooLarge
			}
			if err == nil && b.NumRows() > int64(len(own)) {
				err = errChanged
			}
			var batch *spans.Batch
			if err == nil {
				batch, err = spans.NewBatch(src.schema, b.RecordBatch, src.details)
			}
			if err != nil {
				free()
				return nil, err
			}
			b.Retain()
			kept = append(kept, b.RecordBatch)
			size += batch.Size()
			for row := range int(b.NumRows()) {
				own[row].to.Batch, own[row].to.Row = batch, int32(row)
			}
			own = own[b.NumRows():]
		}
		if len(own) > 0 {
			free()
			return nil, errChanged
		}
	}
	return free, nil
}

var errChanged = fmt.Errorf("a source has other rows than before: it has changed during the search")

// numbersOf are those of rows in their source.
func numbersOf(of *fetched.Group, list []wanted) []rowset.Range {
	rows := make([]int64, len(list))
	var all []int64 // of a part
	for k, w := range list {
		if k == 0 || w.part != list[k-1].part {
			all = all[:0]
			for _, r := range of.Parts[w.part].Numbers {
				for n := r.From; n < r.To; n++ {
					all = append(all, n)
				}
			}
		}
		rows[k] = all[w.row]
	}
	return rowset.Ranges(rows)
}

// eachShown calls visit for the spans of which a result has something.
func (s *search) eachShown(m match, visit func(i int)) {
	if root := m.trace.Root(); root >= 0 {
		visit(root)
	}
	parents := slices.ContainsFunc(s.fields, func(f lower.Field) bool { return f.Field.Parent })
	for _, set := range m.sets {
		for _, i := range s.shown(m.trace, set) {
			visit(i)
			if parents {
				if p := m.trace.Parent(i); p >= 0 {
					visit(p)
				}
			}
		}
	}
}

// shown are the spans of a set that a result has, in their order.
func (s *search) shown(t *eval.Trace, set eval.Set) []int {
	t.Sort(set.Spans)
	if s.o.Spans > 0 {
		return set.Spans[:min(len(set.Spans), s.o.Spans)]
	}
	return set.Spans
}
