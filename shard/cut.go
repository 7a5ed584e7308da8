package shard

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// cutter gives the batches of a scan. Small ones are cut from larger ones that were decoded
// at once: blocks have up to 64 Ki values, and each batch would read its blocks anew.
type cutter struct {
	*scanner
	rows int64 // most of a batch

	job   *job // of the batch that is being cut
	whole arrow.RecordBatch
	left  rowset.Set // rows of it that are still to be given
}

// decodedTogether is how many rows are decoded at a time at most for smaller batches.
// Tests change it.
var decodedTogether = DefaultBatchRows

func (s *Shard) newCutter(ctx context.Context, o ScanOptions) (*cutter, error) {
	rows := int64(o.BatchRows)
	if k := s.together(&o) / max(rows, 1); rows > 0 && k > 1 {
		o.BatchRows *= int(k)
	}
	sc, err := s.newScanner(ctx, o)
	if err != nil {
		return nil, err
	}
	return &cutter{scanner: sc, rows: max(rows, 0)}, nil
}

// together is how many rows to decode at a time: as many as blocks have, as far as they
// probably take a quarter of the memory. Values in the file may be much smaller.
func (s *Shard) together(o *ScanOptions) int64 {
	limit := o.MemoryLimit
	if limit == 0 {
		limit = DefaultScanBytes
	}
	columns := int64(len(o.Columns))
	if o.Columns == nil {
		columns = int64(s.schema.IDCount())
	}
	perRow := 4*s.file.Size()/max(s.NumRows(), 1) + 16*columns + 1
	rows := min(int64(decodedTogether), limit/4/perRow)
	if o.Limit > 0 {
		rows = min(rows, o.Limit)
	}
	return rows
}

// next gives the next batch, which the caller releases, its rows in the stripe, and the
// job that made it; io.EOF after the last one.
func (c *cutter) next() (j *job, rows rowset.Set, batch arrow.RecordBatch, err error) {
	if c.whole == nil {
		j, batch, err = c.scanner.next()
		if err != nil {
			return nil, rowset.Set{}, nil, err
		}
		if c.rows == 0 || batch.NumRows() <= c.rows {
			return j, j.rows, batch, nil
		}
		c.job, c.whole, c.left = j, batch, j.rows
	}
	if c.ctx.Err() != nil {
		return nil, rowset.Set{}, nil, context.Cause(c.ctx)
	}
	all, left := c.whole.NumRows(), c.left.Len()
	n := min(c.rows, left)
	rows, c.left = c.left.Split(n)
	j, batch = c.job, c.whole.NewSlice(all-left, all-left+n)
	if n == left {
		c.drop()
	}
	return j, rows, batch, nil
}

// drop releases what was not given.
func (c *cutter) drop() {
	if c.whole != nil {
		c.whole.Release()
	}
	c.job, c.whole, c.left = nil, nil, rowset.Set{}
}

func (c *cutter) close() {
	c.drop()
	c.scanner.close()
}
