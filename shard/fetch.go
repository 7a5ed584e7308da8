package shard

import (
	"context"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/rowset"
	"github.com/amudai/amudai-go/stripe"
)

// A scan of a shard far away reads the bytes of all columns for the rows of several
// batches at once, in few requests:
//
//	columns of the stripe   |a......|b...|c............|
//	rows of a portion          ###     ##      ####        gaps between are read too if small
//	batches                    123     123     123

// portions are what was read ahead of a stripe. They belong to a scan.
type portions struct {
	mu     sync.Mutex
	rows   int64      // of a portion; 0 until the columns are open
	newest []*portion // a few
}

// maxPortions is how many portions are kept: one that is decoded, the next one, and
// one whose last batch is late.
const maxPortions = 3

// portion is the bytes of some columns for rows of a stripe. Batches that decode
// from it hold it.
type portion struct {
	number int64
	fetch  func() (*stripe.Fetched, error) // reads once
}

// fetched reads the bytes of columns for the rows of a job, and for those of the jobs
// that follow, unless that was done for an earlier one; nil if every column is to
// read by itself. open opens column i of n; wanted are the rows of the stripe that
// the scan may come to.
func (p *portions) fetched(ctx context.Context, sc *scanner, j *job, n int, wanted rowset.Set, open func(i int) (*stripe.Column, error)) (*stripe.Fetched, error) {
	if sc.o.FetchGap <= 0 || n == 0 || len(j.rows) == 0 {
		return nil, nil
	}
	p.mu.Lock()
	columns := make([]*stripe.Column, n)
	size := int64(0)
	for i := range columns {
		var err error
		if columns[i], err = open(i); err != nil {
			p.mu.Unlock()
			return nil, err
		}
		if p.rows == 0 {
			size += columns[i].DataSize()
		}
	}
	batch := int64(sc.o.BatchRows)
	if p.rows == 0 {
		perBatch := size/max(j.stripe.stripe.Rows()/batch, 1) + 1
		p.rows = batch * max(sc.o.FetchBytes/perBatch, 1)
	}
	number := j.rows[0].From / p.rows
	now := p.portion(ctx, sc, number, columns, wanted)
	if sc.o.Parallelism > 1 && len(wanted) > 0 && (number+1)*p.rows < wanted.Bounds().To {
		next := p.portion(ctx, sc, number+1, columns, wanted)
		sc.workers.Go(func() { _, _ = next.fetch() }) // who needs it gets the error
	}
	p.mu.Unlock()
	return now.fetch()
}

// portion is the one of a number.
func (p *portions) portion(ctx context.Context, sc *scanner, number int64, columns []*stripe.Column, wanted rowset.Set) *portion {
	for _, q := range p.newest {
		if q.number == number {
			return q
		}
	}
	rows := wanted.Clip(number*p.rows, (number+1)*p.rows)
	q := &portion{number, sync.OnceValues(func() (*stripe.Fetched, error) {
		return fetchRows(ctx, columns, rows, sc)
	})}
	if p.newest = append(p.newest, q); len(p.newest) > maxPortions {
		p.newest = p.newest[1:]
	}
	return q
}

// fetchRows reads what columns need for rows.
func fetchRows(ctx context.Context, columns []*stripe.Column, rows rowset.Set, sc *scanner) (f *stripe.Fetched, err error) {
	defer fault.Recover(&err)
	var pieces []stripe.Piece
	for _, c := range columns {
		pieces = c.Need(pieces, rows)
	}
	return stripe.Fetch(ctx, pieces, sc.o.FetchGap, sc.o.FetchBytes)
}

// wanted are the rows of a stripe that the scan asks for.
func (sc *scanner) wanted(index int) rowset.Set {
	if sc.o.Stripes != nil && !slices.Contains(sc.o.Stripes, index) {
		return nil
	}
	st := sc.shard.file.Stripe(index)
	if sc.o.Rows == nil {
		return rowset.All(st.Rows())
	}
	return rowset.Of(sc.o.Rows...).Clip(st.Position(), st.Position()+st.Rows()).Shift(-st.Position())
}

// fetchColumns reads the bytes of the result's columns for a job ahead. With a filter
// those are few rows, whose bytes no other job needs.
func (sc *scanner) fetchColumns(j *job) (*stripe.Fetched, error) {
	if sc.o.FetchGap <= 0 {
		return nil, nil
	}
	open := func(i int) (*stripe.Column, error) { return j.stripe.column(sc.ctx, i, 0, false) }
	if sc.filter == nil {
		return j.stripe.result.fetched(sc.ctx, sc, j, len(sc.columns), sc.wanted(j.stripe.index), open)
	}
	var columns []*stripe.Column
	for i := range sc.columns {
		if j.selection != nil && j.selection.has(&sc.columns[i], j.rows) {
			continue
		}
		c, err := open(i)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return fetchRows(sc.ctx, columns, j.rows, sc)
}

// fetchFilter reads the bytes of the filter's columns for a job ahead, and for those
// that follow.
func (sc *scanner) fetchFilter(j *job, f *stripeFilter) (*stripe.Fetched, error) {
	if sc.o.FetchGap <= 0 || len(j.rows.And(f.maybe)) == 0 {
		return nil, nil
	}
	wanted := sc.wanted(j.stripe.index).And(f.maybe)
	return j.stripe.chosen.fetched(sc.ctx, sc, j, len(f.columns), wanted, func(i int) (*stripe.Column, error) {
		return f.reader(sc.ctx, i)
	})
}
