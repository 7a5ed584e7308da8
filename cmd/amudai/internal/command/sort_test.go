package command_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// TestSortInterrupted stops commands that have moved rows to temporary files. No file is left behind.
func TestSortInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.jsonl", []byte("{\"n\":1,\"s\":\"some text\"}\n"), 0o644))
	for _, args := range [][]string{
		{"sort", "-", "--by", "n,s"}, {"sort", "-", "--by", "s", "--limit", "100000"}, {"sort", "-", "--by", "n", "--output", "o.parquet"},
		{"distinct", "-", "--count"}, {"diff", "-", "a.jsonl", "--key", "n"}, {"diff", "a.jsonl", "-", "--key", "n"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			defer leaktest.Goroutines(t)()
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			ctx, cancel := context.WithCancel(t.Context())
			in := &endless{begun: make(chan struct{})}
			go func() {
				<-in.begun
				cancel()
			}()
			done := make(chan result)
			args := append(args, "--from", "jsonl", "--sample-bytes", "1MiB", "--memory", "1MiB")
			go func() { done <- runContext(ctx, app.Env{Args: args, Stdin: in}) }()
			select {
			case r := <-done:
				require.Equal(t, app.ExitInterrupted, r.code, r.errout)
				require.Equal(t, "amudai: interrupted\n", r.errout)
			case <-time.After(time.Minute):
				require.Fail(t, "did not stop")
			}
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			require.Empty(t, left)
			_, err = os.Stat("o.parquet")
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

// TestSortFirst sorts random shards with a limit, so that the first key is read alone before, and compares the rows with the
// first ones of all.
func TestSortFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	types := arrowgen.ReferenceTypes()
	r := rand.New(rand.NewPCG(12, 4))
	for i := range sweep.Count(len(types)/2, 4*len(types)) {
		dt := types[(2*i+r.IntN(2))%len(types)]
		if r.IntN(2) == 0 {
			dt = sortedTypes()[i%len(sortedTypes())]
		}
		g := arrowgen.New(uint64(i))
		g.Nulls = []float64{0, 0.1, 0.95}[r.IntN(3)]
		writeNumbered(t, g, []arrow.DataType{dt, arrow.PrimitiveTypes.Int8}, 600, "t.arrow")
		ok(t, "convert", "-q", "--force", "t.arrow", "t.amudai.shard", "--stripe-rows", "200")
		args := []string{"sort", "t.arrow", "--by", []string{"c0", "-c0", "c0,-c1", "-c0,row"}[r.IntN(4)], "--format", "csv"}
		if r.IntN(3) == 0 {
			args = append(args, "--nulls-first")
		}
		if r.IntN(3) == 0 {
			args = append(args, "--where", "c1 > 0")
		}
		want := strings.SplitAfter(ok(t, args...), "\n")
		limit := 1 + r.IntN(80)
		args[1] = "t.amudai.shard"
		got := ok(t, append(args, "--limit", strconv.Itoa(limit))...)
		require.Equal(t, strings.Join(want[:min(limit+1, len(want))], ""), got, "case %d: %s %v", i, dt, args)
	}
}
