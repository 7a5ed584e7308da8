package shardwriter_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
)

// tryShard writes a shard and aborts at the first error.
func tryShard(t *testing.T, location string, o shardwriter.Options, stripes int) error {
	ctx := context.Background()
	o.CreationTime = created
	w, err := shardwriter.Create(ctx, location, testSchema(t), o)
	if err != nil {
		return err
	}
	for i := range stripes {
		f := testStripe(t, 10*i, fmt.Sprintf("stripe %d ", i))
		err := w.AppendStripe(ctx, f, shardwriter.StripeOptions{Properties: []shardfile.Property{{Name: "number", Value: i}}})
		f.Release()
		if err != nil {
			return errors.Join(err, w.Abort(ctx))
		}
	}
	return w.Close(ctx)
}

// TestFaults makes the k-th step of each kind fail while a shard is written, for every k. The result is the old
// shard, the new one, or none, and no other file except those that could not be removed.
func TestFaults(t *testing.T) {
	for _, layout := range []shardwriter.Layout{shardwriter.SingleFile, shardwriter.TwoLevel} {
		for _, replace := range []bool{false, true} {
			for _, op := range faultstore.Ops {
				t.Run(fmt.Sprintf("%v-%v-%v", layout, replace, op), func(t *testing.T) {
					k := 1
					for failOne(t, op, k, layout, replace) {
						k++
					}
					t.Logf("%d steps failed", k-1)
				})
			}
		}
	}
}

// failOne makes step k fail. It returns false if there is no such step.
func failOne(t *testing.T, op faultstore.Op, k int, layout shardwriter.Layout, replace bool) bool {
	dir := t.TempDir()
	location := filepath.Join(dir, "x")
	if replace {
		writeShard(t, location, shardwriter.Options{}, 2)
	}
	faults := faultstore.New()
	faults.FailAt(op, k)
	err := tryShard(t, location, shardwriter.Options{Store: faults.Local(), Layout: layout, Overwrite: replace}, 4)
	if faults.Count(op) < k {
		require.NoError(t, err)
		return false
	}
	files := readDir(t, dir)
	if files["x"] == nil {
		require.Error(t, err)
		require.False(t, replace, "the old shard is gone")
		for name := range files {
			tidy := layout == shardwriter.TwoLevel && strings.HasSuffix(name, shardwriter.StripeSuffix)
			require.True(t, tidy || op == faultstore.Remove, "%s is left", name)
		}
		return true
	}
	for name := range files {
		tidy := name == "x" || strings.HasSuffix(name, shardwriter.StripeSuffix)
		require.True(t, tidy || op == faultstore.Remove, "%s is left", name)
	}
	f := openShard(t, location, shardfile.OpenOptions{})
	if err == nil || f.NumStripes() == 4 {
		checkShard(t, f, 4)
	} else {
		require.True(t, replace)
		checkShard(t, f, 2)
	}
	return true
}

// TestReadFaults makes the k-th read fail, for every k. Reading returns the error, and succeeds when it is repeated.
func TestReadFaults(t *testing.T) {
	ctx := context.Background()
	location := filepath.Join(t.TempDir(), "x")
	writeShard(t, location, shardwriter.Options{Layout: shardwriter.TwoLevel}, 4)
	for _, op := range []faultstore.Op{faultstore.Open, faultstore.Read} {
		for k := 1; ; k++ {
			faults := faultstore.New()
			faults.FailAt(op, k)
			_, err := readAll(ctx, faults.Local(), location)
			if faults.Count(op) < k {
				require.NoError(t, err)
				break
			}
			require.ErrorIs(t, err, faultstore.Err)
			_, err = readAll(ctx, faults.Local(), location)
			require.NoError(t, err)
		}
	}
}
