package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// result holds the figures of a data set: one row a contender.
type result struct {
	Set  string `json:"set"`
	Rows int64  `json:"rows"`
	Unit string `json:"unit"` // of Values: "s" (CPU seconds) or "MiB"
	Ops  []string
	Runs []*figures
}

// figures are those of one contender.
type figures struct {
	Name   string               `json:"name"`
	Size   int64                `json:"size"` // bytes of the file
	Values map[string][]float64 `json:"values"`
}

func (f *figures) median(op string) float64 {
	v := slices.Sorted(slices.Values(f.Values[op]))
	if len(v) == 0 {
		return 0
	}
	return v[len(v)/2]
}

// measureSet times every operation of every contender, a round at a time.
func measureSet(ctx context.Context, c config, name, dir string) (*result, error) {
	d, err := load(ctx, c, name)
	if err != nil {
		return nil, err
	}
	if name == "wide" { // nobody scans 50,000 columns
		c.ops = strings.Join(slices.DeleteFunc(strings.Split(c.ops, ","), func(op string) bool { return op != "write" && op != "open" }), ",")
	}
	r := &result{Set: name, Rows: d.rows, Unit: "s", Ops: strings.Split(c.ops, ",")}
	list := contenders()
	list = slices.DeleteFunc(list, func(k contender) bool { return k.name != baseName && !strings.Contains(k.name, c.contenders) })
	for _, k := range list {
		r.Runs = append(r.Runs, &figures{Name: k.name, Values: map[string][]float64{}})
	}
	for round := range c.rounds {
		for i, k := range list {
			path := filepath.Join(dir, fmt.Sprintf("%s-%d", name, i))
			if err := d.round(ctx, c, k, path, round, r.Runs[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
			if round == c.rounds-1 {
				os.Remove(path)
			}
		}
	}
	return r, nil
}

func (d *dataset) round(ctx context.Context, c config, k contender, path string, round int, f *figures) error {
	for _, op := range strings.Split(c.ops, ",") {
		if op == "write" && round > 1 && f.median("write") > 10 {
			continue // slow enough for the median of two to be steady
		}
		run, err := d.operation(ctx, op, k, path)
		if err != nil {
			return err
		}
		if op != "write" && round == 0 && f.Size == 0 {
			if _, err := os.Stat(path); err != nil {
				if err := d.write(ctx, k, path); err != nil {
					return err
				}
			}
		}
		runtime.GC()
		before := cpuSeconds()
		if err := run(); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		took := cpuSeconds() - before
		f.Values[op] = append(f.Values[op], took)
		if c.verbose {
			fmt.Fprintf(os.Stderr, "%-12s %-28s %-8s %.3f s\n", d.name, k.name, op, took)
		}
		if info, err := os.Stat(path); err == nil {
			f.Size = info.Size()
		}
	}
	return nil
}

func (d *dataset) operation(ctx context.Context, op string, k contender, path string) (func() error, error) {
	switch op {
	case "write":
		return func() error { return d.write(ctx, k, path) }, nil
	case "scan":
		return func() error { return d.scan(ctx, k, path, nil) }, nil
	case "project":
		return func() error { return d.scan(ctx, k, path, d.project) }, nil
	case "open": // open and read the first column of the projection
		return func() error { return d.scan(ctx, k, path, d.project[:1]) }, nil
	}
	return nil, fmt.Errorf("unknown operation %q", op)
}

func (d *dataset) write(ctx context.Context, k contender, path string) error {
	i := 0
	return k.write(ctx, path, d.schema, func() (arrow.RecordBatch, error) {
		if i++; i > len(d.batches) {
			return nil, ctx.Err()
		}
		return d.batches[i-1], ctx.Err()
	})
}

func (d *dataset) scan(ctx context.Context, k contender, path string, columns []string) error {
	rows := int64(0)
	err := k.scan(ctx, path, columns, func(b arrow.RecordBatch) error {
		rows += b.NumRows()
		return ctx.Err()
	})
	if err == nil && rows != d.rows {
		err = fmt.Errorf("%d rows came back of %d", rows, d.rows)
	}
	return err
}
