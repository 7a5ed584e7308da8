package read

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// TraceOptions are those of blockpack.File.Traces, which describes them.
type TraceOptions struct {
	Columns       []string
	Schema        *arrow.Schema
	Offset, Limit int64
	Root          []byte
	Parallelism   int
	Allocator     memory.Allocator
}

func (o *TraceOptions) setDefaults() error {
	o.Allocator = cmp.Or(o.Allocator, memory.DefaultAllocator)
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	switch {
	case o.Parallelism < 0:
		return fmt.Errorf("TraceOptions.Parallelism is %d", o.Parallelism)
	case o.Offset < 0 || o.Limit < 0:
		return fmt.Errorf("TraceOptions has the page of %d spans from %d on", o.Limit, o.Offset)
	case o.Schema != nil && o.Columns != nil:
		return fmt.Errorf("TraceOptions has Columns and a Schema")
	}
	return nil
}

// Traces finds the spans of traces, block by block.
func (t *Table) Traces(ctx context.Context, ids [][]byte, o TraceOptions) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if err := t.traces(ctx, ids, o, func(b arrow.RecordBatch) bool { return yield(b, nil) }); err != nil {
			yield(nil, fault.Of(err, t.reader.Name()))
		}
	}
}

func (t *Table) traces(ctx context.Context, ids [][]byte, o TraceOptions, yield func(arrow.RecordBatch) bool) error {
	if err := o.setDefaults(); err != nil {
		return err
	}
	plan, err := t.planTraces(ctx, ids)
	if err != nil {
		return err
	}
	x, err := newTraceReader(t, o)
	if err != nil {
		return err
	}
	if o.Root != nil {
		plan, err = x.subtree(ctx, plan, o.Root)
		if err != nil {
			return err
		}
	}
	if o.Offset > 0 || o.Limit > 0 {
		if plan, err = x.page(ctx, plan, o.Offset, o.Limit); err != nil {
			return err
		}
	}
	return x.batches(ctx, plan, yield)
}

