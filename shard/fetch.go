package shard

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe/read"
)

// Of a shard far away the bytes of all columns are read at once, in few requests:
// first what opening the columns takes (or all of a stripe, if that is little), then
// the blocks, for the rows of several batches.
//
//	columns of the stripe   |a......|b...|c............|
//	rows of a portion          ###     ##      ####        gaps between are read too if small
//	batches                    123     123     123

// gapsOf are the options for reading a shard, with defaults by the latency of its
// store.
func (s *Shard) gapsOf(gap, bytes int64) storage.CoalesceOptions {
	o := storage.CoalesceOptions{Gap: gap, Limit: bytes, Requests: storage.RemoteRequests}
	if o.Gap == 0 && s.file.Root().Capabilities().Latency == storage.LatencyHigh {
		o.Gap = storage.RemoteGap
	}
	return o
}

// fieldLists are how far a scan has read the field lists of stripes.
type fieldLists struct {
	mu sync.Mutex
	to int // stripes before this one are read, or not wanted
}

// readLists reads the field list of a stripe of a shard far away, and with it those of
// the stripes that the scan will come to next. What is wrong with one is found when its
// stripe is opened.
func (sc *scanner) readLists(ctx context.Context, index int) error {
	sc.lists.mu.Lock()
	defer sc.lists.mu.Unlock()
	if sc.gaps.Gap <= 0 || index < sc.lists.to {
		return nil
	}
	stripes := []int{index}
	end := sc.shard.NumStripes()
	if sc.o.Limit < math.MaxInt64 {
		end = index + 1 // it may have enough
	}
	for index++; index < end && len(stripes) < sc.gaps.Requests; index++ {
		if !sc.wanted(index).Empty() {
			stripes = append(stripes, index)
		}
	}
	sc.lists.to = index
	return sc.shard.readLists(ctx, stripes)
}

func (s *Shard) readLists(ctx context.Context, stripes []int) error {
	if err := s.file.ReadFieldLists(ctx, stripes); err != nil && !fault.Is(err) {
		return err
	}
	return nil
}

// needToOpen are the pieces that opening columns of a stripe takes, or all of them.
// Columns that are open need but the latter. What is wrong with a column is found when
// it is opened.
func (s *Shard) needToOpen(ctx context.Context, index int, columns []arrowmap.Column, parts read.Parts, limit int64) (pieces []storage.ByteRange, err error) {
	for i := range columns {
		if _, ok := s.columns.Get(keyOf(index, &columns[i])); ok && parts != read.Whole {
			continue
		}
		pieces, err = read.RangesToOpen(ctx, pieces, s.file.Stripe(index), columns[i], parts, limit)
		if err != nil && !fault.Is(err) {
			return nil, err
		}
	}
	return pieces, nil
}

// fetchToOpen reads what opening columns takes, and the rest of them too if all rows
// are wanted, and are little.
func (s *openStripe) fetchToOpen(ctx context.Context, columns []arrowmap.Column, parts read.Parts) (f storage.Prefetched, err error) {
	sc := s.sc
	if sc.gaps.Gap <= 0 {
		return nil, nil
	}
	var pieces []storage.ByteRange
	if sc.filter == nil && sc.o.Limit == math.MaxInt64 && sc.wanted(s.index).Len() == s.stripe.Rows() {
		if pieces, err = sc.shard.needToOpen(ctx, s.index, columns, read.Whole, math.MaxInt64); err != nil {
			return nil, err
		}
	}
	if len(pieces) == 0 || storage.TotalSize(pieces) > sc.gaps.Limit {
		if pieces, err = sc.shard.needToOpen(ctx, s.index, columns, parts, sc.gaps.Limit); err != nil {
			return nil, err
		}
	}
	f, err = storage.Prefetch(ctx, pieces, sc.gaps)
	sc.mu.Lock()
	defer sc.mu.Unlock()
	s.held += f.Size()
	sc.fetched += f.Size()
	return f, err
}

