package shardwriter_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// steps are the calls of one writer in order. They end early if the root already exists.
type steps struct {
	w     *shardwriter.Writer
	calls []func(*steps) error
}

func (s *steps) next(t *testing.T) {
	if err := s.calls[0](s); err != nil {
		require.ErrorIs(t, err, fs.ErrExist)
		s.calls = nil
		return
	}
	s.calls = s.calls[1:]
}

// Two writers make the same stripe files, and a third one overwrites the root of the first. In any order of creating,
// publishing and aborting, all published roots can be read.
func TestSharedStripeFiles(t *testing.T) {
	f := testStripe(t, 10, "same")
	defer f.Release()
	runs := 0
	for outcome := range 4 {
		interleave([]int{3, 3, 2}, nil, func(order []int) {
			runs++
			shareStripeFiles(t, f, order, outcome&1 != 0, outcome&2 != 0)
		})
	}
	require.Equal(t, 4*560, runs)
}

// interleave calls f with all orders of n[0] zeros, n[1] ones and so on.
func interleave(n, order []int, f func(order []int)) {
	done := true
	for i := range n {
		if n[i] > 0 {
			done = false
			n[i]--
			interleave(n, append(order, i), f)
			n[i]++
		}
	}
	if done {
		f(order)
	}
}

func shareStripeFiles(t *testing.T, f *stripe.Finished, order []int, abortA, abortB bool) {
	ctx := context.Background()
	store := storage.NewMemory()
	create := func(location string, overwrite bool) func(*steps) error {
		return func(s *steps) (err error) {
			s.w, err = shardwriter.Create(ctx, location, testSchema(t), shardwriter.Options{Store: store, Layout: shardwriter.TwoLevel, Overwrite: overwrite, CreationTime: created})
			return err
		}
	}
	add := func(s *steps) error { return s.w.AppendStripe(ctx, f, shardwriter.StripeOptions{}) }
	end := func(abort bool) func(*steps) error {
		return func(s *steps) error {
			if abort {
				return s.w.Abort(ctx)
			}
			return s.w.Close(ctx)
		}
	}
	writers := []*steps{
		{calls: []func(*steps) error{create("mem://x/a", false), add, end(abortA)}},
		{calls: []func(*steps) error{create("mem://x/b", false), add, end(abortB)}},
		{calls: []func(*steps) error{func(s *steps) error { return errors.Join(create("mem://x/a", true)(s), add(s)) }, end(false)}},
	}
	for _, i := range order {
		if s := writers[i]; len(s.calls) > 0 {
			s.next(t)
		}
	}
	for _, root := range []string{"mem://x/a", "mem://x/b"} {
		f, err := shardfile.Open(ctx, root, shardfile.OpenOptions{Store: store})
		if errors.Is(err, fs.ErrNotExist) {
			require.True(t, root == "mem://x/b" && abortB, "%v: %s is missing", order, root)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "same", string(bufferData(t, f.Stripe(0), 0, 0)), fmt.Sprint(order))
		require.NoError(t, f.Close())
	}
}
