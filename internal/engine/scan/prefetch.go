package scan

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowfilter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// If the requests of a table are slow, the bytes of all columns are read together: first those for opening the columns, or
// a whole small stripe, then the blocks for the rows of several batches.

// stripePrefetcher reads the metadata that finding columns in stripes takes, for several stripes at a time.
type stripePrefetcher struct {
	mu sync.Mutex
	to int // the stripes before this one have been read, or are not wanted
}

// prefetchStripes reads the metadata that finding columns takes, of a stripe and of those that the scan reads next.
func (sc *scanner) prefetchStripes(ctx context.Context, index int) error {
	p := &sc.prefetcher
	p.mu.Lock()
	defer p.mu.Unlock()
	if !sc.windows() || index < p.to {
		return nil
	}
	var stripes []int
	stripes, p.to = sc.following(max(p.to, index-inFlight), index)
	return sc.table.PrefetchStripes(ctx, stripes)
}

// following are a stripe and those that the scan reads next, all of which lie before stripe to. Those from first on are among them, whichever of the
// jobs in flight comes first.
func (sc *scanner) following(first, index int) (stripes []int, to int) {
	most := min(max(1<<16/max(sc.table.NumNodes(), 1), storage.RemoteRequests), inFlight) // metadata of wide tables take memory
	end := sc.table.NumStripes()
	if sc.o.Limit < math.MaxInt64 {
		end = index + 1 // this stripe may have enough rows
	}
	for to = first; to <= index || to < end && len(stripes) < most; to++ {
		if to == index || !sc.asked(to).Empty() && (sc.filter == nil || !sc.filter.Excludes(sc.table.Stripe(to))) {
			stripes = append(stripes, to)
		}
	}
	return stripes, to
}

// asked are the rows of a stripe that the options ask for.
func (sc *scanner) asked(stripe int) rowset.Set {
	if sc.o.Stripes != nil && !slices.Contains(sc.o.Stripes, stripe) {
		return rowset.Set{}
	}
	st := sc.table.Stripe(stripe)
	return rowset.Of(rowset.Clip(rowset.Shift(sc.o.Rows, st.Position()), st.Rows())...)
}

// wanted are the rows of the stripe that a scan may read.
func (s *stripeScan) wanted() rowset.Set {
	rows := s.scan.asked(s.index)
	if s.shown != nil {
		rows = rows.And(*s.shown)
	}
	rows, _ = rows.Split(s.scan.most())
	return rows
}

// wholeFilter is the number of bytes of a filter's columns that are read with what opening them takes: they arrive about as soon as the answer to
// another request.
const wholeFilter = 1 << 20

// prefetchToOpen reads the bytes for opening columns. If all rows are wanted and take few bytes, it reads those as well.
func (s *stripeScan) prefetchToOpen(ctx context.Context, columns []table.Column, parts table.Parts) (f storage.Prefetched, err error) {
	sc := s.scan
	if !sc.windows() {
		return nil, nil
	}
	var ranges []storage.ByteRange
	whole := sc.coalesce.Limit // all values are read if they take no more
	switch {
	case slices.Contains(sc.lengths, true) || sc.o.Limit < math.MaxInt64 || sc.asked(s.index).Len() < s.stripe.Rows():
		whole = 0
	case parts == table.ToFilter:
		whole = min(whole, wholeFilter)
	case sc.filter != nil:
		whole = 0
	}
	if whole > 0 {
		if ranges, err = s.stripe.RangesToOpen(ctx, columns, table.AllValues, math.MaxInt64); err != nil {
			return nil, err
		}
	}
	stored := storage.TotalSize(ranges)
	all := len(ranges) > 0 && stored <= whole
	if !all {
		ranges = nil
	}
	if !all || parts == table.ToFilter { // which range indexes are of, and values not
		open, err := s.stripe.RangesToOpen(ctx, columns, parts, sc.coalesce.Limit)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, open...)
	}
	if parts == table.ToFilter && len(s.groups) == 1 { // what the result takes, too, if it is about as little as another request costs
		if err := s.stripe.PrefetchMetadata(ctx, sc.columns); err != nil {
			return nil, err
		}
		open, err := s.stripe.RangesToOpen(ctx, sc.columns, table.ToOpen, sc.coalesce.Limit)
		if err != nil {
			return nil, err
		}
		if storage.TotalSize(open) <= storage.RemoteGap {
			ranges = append(ranges, open...)
		}
		values, err := s.stripe.RangesToOpen(ctx, sc.columns, table.AllValues, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		stored += storage.TotalSize(values)
	}
	if whole > 0 && len(s.groups) == 1 {
		sc.queue.learn(stored, s.stripe.Rows())
	}
	have := s.read()
	f, err = storage.Prefetch(ctx, have.Missing(ranges), sc.coalesce)
	s.windows.addOpened(f.Size())
	return slices.Concat(have, f), err
}