// portions are what was read ahead of a stripe. They belong to a scan.
type portions struct {
	opened func() (storage.Prefetched, error) // what was read to open the columns
	mu     sync.Mutex
	rows   int64      // of a portion; 0 until the columns are open
	newest []*portion // that may be needed; the scanner's lock guards it
}

// portion is the bytes of some columns for rows of a stripe. Batches that decode
// from it hold it.
type portion struct {
	rows  rowset.Range
	size  int64 // of its bytes, as far as it is known
	gone  bool
	fetch func() (storage.Prefetched, error) // reads once
}

// fetched reads the bytes of columns for the rows of a job, and for those of the jobs
// that follow, unless that was done for an earlier one. open opens column i of n;
// wanted are the rows of the stripe that the scan may come to.
func (p *portions) fetched(sc *scanner, j *job, n int, wanted rowset.Set, open func(i int) (*read.Column, error)) (storage.Prefetched, error) {
	if n == 0 || j.rows.Empty() {
		return nil, nil
	}
	columns := make([]*read.Column, n)
	for i := range columns {
		var err error
		if columns[i], err = open(i); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	if p.rows == 0 {
		size := int64(0)
		for _, c := range columns {
			size += c.DataSize()
		}
		batch := int64(sc.o.BatchRows)
		perBatch := size/max(j.stripe.stripe.Rows()/batch, 1) + 1
		p.rows = batch * max(sc.gaps.Limit/perBatch, 1)
	}
	p.mu.Unlock()
	number := j.rows.Bounds().From / p.rows
	now := p.portion(sc, number, columns, wanted, false)
	if sc.o.Parallelism > 1 && (number+1)*p.rows < wanted.Bounds().To {
		if next := p.portion(sc, number+1, columns, wanted, true); next != nil {
			sc.workers.Go(func() { _, _ = next.fetch() }) // who needs it gets the error
		}
	}
	return now.fetch()
}

// portion is the one of a number. One to read ahead is nil if there is no room for it.
func (p *portions) portion(sc *scanner, number int64, columns []*read.Column, wanted rowset.Set, ahead bool) *portion {
	rows := rowset.Range{From: number * p.rows, To: (number + 1) * p.rows}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for _, q := range p.newest {
		if q.rows == rows {
			return q
		}
	}
	if ahead && sc.held+sc.fetched+2*sc.gaps.Limit > sc.o.MemoryLimit {
		return nil
	}
	q := &portion{rows: rows}
	q.fetch = sync.OnceValues(func() (storage.Prefetched, error) { return p.read(sc, q, columns, wanted.Clip(rows.From, rows.To)) })
	p.newest = append(p.newest, q)
	return q
}

// read reads a portion, but for what was read to open its columns.
func (p *portions) read(sc *scanner, q *portion, columns []*read.Column, rows rowset.Set) (f storage.Prefetched, err error) {
	defer fault.Recover(&err)
	have, err := p.opened()
	if err != nil {
		return nil, err
	}
	var pieces []storage.ByteRange
	for _, c := range columns {
		pieces = c.ByteRanges(pieces, rows)
	}
	sc.charge(q, storage.TotalSize(pieces))
	f, err = storage.Prefetch(sc.ctx, have.Missing(pieces), sc.gaps)
	sc.charge(q, f.Size())
	return slices.Concat(have, f), err
}

// opened is what was read to open the stripe's columns.
func (s *openStripe) opened() (all storage.Prefetched, err error) {
	for _, g := range s.groups {
		f, err := g()
		if err != nil {
			return nil, err
		}
		all = append(all, f...)
	}
	return all, nil
}

// charge notes how many bytes a portion has.
func (sc *scanner) charge(q *portion, size int64) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if !q.gone {
		sc.fetched += size - q.size
		q.size = size
	}
}

