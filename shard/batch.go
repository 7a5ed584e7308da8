package shard

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/stripe"
)

// finish makes the batch of a job that is done. If it is too large it puts two
// halves into sc.split. Then, and if no row was chosen, it gives neither batch nor
// error.
func (sc *scanner) finish(j *job) (arrow.RecordBatch, error) {
	defer j.release()
	n := j.rows.Len()
	switch {
	case j.err == nil && n == 0:
		return nil, nil
	case j.err == nil:
		if sc.recycler == nil {
			sc.ballast.add(j.arrays, n)
		}
		return sc.batch(j, n), nil
	case !errors.Is(j.err, stripe.ErrBatchTooLarge) || n <= 1:
		return nil, j.err
	}
	first, second := j.rows.Split(n / 2)
	for i, rows := range []rowset.Set{second, first} {
		t := j.task
		t.last = t.last && i == 0
		half := sc.jobOf(t, j.stripe, rows, j.choice == chosen)
		if j.choice == chosen {
			half.fetch = j.fetch
		}
		sc.split = append(sc.split, half)
	}
	return nil, nil
}

// batch is that of a job of n rows, as far as the limit allows.
func (sc *scanner) batch(j *job, n int64) arrow.RecordBatch {
	batch := array.NewRecordBatch(sc.schema, j.arrays, n)
	if n > sc.left {
		defer batch.Release()
		batch, n = batch.NewSlice(0, sc.left), sc.left
		j.rows, _ = j.rows.Split(n)
	}
	sc.left -= n
	return batch
}

func (j *job) release() {
	for _, a := range j.arrays {
		if a != nil {
			a.Release()
		}
	}
	j.arrays = nil
	for _, p := range j.parts {
		p.release()
	}
	j.parts = nil
}
