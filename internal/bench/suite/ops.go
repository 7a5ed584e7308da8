package suite

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/bench/measure"
)

// Operations lists the operations for a data set, in the order of the table. It does not depend
// on the machine.
func (d *Dataset) Operations() []string {
	switch {
	case d.Times > 1:
		return []string{measure.OpPeakWrite, measure.OpPeakScan}
	case d.Wide:
		return []string{measure.OpWrite, measure.OpOpen, measure.OpPeakWrite}
	}
	ops := []string{measure.OpWrite, measure.OpScan, measure.OpReuse, measure.OpProject, measure.OpProjectReuse, measure.OpOpen, measure.OpTake}
	if d.Text {
		ops = []string{measure.OpWrite, measure.OpScan, measure.OpReuse, measure.OpViews, measure.OpTake}
	}
	for _, q := range d.Questions {
		ops = append(ops, measure.OpFilter+q.Name)
		if q.Count {
			ops = append(ops, measure.OpCount+q.Name)
		}
	}
	if d.Text {
		return ops
	}
	return append(ops, measure.OpScanTwo, measure.OpScanShare, measure.OpWriteTwo, measure.OpWriteShare,
		measure.OpPeakWrite, measure.OpPeakScan)
}

// Query is the query of an operation.
func (d *Dataset) Query(op string) (Query, error) {
	q := Query{Threads: 1}
	switch op {
	case measure.OpScan, measure.OpScanShare:
		return q, nil
	case measure.OpReuse:
		q.Reuse = true
		return q, nil
	case measure.OpViews:
		q.Views = true
		return q, nil
	case measure.OpScanTwo:
		q.Threads = 2
		return q, nil
	case measure.OpProject, measure.OpProjectReuse:
		q.Columns, q.Reuse = d.Project, op == measure.OpProjectReuse
		return q, nil
	case measure.OpOpen:
		q.Columns = d.Project[:1]
		return q, nil
	case measure.OpTake:
		q.Take = d.randomRows()
		return q, nil
	}
	for _, question := range d.Questions {
		if op == measure.OpFilter+question.Name || op == measure.OpCount+question.Name {
			q.Where, q.Count = question.Where, strings.HasPrefix(op, measure.OpCount)
			return q, nil
		}
	}
	return q, fmt.Errorf("no operation %q on %s", op, d.Name)
}

// run measures one operation of a contender.
func (d *Dataset) run(ctx context.Context, op string, k Contender, path string) (float64, error) {
	do, timed := d.operation(ctx, op, k, path), measure.Time
	if measure.TwoThreads(op) {
		timed = measure.Clock
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	if op != measure.OpWrite { // which takes long, and has been done before
		// Run once without measuring, because the operation before left memory in an arbitrary state.
		if err := do(); err != nil {
			return 0, err
		}
	}
	if t, ok := k.(Timer); ok {
		return t.Time(d, op, path)
	}
	return timed(do)
}

// operation does an operation once.
func (d *Dataset) operation(ctx context.Context, op string, k Contender, path string) func() error {
	switch op {
	case measure.OpWrite:
		return func() error { return d.Write(ctx, k, path, 1) }
	case measure.OpWriteTwo:
		return func() error { return d.Write(ctx, k, path, 2) }
	case measure.OpWriteShare:
		return sideBySide(ctx, func(ctx context.Context, i int) error { return d.Write(ctx, k, fmt.Sprintf("%s.%d", path, i), 1) })
	}
	read := func() error { _, err := d.read(ctx, op, k, path, nil); return err }
	if op == measure.OpScanShare {
		return sideBySide(ctx, func(context.Context, int) error { return read() })
	}
	return read
}

// sideBySide calls f twice at the same time.
func sideBySide(ctx context.Context, f func(ctx context.Context, i int) error) func() error {
	return func() error { return parallel.Each(ctx, 2, 2, f) }
}

// Write writes the data set as a contender does.
func (d *Dataset) Write(ctx context.Context, k Contender, path string, threads int) error {
	i := 0
	return k.Write(ctx, path, d.Schema, func() (arrow.RecordBatch, error) {
		if i++; i > len(d.Batches) {
			return nil, ctx.Err()
		}
		return d.Batches[i-1], ctx.Err()
	}, threads)
}

// read does a reading operation and checks the number of rows, if it is known.
func (d *Dataset) read(ctx context.Context, op string, k Contender, path string, sum *checksum) (int64, error) {
	q, err := d.Query(op)
	if err != nil {
		return 0, err
	}
	out := Outcome{sum: sum}
	if err := k.Read(ctx, path, q, &out); err != nil {
		return 0, err
	}
	if want := d.expected(q); want >= 0 && out.Rows != want {
		return 0, fmt.Errorf("%d rows came back of %d", out.Rows, want)
	}
	return out.Rows, nil
}

// expected is the number of rows of an answer, -1 if it is not known.
func (d *Dataset) expected(q Query) int64 {
	switch {
	case q.Take != nil:
		return int64(len(q.Take))
	case q.Where == "":
		return d.Rows
	}
	for _, question := range d.Questions {
		if question.Where == q.Where && question.Rows > 0 {
			return question.Rows
		}
	}
	return -1
}
