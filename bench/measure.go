package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/measure"
)

// result is that of a data set.
type result measure.Result

// figures are those of one contender.
type figures = measure.Figures

// race is the contenders at one data set.
type race struct {
	*dataset
	config
	list  []contender
	paths []string
	*result
}

// slowWrite is what a write takes if the median of two is steady enough.
const slowWrite = 4

// measureSet measures every operation of every contender. One contender follows
// the other in each operation, so that all see the same machine.
func measureSet(ctx context.Context, c config, name, dir string) (*result, error) {
	d, err := load(ctx, c, name, dir)
	if err != nil {
		return nil, err
	}
	r := race{dataset: d, config: c, result: &result{Set: name, Rows: d.rows, Unit: measure.Seconds}}
	for _, op := range d.operations() {
		if c.wants(op) {
			r.Ops = append(r.Ops, op)
		}
	}
	list := c.contenders()
	for _, p := range c.started {
		if p.input, err = d.inputFile(c, dir); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	for i, k := range list {
		if !k.can(d, opWrite) {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%s-%d", name, i))
		r.list, r.paths = append(r.list, k), append(r.paths, path)
		r.Runs = append(r.Runs, &figures{Name: k.name(), Values: map[string][]float64{}})
		defer removeAll(path, path+".0", path+".1")
	}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	for round := range c.rounds {
		if err := r.round(ctx, round); err != nil {
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

// prepare writes the files, which is the first round of writing, and compares
// what the contenders answer.
func (r *race) prepare(ctx context.Context) error {
	for i := range r.list {
		if err := r.measure(ctx, opWrite, i); err != nil {
			return err
		}
		size, err := sizeOf(r.paths[i])
		if err != nil {
			return err
		}
		r.Runs[i].Size = size
	}
	for _, op := range r.Ops {
		if op == opWrite || op == opWrite2 || op == opWrite22 || op == opScan22 {
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

// compare asks all contenders for the same and compares it with what the first,
// the base, answers.
func (r *race) compare(ctx context.Context, op string) error {
	var want *checksum
	var rows int64
	for i, k := range r.list {
		if !k.can(r.dataset, op) {
			continue
		}
		sum := &checksum{}
		n, err := r.read(ctx, op, k, r.paths[i], sum)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", k.name(), op, err)
		}
		if want == nil {
			want, rows = sum, n
		}
		// A contender that brings no Arrow arrays, or all columns where some were asked for, has only its rows compared.
		if n != rows || len(sum.columns) == len(want.columns) && !sum.equal(want) {
			return fmt.Errorf("%s: %s: the answer is not that of %s (%d rows, %d)", k.name(), op, r.list[0].name(), n, rows)
		}
	}
	return nil
}

func (r *race) round(ctx context.Context, round int) error {
	for _, op := range r.Ops {
		for i, k := range r.list {
			tired := op == opWrite && (round == 0 || round > 1 && r.Runs[i].Median(opWrite) > slowWrite)
			if tired || !k.can(r.dataset, op) {
				continue
			}
			if err := r.measure(ctx, op, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure takes one figure of contender i.
func (r *race) measure(ctx context.Context, op string, i int) error {
	f := r.Runs[i]
	took, err := r.run(ctx, op, r.list[i], r.paths[i])
	if err != nil {
		return fmt.Errorf("%s: %s: %w", f.Name, op, err)
	}
	f.Values[op] = append(f.Values[op], took)
	if r.verbose {
		fmt.Fprintf(os.Stderr, "%-12s %-28s %-12s %.4f s\n", r.Set, f.Name, op, took)
	}
	return nil
}

// wants tells whether an operation was asked for: all are by default.
func (c config) wants(op string) bool {
	return c.ops == "" || slices.ContainsFunc(strings.Split(c.ops, ","), func(o string) bool {
		return op == o || (o+" " == opFilter || o+" " == opCount) && strings.HasPrefix(op, o)
	})
}

// contenders are the base and those that were asked for.
func (c config) contenders() []contender {
	return slices.DeleteFunc(contenders(), func(k contender) bool {
		return k.name() != baseName && !slices.ContainsFunc(strings.Split(c.only, ","), func(part string) bool {
			return strings.Contains(k.name(), part)
		})
	})
}

// find gives the contender of a name.
func find(name string) (contender, error) {
	for _, k := range contenders() {
		if k.name() == name {
			return k, nil
		}
	}
	return nil, errors.New("unknown contender " + name)
}
