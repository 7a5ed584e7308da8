package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/measure"
)

// The operations. Those of two threads are measured by the clock: one operation
// with two threads, and two operations with one thread each, side by side. The
// share is how much of what the latter get done the former does.
const (
	opWrite    = "write"
	opScan     = "scan"
	opReuse    = "reuse"   // scan into memory that is used again for the next batch
	opProject  = "project" // the columns of a typical question
	opProReuse = "project reuse"
	opOpen     = "open"    // open and read one column
	opTake     = "take"    // 1,000 random rows in ascending order, opening included
	opFilter   = "filter " // and the name of a question: all columns of its rows
	opCount    = "count "  // and the name of a question: their number
	opScan2    = "scan 2t"
	opWrite2   = "write 2t"
	opScan22   = "scan 2t share"
	opWrite22  = "write 2t share"
)

const takeRows = 1000

func (d *dataset) wide() bool { return strings.HasPrefix(d.name, "wide") }

// operations are those that make sense for a data set, in the order of the table.
func (d *dataset) operations() []string {
	if d.wide() { // nobody scans 50,000 columns
		return []string{opWrite, opOpen}
	}
	ops := []string{opWrite, opScan, opReuse, opProject, opProReuse, opOpen, opTake}
	for _, q := range questions[d.name] {
		ops = append(ops, opFilter+q.name)
		if q.count {
			ops = append(ops, opCount+q.name)
		}
	}
	if runtime.NumCPU() > 1 {
		ops = append(ops, opScan2, opScan22, opWrite2, opWrite22)
	}
	return ops
}

// query is what an operation reads.
func (d *dataset) query(op string) (query, error) {
	q := query{threads: 1}
	switch op {
	case opScan, opScan22:
		return q, nil
	case opReuse:
		q.reuse = true
		return q, nil
	case opScan2:
		q.threads = 2
		return q, nil
	case opProject, opProReuse:
		q.columns, q.reuse = d.project, op == opProReuse
		return q, nil
	case opOpen:
		q.columns = d.project[:1]
		return q, nil
	case opTake:
		q.take = d.randomRows()
		return q, nil
	}
	for _, question := range questions[d.name] {
		if op == opFilter+question.name || op == opCount+question.name {
			q.where, q.text, q.count = question.where, question.text, strings.HasPrefix(op, opCount)
			return q, nil
		}
	}
	return q, fmt.Errorf("no operation %q on %s", op, d.name)
}

// randomRows are different rows of the data set, the same in every run.
func (d *dataset) randomRows() []int64 {
	rnd := rand.New(rand.NewPCG(1000, 7))
	rows := make([]int64, 0, takeRows)
	for len(rows) < takeRows && int64(len(rows)) < d.rows/2 {
		row := rnd.Int64N(d.rows)
		if at, found := slices.BinarySearch(rows, row); !found {
			rows = slices.Insert(rows, at, row)
		}
	}
	return rows
}

// run measures one operation of a contender in seconds.
func (d *dataset) run(ctx context.Context, op string, k contender, path string) (float64, error) {
	if p, ok := k.(*peer); ok {
		return p.time(d, op, path)
	}
	once := func() error { _, err := d.read(ctx, op, k, path, nil); return err }
	switch op {
	case opWrite:
		return measure.Time(func() error { return d.write(ctx, k, path, 1) })
	case opWrite2:
		return twoThreads(func() error { return d.write(ctx, k, path, 2) })
	case opWrite22:
		return twoThreads(func() error {
			return sideBySide(func(i int) error { return d.write(ctx, k, fmt.Sprintf("%s.%d", path, i), 1) })
		})
	case opScan2:
		return twoThreads(once)
	case opScan22:
		return twoThreads(func() error { return sideBySide(func(int) error { return once() }) })
	}
	// What ran before has left memory behind in a state of its own; once is paid for that.
	if err := once(); err != nil {
		return 0, err
	}
	return measure.Time(once)
}

// twoThreads measures f by the clock on two cores.
func twoThreads(f func() error) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	return measure.Clock(f)
}

// sideBySide calls f twice at the same time.
func sideBySide(f func(i int) error) error {
	var errs [2]error
	var wait sync.WaitGroup
	for i := range errs {
		wait.Go(func() { errs[i] = f(i) })
	}
	wait.Wait()
	return errors.Join(errs[:]...)
}

func (d *dataset) write(ctx context.Context, k contender, path string, threads int) error {
	i := 0
	return k.write(ctx, path, d.schema, func() (arrow.RecordBatch, error) {
		if i++; i > len(d.batches) {
			return nil, ctx.Err()
		}
		return d.batches[i-1], ctx.Err()
	}, threads)
}

// read does a reading operation and checks the number of rows as far as it is known.
func (d *dataset) read(ctx context.Context, op string, k contender, path string, sum *checksum) (int64, error) {
	q, err := d.query(op)
	if err != nil {
		return 0, err
	}
	out := outcome{sum: sum}
	if err := k.read(ctx, path, q, &out); err != nil {
		return 0, err
	}
	if want := d.expected(q); want >= 0 && out.rows != want {
		return 0, fmt.Errorf("%d rows came back of %d", out.rows, want)
	}
	return out.rows, nil
}

// expected is the number of rows of an answer, -1 if it is not known.
func (d *dataset) expected(q query) int64 {
	switch {
	case q.take != nil:
		return int64(len(q.take))
	case len(q.where) > 0:
		return -1
	}
	return d.rows
}