// read is what was read to open the filter's columns, if that was done.
func (s *stripeScan) read() storage.Prefetched {
	if f := s.looked.Load(); f != nil {
		return *f
	}
	return nil
}

// fetchColumns reads the bytes of the result's columns for a job and those that follow.
func (sc *scanner) fetchColumns(j *job) (storage.Prefetched, error) {
	switch {
	case !sc.windows():
		return nil, nil
	case sc.filter != nil:
		return sc.fetchFiltered(j)
	}
	return j.stripe.windows.result.fetch(j, len(sc.columns), j.stripe.wanted(), func(i int) (table.ColumnReader, error) {
		return j.stripe.column(sc.ctx, i, false)
	})
}

// fetchFiltered reads the bytes of the result's columns for the rows of a job that a filter has left. If these take about as
// many bytes as all rows, so will those of the following jobs, which are then read together with them.
func (sc *scanner) fetchFiltered(j *job) (have storage.Prefetched, err error) {
	defer fault.Recover(&err)
	var others []table.ColumnReader // that the filter does not look at
	var some, all []storage.ByteRange
	for i := range sc.columns {
		col := &sc.columns[i]
		if !sc.lengths[i] && j.hasDecoded(col) {
			continue
		}
		c, err := j.stripe.column(sc.ctx, i, false)
		if err != nil {
			return nil, err
		}
		some = c.AppendRanges(some, j.rows)
		if !sc.filter.LooksAt(col.ID) {
			others = append(others, c)
			all = c.AppendRanges(all, j.all)
		}
	}
	have = j.looked
	if 2*storage.TotalSize(some) >= storage.TotalSize(all) {
		looks, err := j.stripe.filter()
		if err != nil {
			return nil, err
		}
		wanted := j.stripe.wanted().And(looks.Maybe)
		f, err := j.stripe.windows.result.fetch(j, len(others), wanted, func(i int) (table.ColumnReader, error) { return others[i], nil })
		if err != nil {
			return nil, err
		}
		have = slices.Concat(have, f)
	}
	f, err := storage.Prefetch(sc.ctx, have.Missing(some), sc.coalesce)
	j.read = f.Size()
	sc.budget.ahead.Add(j.read)
	return slices.Concat(have, f), err
}

// fetchFilter reads the bytes of the filter's columns for a job and those that follow.
func (sc *scanner) fetchFilter(j *job, f *rowfilter.Stripe) (storage.Prefetched, error) {
	if !sc.windows() {
		return nil, nil
	}
	unknown := f.Maybe.Minus(f.Sure)
	if j.rows.And(unknown).Empty() {
		return j.stripe.read(), nil
	}
	wanted := j.stripe.wanted().And(unknown)
	return j.stripe.windows.filter.fetch(j, f.NumColumns(), wanted, func(i int) (table.ColumnReader, error) {
		return f.Column(sc.ctx, i)
	})
}