// forget drops what was read ahead of a stripe, but for what jobs in the queue need
// and those that follow may. The lock is held.
func (sc *scanner) forget(st *openStripe) {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	if st == sc.open {
		low, high = st.newest, st.newest
	}
	for _, j := range sc.queue {
		if j.stripe == st && j.pending > 0 {
			low, high = min(low, j.from), max(high, j.from)
		}
	}
	for _, p := range []*portions{&st.chosen, &st.result} {
		p.newest = slices.DeleteFunc(p.newest, func(q *portion) bool {
			q.gone = low == math.MaxInt64 || q.rows.To <= low || q.rows.From > high+q.rows.Len()
			if q.gone {
				sc.fetched -= q.size
			}
			return q.gone
		})
	}
	if low == math.MaxInt64 {
		sc.fetched -= st.held
		st.held = 0
	}
}

// wanted are the rows of a stripe that the scan may come to.
func (sc *scanner) wanted(index int) rowset.Set {
	if sc.o.Stripes != nil && !slices.Contains(sc.o.Stripes, index) {
		return rowset.Set{}
	}
	st := sc.shard.file.Stripe(index)
	from, to := st.Position(), st.Position()+st.Rows()
	ranges := sc.o.Rows
	if ranges == nil {
		ranges = []RowRange{{From: from, To: to}}
	}
	rows := make([]RowRange, 0, len(ranges))
	for _, r := range ranges {
		r = RowRange{From: max(r.From, from) - from, To: min(r.To, to) - from}
		if r.To-r.From > sc.plan.most {
			r.To = r.From + sc.plan.most
		}
		rows = append(rows, r)
	}
	return rowset.Of(rows...)
}

// fetchColumns reads the bytes of the result's columns for a job ahead.
func (sc *scanner) fetchColumns(j *job) (storage.Prefetched, error) {
	if sc.gaps.Gap <= 0 {
		return nil, nil
	}
	if sc.filter != nil {
		return sc.fetchChosen(j)
	}
	return j.stripe.result.fetched(sc, j, len(sc.columns), sc.wanted(j.stripe.index), func(i int) (*read.Column, error) {
		return j.stripe.column(sc.ctx, i, 0, false)
	})
}

// fetchChosen reads the bytes of the result's columns for the rows that a filter has
// left of a job. If these take about as much as all its rows, so will those of the
// jobs that follow, and are read with them.
func (sc *scanner) fetchChosen(j *job) (have storage.Prefetched, err error) {
	defer fault.Recover(&err)
	var others []*read.Column // that the filter does not look at
	var some, all []storage.ByteRange
	rows := rowset.Of(rowset.Range{From: j.from, To: j.to})
	for i := range sc.columns {
		col := &sc.columns[i]
		if j.has(col) {
			continue
		}
		c, err := j.stripe.column(sc.ctx, i, 0, false)
		if err != nil {
			return nil, err
		}
		some = c.ByteRanges(some, j.rows)
		if !sc.filter.looksAt(col.ID) {
			others = append(others, c)
			all = c.ByteRanges(all, rows)
		}
	}
	have = j.looked
	if 2*storage.TotalSize(some) >= storage.TotalSize(all) {
		looks, err := j.stripe.filter()
		if err != nil {
			return nil, err
		}
		wanted := sc.wanted(j.stripe.index).And(looks.maybe)
		f, err := j.stripe.result.fetched(sc, j, len(others), wanted, func(i int) (*read.Column, error) { return others[i], nil })
		if err != nil {
			return nil, err
		}
		have = slices.Concat(have, f)
	}
	f, err := storage.Prefetch(sc.ctx, have.Missing(some), sc.gaps)
	sc.mu.Lock()
	defer sc.mu.Unlock()
	j.read = f.Size()
	sc.fetched += j.read
	return slices.Concat(have, f), err
}

// fetchFilter reads the bytes of the filter's columns for a job ahead, and for those
// that follow.
func (sc *scanner) fetchFilter(j *job, f *stripeFilter) (storage.Prefetched, error) {
	if sc.gaps.Gap <= 0 {
		return nil, nil
	}
	unsure := f.unsure()
	if j.rows.And(unsure).Empty() {
		return nil, nil
	}
	wanted := sc.wanted(j.stripe.index).And(unsure)
	return j.stripe.chosen.fetched(sc, j, len(f.columns), wanted, func(i int) (*read.Column, error) {
		return f.reader(sc.ctx, i)
	})
}
