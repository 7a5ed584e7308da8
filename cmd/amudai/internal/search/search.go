package search

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/inputs"
)

// Search is what to search for, and how.
type Search struct {
	Query        *Query
	In           []string     // paths of the columns to search; by default "line", or all columns of strings
	Columns      []string     // paths of the columns of lines; the default is the same
	Time         string       // path of the column of times; by default the first one
	Since, Until formats.Time // a range of times, without its end; zero: no bound

	Before, After int64 // rows of context
	Limit         int64 // most matches in all inputs; 0: no limit
	Count         bool  // count matches, and make no lines
	JSON          bool  // lines are JSON objects, not values separated by tabs
	Parallelism   int   // by default GOMAXPROCS

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
	parallel := s.Parallelism
	if parallel == 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
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
	if format == formats.Shard {
		return s.shard(ctx, f, parallel)
	}
	return s.table(ctx, f, format)
}

// namesColumns reports whether columns are asked for, by name or by their times.
func (s *Search) namesColumns() bool {
	return len(s.In) > 0 || len(s.Columns) > 0 || !s.Since.IsZero() || !s.Until.IsZero()
}

// errNoText is the warning about a table that cannot be searched.
var errNoText = errors.New("there is no column of strings to search")
