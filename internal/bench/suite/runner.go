package suite

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/amudai/amudai-go/internal/bench/measure"
)

// Options are the options of [Run].
type Options struct {
	Dir     string               // folder for the files, which are removed
	Rounds  int                  // number of rounds
	Cores   int                  // of processes that measure peaks
	CPUs    int                  // of the machine, 0 for those that this process may use; with 1, no operation of two threads
	Wants   func(op string) bool // which operations to measure; nil for all
	Compare bool                 // the results of all contenders must be equal
	Report  func(contender, op string, value float64)
	// Child are the arguments with which this program calls [Child]; one more follows.
	Child []string
}

func (o *Options) processors() int { return cmp.Or(o.CPUs, runtime.NumCPU()) }

// runner measures the contenders on one data set.
type runner struct {
	*Dataset
	Options
	list   []Contender
	paths  []string
	input  string
	result *measure.Result
}

// slowWrite is the time of a write from which the median of two is steady enough.
const slowWrite = 4

// Run measures every operation of every contender that can write the data set. The contenders
// take turns in each operation, so that all have the same conditions.
func Run(ctx context.Context, d *Dataset, list []Contender, o Options) (*measure.Result, error) {
	r := runner{Dataset: d, Options: o, result: &measure.Result{Set: d.Name, Rows: d.Rows * int64(max(1, d.Times))}}
	for _, op := range d.Operations() {
		if measure.TwoThreads(op) && o.processors() < 2 {
			continue
		}
		// Files for peaks of scans were written by separate processes.
		if o.Wants == nil || o.Wants(op) || op == measure.OpPeakWrite && o.Wants(measure.OpPeakScan) {
			r.result.Ops = append(r.result.Ops, op)
		}
	}
	for i, k := range list {
		if !k.Can(d, measure.OpWrite) {
			continue
		}
		path := filepath.Join(o.Dir, fmt.Sprintf("file-%d", i))
		r.list, r.paths = append(r.list, k), append(r.paths, path)
		r.result.Runs = append(r.result.Runs, &measure.Figures{Name: k.Name(), Values: map[string][]float64{}})
		defer removeAll(path, path+".0", path+".1")
	}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	for round := range o.Rounds {
		if err := r.round(ctx, round); err != nil {
			return nil, err
		}
	}
	for i, path := range r.paths {
		var err error
		if r.result.Runs[i].Size, err = sizeOf(path); err != nil {
			return nil, err
		}
	}
	return r.result, nil
}

func removeAll(paths ...string) {
	for _, p := range paths {
		os.RemoveAll(p)
	}
}

// prepare writes the files, which is the first round of writing, and compares the results of
// the contenders. A measurement of a write peak writes a file, too.
func (r *runner) prepare(ctx context.Context) (err error) {
	if slices.ContainsFunc(r.result.Ops, measure.IsPeak) {
		if r.input, err = r.Input(r.Dir); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(r.result.Ops, func(op string) bool { return !measure.IsPeak(op) }) {
		return nil
	}
	for i := range r.list {
		if err := r.measure(ctx, measure.OpWrite, i); err != nil {
			return err
		}
	}
	for _, op := range r.result.Ops {
		if !r.Compare || measure.IsShare(op) || measure.IsPeak(op) || op == measure.OpWrite || op == measure.OpWriteTwo {
			continue
		}
		if err := r.compare(ctx, op); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf is the number of bytes of a file, or of all files in a folder.
func sizeOf(path string) (n int64, err error) {
	err = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// compare runs the same queries on all contenders and compares the results with those of the
// first, the base.
func (r *runner) compare(ctx context.Context, op string) error {
	var want *checksum
	var rows int64
	for i, k := range r.list {
		if !k.Can(r.Dataset, op) {
			continue
		}
		sum := &checksum{}
		n, err := r.read(ctx, op, k, r.paths[i], sum)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", k.Name(), op, err)
		}
		if want == nil {
			want, rows = sum, n
		}
		// For a contender without Arrow arrays or projections, only the number of rows is compared.
		if n != rows || len(sum.columns) == len(want.columns) && !sum.equal(want) {
			return fmt.Errorf("%s: %s: the answer is not that of %s (%d rows, %d)", k.Name(), op, r.list[0].Name(), n, rows)
		}
	}
	return nil
}

func (r *runner) round(ctx context.Context, round int) error {
	for _, op := range r.result.Ops {
		for i, k := range r.list {
			if r.skips(op, i, round) || !k.Can(r.Dataset, op) {
				continue
			}
			if err := r.measure(ctx, op, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// skips reports whether a round leaves out an operation: the first write is that of prepare, and slow writes and peaks
// are steady enough.
func (r *runner) skips(op string, i, round int) bool {
	switch {
	case op == measure.OpWrite:
		return round == 0 || round > 1 && r.result.Runs[i].Median(op) > slowWrite
	case measure.IsPeak(op):
		return round > 0
	}
	return false
}

// measure takes one figure of contender i.
func (r *runner) measure(ctx context.Context, op string, i int) (err error) {
	f, value := r.result.Runs[i], 0.0
	if measure.IsPeak(op) {
		value, err = r.peak(ctx, op, i)
	} else {
		value, err = r.run(ctx, op, r.list[i], r.paths[i])
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", f.Name, op, err)
	}
	f.Values[op] = append(f.Values[op], value)
	if r.Report != nil {
		r.Report(f.Name, op, value)
	}
	return nil
}
