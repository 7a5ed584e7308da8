package read

import (
	"cmp"
	"context"
	"time"

	"github.com/amudai/amudai-go/blockpack/internal/summary"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// TraceSummaries calls visit for those of some traces that are in the file, with what the file says of all spans of each: their number (0 if it does
// not tell), the first start, the time to the last end, and the name and service of the root span, "" without one. ok is false, and nothing visited, if
// the file has no summaries, or they are not believed.
func (t *Table) TraceSummaries(ctx context.Context, ids []string, visit func(i, spans int, start int64, d time.Duration, name, service string)) (ok bool, err error) {
	l := &t.blocks
	sections, err := l.meta.Ranges.Sections()
	if err != nil || len(sections) == 0 || !l.trusted || !l.traceRows() {
		return false, fault.Of(err, t.reader.Name())
	}
	for i, id := range ids {
		n := l.meta.Traces.Find([]byte(id))
		if n < 0 {
			continue
		}
		s, err := t.summary(ctx, n/summary.PerSection)
		if err == nil && n%summary.PerSection >= s.Len() {
			err = fault.In(fault.Corruptf("%d traces, but trace %d is looked for", s.Len(), n%summary.PerSection), "summary of traces", -1)
		}
		if err != nil {
			return false, fault.Of(err, t.reader.Name())
		}
		found := s.Trace(n % summary.PerSection)
		visit(i, found.Spans, found.Start, time.Duration(found.Duration), found.RootName, found.RootService)
	}
	return true, ctx.Err()
}

// summary is a section, read once as long as it stays in the cache.
func (t *Table) summary(ctx context.Context, n int) (*summary.Section, error) {
	if s, ok := t.summaries.Get(n); ok {
		return s, nil
	}
	sections, err := t.blocks.meta.Ranges.Sections()
	if err == nil && n >= len(sections) {
		err = fault.In(fault.Corruptf("%d sections, but section %d is looked for", len(sections), n), "summary of traces", -1)
	}
	if err != nil {
		return nil, err
	}
	at := sections[n]
	if limit := cmp.Or(t.o.MaxMetadataBytes, 100<<20); at.Length > limit || at.Offset > t.file.Size-at.Length {
		return nil, fault.In(fault.Corruptf("%d bytes at %d in a file of %d bytes", at.Length, at.Offset, t.file.Size), "summary of traces", at.Offset)
	}
	data, err := storage.ReadRange(ctx, t.reader, at.Offset, at.Length)
	if err != nil {
		return nil, err
	}
	s, err := summary.Parse(data, at.Offset)
	if err == nil {
		t.summaries.Put(n, s, s.Size())
	}
	return s, err
}
