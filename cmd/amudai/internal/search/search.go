// Package search prints lines that match words, phrases and regular expressions in shards, logs and other tables, as grep does in files.
package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/table"
)

// Search is what to search for, and how.
type Search struct {
	table.SearchOptions // for each input; Limit is that of all together
	Count               bool
	JSON                bool // lines are JSON objects, not values separated by tabs
	Parallelism         int  // by default GOMAXPROCS

	Opener func() *formats.Opener // makes an opener for each input
}

// Found is what was found in an input. Count and Err are valid when Lines is closed.
type Found struct {
	Input inputs.Input
	Lines <-chan []Line
	Count int64 // of matches
	Err   error // the search is not complete

	lines    chan []Line
	mu       sync.Mutex
	warnings []error
}

// Warnings are what has not made the search incomplete so far, each once.
func (f *Found) Warnings() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.warnings)
}

func (f *Found) warn(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.ContainsFunc(f.warnings, func(w error) bool { return w.Error() == err.Error() }) {
		f.warnings = append(f.warnings, err)
	}
}

// Run searches inputs side by side, and calls show for each in their order while lines come in. show has to read all lines, unless
// it returns an error, which ends the search.
func (s *Search) Run(ctx context.Context, inputs []inputs.Input, show func(*Found) error) error {
	ctx, stop := context.WithCancel(ctx)
	parallel := cmp.Or(s.Parallelism, runtime.GOMAXPROCS(0))
	each := max(1, parallel/max(len(inputs), 1))
	queue := make(chan *Found, parallel)
	var searches sync.WaitGroup
	defer searches.Wait()
	defer stop()
	var failed error // valid when queue is closed
	searches.Go(func() {
		defer close(queue)
		defer fault.RecoverInternal(&failed)
		s.start(ctx, inputs, queue, &searches, parallel, each)
	})
	for f := range queue {
		if err := show(f); err != nil {
			return err
		}
	}
	return cmp.Or(failed, ctx.Err())
}

// start starts the search of each input when there is a slot, in their order.
func (s *Search) start(ctx context.Context, inputs []inputs.Input, queue chan<- *Found, searches *sync.WaitGroup, slots, each int) {
	slot := make(chan struct{}, slots)
	for _, in := range inputs {
		f := &Found{Input: in, lines: make(chan []Line, 16)}
		f.Lines = f.lines
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			return
		}
		searches.Go(func() {
			defer func() { <-slot }()
			defer close(f.lines)
			defer fault.RecoverInternal(&f.Err)
			f.Err = s.one(ctx, f, each)
		})
		select {
		case queue <- f:
		case <-ctx.Done():
			return
		}
	}
}

// one searches an input.
func (s *Search) one(ctx context.Context, f *Found, parallel int) error {
	if f.Input.Err != nil {
		return f.Input.Err
	}
	format, err := formatOf(ctx, f.Input, s.namesColumns())
	if err != nil || format == "" {
		return err
	}
	t, err := s.open(ctx, f, format, parallel)
	if err != nil {
		return err
	}
	o := s.SearchOptions
	if s.Count {
		o.Columns = []string{}
	}
	out := &sender{ctx: ctx, out: f.lines, json: s.JSON}
	for rows, err := range t.Search(ctx, o) {
		if errors.Is(err, table.ErrNoText) {
			if !f.Input.Found {
				f.warn(err)
			}
			break
		}
		if err == nil {
			err = out.rows(rows)
		}
		if err != nil {
			return errors.Join(err, t.Close())
		}
		f.Count += rows.NumMatches()
	}
	return t.Close()
}

// open opens an input, lines of text as bytes, which may be anything.
func (s *Search) open(ctx context.Context, f *Found, format string, parallel int) (*table.Table, error) {
	location, opener := f.Input.Location, s.Opener()
	opener.Parallelism = parallel
	opener.IndexError = func(err error) {
		f.warn(indexHint(location, err))
	}
	if format != formats.Lines {
		return opener.Table(ctx, location, format)
	}
	opener.Lines.Whole, opener.Lines.Live = !s.namesColumns(), location == "-"
	return opener.Table(ctx, location, format, arrow.Field{Name: "line", Type: arrow.BinaryTypes.Binary})
}

// indexHint is a warning that an index of a shard is not used.
func indexHint(shard string, err error) error {
	return usage.WithHint(fmt.Errorf("%s: an index is not used: %w", shard, err), "amudai index rebuild %s makes it anew", shard)
}

// namesColumns reports whether columns are asked for, by name or by their times.
func (s *Search) namesColumns() bool {
	return len(s.In) > 0 || len(s.Columns) > 0 || s.Since != nil || s.Until != nil
}

// formatOf is the name of the format to read an input in. Formats of text are searched line by line, unless columns are asked
// for. It is "" for an input that is neither text nor a table.
func formatOf(ctx context.Context, in inputs.Input, columns bool) (string, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(in.Location, ".gz"), ".zst")
	file, _ := formats.All().SplitTable(name)
	if f, ok := formats.All().ByPath(file); ok {
		if f.Text && !columns {
			return formats.Lines, nil
		}
		return f.Name, nil
	}
	if in.Location == "-" || name != in.Location || inputs.IsDevice(in.Location) {
		return formats.Lines, nil
	}
	head, err := inputs.Head(ctx, in.Location, 4096)
	if err != nil {
		return "", inputs.Missing(in.Location, err)
	}
	isText := bytes.IndexByte(head, 0) < 0 // as every grep decides
	if f, ok := formats.All().Sniff(head); ok && !isText && !f.Text && !(in.Found && f.Doubtful) {
		return f.Name, nil
	}
	if in.Found && !isText && inputs.Compressed(head) == "" {
		return "", nil
	}
	return formats.Lines, nil
}