// batches yields the spans of blocks in order, until yield returns false. It reads several blocks at a time.
func (x *traceReader) batches(ctx context.Context, plan []tracePart, yield func(arrow.RecordBatch) bool) error {
	type result struct {
		block int
		batch arrow.RecordBatch
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make([]chan result, len(plan))
	started, done := 0, 0
	start := func() {
		if started == len(plan) {
			return
		}
		c, part := make(chan result, 1), plan[started]
		results[started] = c
		started++
		go func() {
			r := result{block: part.block, err: ctx.Err()}
			defer func() { c <- r }()
			defer fault.Recover(&r.err)
			if r.err == nil {
				r.batch, r.err = x.batch(ctx, part)
			}
		}()
	}
	defer func() {
		cancel()
		for _, c := range results[done:started] {
			if r := <-c; r.batch != nil {
				r.batch.Release()
			}
		}
	}()
	for range x.o.Parallelism {
		start()
	}
	for _, c := range results {
		r := <-c
		if done++; r.err != nil {
			return fault.InStripe(r.err, r.block)
		}
		start()
		wanted := r.batch.NumRows() == 0 || yield(r.batch)
		r.batch.Release()
		if !wanted {
			return nil
		}
	}
	return nil
}

// tracePart is what is wanted of a block.
type tracePart struct {
	block          int
	offset, length int64
	ids            []string // ascending
	counts         []int    // of spans of each id, as the index has them; nil if it has none
	rows           []int64  // ascending; nil: those with the ids, which are to be found
}

// planTraces finds the blocks that have spans of traces, or may have.
func (t *Table) planTraces(ctx context.Context, ids [][]byte) ([]tracePart, error) {
	wanted := make([]string, len(ids))
	for i, id := range ids {
		wanted[i] = string(id)
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	if len(wanted) == 0 {
		return nil, nil
	}
	compact, err := t.file.Compact(ctx)
	if err != nil {
		return nil, err
	}
	p := tracePlan{parts: map[int]*tracePart{}}
	if compact != nil && compact.Blocks() <= layout.MaxIndexed && t.indexed(ctx, compact) {
		p.extent = func(i int) (int64, int64, bool) {
			if i >= compact.Blocks() {
				return 0, 0, false
			}
			offset, length := compact.Block(i)
			return offset, length, true
		}
		err = p.lookUp(compact.Traces, wanted)
	} else {
		err = t.planByMetadata(ctx, &p, wanted)
	}
	if err != nil {
		return nil, err
	}
	return p.sorted(), nil
}

// tracePlan collects the blocks.
type tracePlan struct {
	parts  map[int]*tracePart
	extent func(block int) (offset, length int64, ok bool)

	counted bool // the number of spans in each block is known
}

func (p *tracePlan) add(block int, id string, spans int) error {
	part := p.parts[block]
	if part == nil {
		offset, length, ok := p.extent(block)
		if !ok {
			return fault.In(fault.Corruptf("trace %x is in block %d, which does not exist", id, block), "trace index", -1)
		}
		part = &tracePart{block: block, offset: offset, length: length}
		p.parts[block] = part
	}
	if n := len(part.ids); n == 0 || part.ids[n-1] != id {
		part.ids, part.counts = append(part.ids, id), append(part.counts, 0)
	}
	part.counts[len(part.counts)-1] += spans
	return nil
}

func (p *tracePlan) sorted() []tracePart {
	out := make([]tracePart, 0, len(p.parts))
	for _, part := range p.parts {
		if !p.counted {
			part.counts = nil
		}
		out = append(out, *part)
	}
	slices.SortFunc(out, func(a, b tracePart) int { return a.block - b.block })
	return out
}

// lookUp asks a trace index. It has only ids of 16 bytes.
func (p *tracePlan) lookUp(x *layout.TraceIndex, ids []string) error {
	p.counted = x.HasRows()
	var found []layout.TraceBlock
	for _, id := range ids {
		if len(id) != len(layout.TraceID{}) {
			continue
		}
		var err error
		if found, err = x.Lookup(found[:0], layout.TraceID([]byte(id))); err != nil {
			return err
		}
		for _, b := range found {
			if err := p.add(b.Block, id, b.Rows.Len()); err != nil {
				return err
			}
		}
	}
	return nil
}

// longBlock is a block that may have more spans than a trace index can number, which would lack some of them then. Of shorter ones
// nobody looks at the number of spans, because that is in the metadata.
const longBlock = 4 << 20

// indexed reports whether all blocks have so few spans that the compact index has all of them.
func (t *Table) indexed(ctx context.Context, compact *layout.CompactIndex) bool {
	long := false
	for i := 0; i < compact.Blocks() && !long; i++ {
		_, length := compact.Block(i)
		long = length >= longBlock
	}
	if !long {
		return true
	}
	return t.LoadBlocks(ctx) == nil && t.blocks.Load().meta.TracesComplete
}

// planByMetadata asks the trace index of the metadata or, without one, the bounds of the ids of blocks.
func (t *Table) planByMetadata(ctx context.Context, p *tracePlan, ids []string) error {
	if err := t.LoadBlocks(ctx); err != nil {
		return err
	}
	l := t.blocks.Load()
	p.extent = func(i int) (int64, int64, bool) {
		if i >= len(l.meta.Blocks) {
			return 0, 0, false
		}
		return l.meta.Blocks[i].Offset, l.meta.Blocks[i].Length, true
	}
	if x := l.meta.Traces; x.Len() > 0 && l.meta.TracesComplete {
		return p.lookUp(x, ids)
	}
	for i := range l.meta.Blocks {
		b := &l.meta.Blocks[i]
		for _, id := range ids {
			if l.rows(i) == 0 || l.trusted && (len(id) != len(layout.TraceID{}) || !b.MayHaveTrace(layout.TraceID([]byte(id)))) {
				continue
			}
			if err := p.add(i, id, 0); err != nil {
				return err
			}
		}
	}
	return nil
}
