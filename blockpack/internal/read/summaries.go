package read

import (
	"context"
	"time"

	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/blockpack/internal/summary"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// TraceSummaries calls visit for those of some traces that are in the file, with what the file says of all spans of each: their number (0 if it does
// not tell), the first start, the time to the last end, and the name and service of the root span, "" without one. ok is false, and nothing visited, if
// the file has no summaries, or they are not believed.
func (t *Table) TraceSummaries(ctx context.Context, ids []string, visit func(i, spans int, start int64, d time.Duration, name, service string)) (ok bool, err error) {
	sections, err := t.sections(ranges.Summaries)
	if err != nil || len(sections) == 0 {
		return false, err
	}
	for i, id := range ids {
		n := t.blocks.meta.Traces.Find([]byte(id))
		if n < 0 {
			continue
		}
		s, err := section(ctx, t, ranges.Summaries, t.summaries, sections, n/summary.PerSection, summary.Parse)
		if err == nil && n%summary.PerSection >= s.Len() {
			err = t.tooFew(ranges.Summaries, s.Len(), n%summary.PerSection)
		}
		if err != nil {
			return false, err
		}
		found := s.Trace(n % summary.PerSection)
		visit(i, found.Spans, found.Start, time.Duration(found.Duration), found.RootName, found.RootService)
	}
	return true, ctx.Err()
}

// TracePlaces calls visit for some rows, in their order, with the places of the spans in the trees of their traces, as [summary.Place] has them. ok is
// false, and nothing visited, if the file has none, or they are not believed.
func (t *Table) TracePlaces(ctx context.Context, rows []rowset.Range, visit func(left, right, parent uint32)) (ok bool, err error) {
	sections, err := t.sections(ranges.Trees)
	if err != nil || len(sections) == 0 {
		return false, err
	}
	for _, r := range rows {
		for r.From < r.To {
			s, err := section(ctx, t, ranges.Trees, t.places, sections, int(r.From/summary.PerSection), summary.ParsePlaces)
			if err != nil {
				return false, err
			}
			from := int(r.From % summary.PerSection)
			to := int(min(int64(from)+r.Len(), summary.PerSection))
			if to > len(s) {
				return false, t.tooFew(ranges.Trees, len(s), from)
			}
			for _, p := range s[from:to] {
				visit(p.Left, p.Right, p.Parent)
			}
			r.From += int64(to - from)
		}
	}
	return true, ctx.Err()
}

func (t *Table) tooFew(kind ranges.SectionName, have, n int) error {
	err := fault.Corruptf("%d entries, but entry %d is looked for", have, n)
	return fault.Of(fault.In(err, kind.Name, -1), t.reader.Name())
}

// sections are the extents of a kind of sections; nil if there are none, or they are not believed.
func (t *Table) sections(kind ranges.SectionName) ([]ranges.Extent, error) {
	l := &t.blocks
	if !l.trusted || !l.traceRows() {
		return nil, nil
	}
	sections, err := l.meta.Ranges.Sections(kind.Column)
	return sections, fault.Of(err, t.reader.Name())
}

// section is the one of a number, read once as long as it stays in the cache.
func section[T interface{ Size() int64 }](ctx context.Context, t *Table, kind ranges.SectionName, cache *lru.Cache[int, T], sections []ranges.Extent, k int, parse func([]byte, int64) (T, error)) (s T, err error) {
	if s, ok := cache.Get(k); ok {
		return s, nil
	}
	defer func() { err = fault.Of(fault.In(err, kind.Name, -1), t.reader.Name()) }()
	if k >= len(sections) {
		return s, fault.Corruptf("%d sections, but section %d is looked for", len(sections), k)
	}
	at := sections[k]
	if at.Length > 100<<20 || at.Offset > t.file.Size-at.Length {
		return s, fault.In(fault.Corruptf("%d bytes at %d in a file of %d bytes", at.Length, at.Offset, t.file.Size), "", at.Offset)
	}
	data, err := storage.ReadRange(ctx, t.reader, at.Offset, at.Length)
	if err != nil {
		return s, err
	}
	if s, err = parse(data, at.Offset); err == nil {
		cache.Put(k, s, s.Size())
	}
	return s, fault.In(err, "", at.Offset)
}
