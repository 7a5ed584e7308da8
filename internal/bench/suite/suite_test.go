package suite

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/shard"
)

const childArg = "-contest-child"

// TestMain lets this program be the process of its own that measures peaks.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == childArg {
		if err := Child(context.Background(), os.Args[2], find, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func find(name string) (Contender, error) {
	for _, k := range []Contender{zstdFile, Shard{}} {
		if k.Name() == name {
			return k, nil
		}
	}
	return nil, errors.New("nobody is called " + name)
}

var zstdFile = ArrowFile{Title: "base", Options: []ipc.Option{ipc.WithZstd()}}

// numbers are a data set of two columns.
func numbers(rows int64) *Dataset {
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(i)
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat("x", int(i%7)))
	}
	return &Dataset{Name: "numbers", Schema: s, Batches: []arrow.RecordBatch{b.NewRecordBatch()}, Rows: rows, Project: []string{"n"},
		Questions: []Question{{Name: "small", Where: "n < 5", Count: true}}}
}

// spy is a contender that records its calls.
type spy struct {
	mu    sync.Mutex
	calls []string
	rows  int64 // of every answer
}

func (k *spy) Name() string              { return "spy" }
func (k *spy) Can(*Dataset, string) bool { return true }

func (k *spy) note(call string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, call)
}

func (k *spy) Write(_ context.Context, path string, _ *arrow.Schema, next Source, threads int) error {
	k.note("write" + strings.Repeat("+", threads) + filepath.Ext(path))
	err := next.Each(func(arrow.RecordBatch) error { return nil })
	return errors.Join(err, os.WriteFile(path, []byte("x"), 0o600))
}

func (k *spy) Read(_ context.Context, _ string, q Query, out *Outcome) error {
	k.note("read" + strings.Repeat("+", q.Threads) + strings.Repeat("@", runtime.GOMAXPROCS(0)))
	d := numbers(k.rows)
	nothing := array.MakeArrayOfNull(memory.DefaultAllocator, d.Schema.Field(1).Type, int(k.rows))
	out.Batch(array.NewRecordBatch(d.Schema, []arrow.Array{d.Batches[0].Column(0), nothing}, k.rows))
	return nil
}

// Time implements [Timer].
func (k *spy) Time(*Dataset, string, string) (float64, error) {
	k.note("timed" + strings.Repeat("@", runtime.GOMAXPROCS(0)))
	return 1, nil
}

// TestEveryOperationIsDoneOnceBefore looks at what comes before the clock runs: the very
// same as what is measured.
func TestEveryOperationIsDoneOnceBefore(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	d := numbers(10)
	for op, want := range map[string][]string{
		measure.OpWrite:      {"timed@"},
		measure.OpScan:       {"read+@", "timed@"},
		measure.OpTake:       {"read+@", "timed@"},
		measure.OpScanTwo:    {"read++@@", "timed@@"},
		measure.OpScanShare:  {"read+@@", "read+@@", "timed@@"},
		measure.OpWriteTwo:   {"write++", "timed@@"},
		measure.OpWriteShare: {"write+.0", "write+.1", "timed@@"},
	} {
		k := &spy{rows: d.Rows}
		if op == measure.OpTake {
			k.rows /= 2
		}
		took, err := d.run(t.Context(), op, k, filepath.Join(t.TempDir(), "f"))
		require.NoError(t, err, op)
		require.Equal(t, 1.0, took)
		slices.Sort(k.calls[:len(want)-1]) // side by side they come in any order
		require.Equal(t, want, k.calls, op)
		require.Equal(t, 1, runtime.GOMAXPROCS(0), "as it was before")
	}
}

// One processor cannot tell how two threads share the work. All else is measured there.
func TestOneProcessor(t *testing.T) {
	d := numbers(10)
	r, err := Run(t.Context(), d, []Contender{Shard{}}, Options{
		Dir: t.TempDir(), Rounds: 1, Cores: 1, CPUs: 1, Wants: func(op string) bool { return !measure.IsPeak(op) },
	})
	require.NoError(t, err)
	require.Contains(t, r.Ops, measure.OpScan)
	require.False(t, slices.ContainsFunc(r.Ops, measure.TwoThreads), r.Ops)
}

func TestRunMeasuresEveryOperation(t *testing.T) {
	var report []string
	d, dir := numbers(3000), t.TempDir()
	r, err := Run(t.Context(), d, []Contender{zstdFile, Shard{}}, Options{
		Dir: dir, Rounds: 2, Cores: 1, CPUs: 2, Compare: true, Child: []string{childArg},
		Report: func(contender, op string, _ float64) { report = append(report, contender+" "+op) },
	})
	require.NoError(t, err)
	require.Equal(t, d.Operations(), r.Ops)
	require.EqualValues(t, 3000, r.Rows)
	base, ours := r.Of("base"), r.Of(Shard{}.Name())
	require.Positive(t, base.Size)
	for _, op := range r.Ops {
		rounds := 2
		if measure.IsPeak(op) {
			rounds = 1
		}
		require.Len(t, ours.Values[op], rounds, op)
		if (ArrowFile{}).Can(d, op) {
			require.Len(t, base.Values[op], rounds, op)
		} else {
			require.Empty(t, base.Values[op], op)
		}
	}
	for _, op := range []string{measure.OpPeakWrite, measure.OpPeakScan} {
		require.Greater(t, ours.Median(op), 1.0, "MiB of a Go program")
		require.Less(t, ours.Median(op), 4096.0)
	}
	require.Equal(t, []string{"base write", Shard{}.Name() + " write"}, report[:2])
	require.Equal(t, []string{"base scan", Shard{}.Name() + " scan"}, report[2:4], "they take turns")
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "input.arrow")}, left, "for the caller to remove with the folder")
}

func TestPeaksAlone(t *testing.T) {
	d := numbers(500)
	d.Times = 3
	r, err := Run(t.Context(), d, []Contender{Shard{}}, Options{
		Dir: t.TempDir(), Rounds: 2, Cores: 1, Child: []string{childArg}, Wants: func(op string) bool { return op == measure.OpPeakScan }})
	require.NoError(t, err)
	require.Equal(t, []string{measure.OpPeakWrite, measure.OpPeakScan}, r.Ops, "what is scanned must be written")
	require.EqualValues(t, 1500, r.Rows)
	require.Positive(t, r.Runs[0].Size)
	require.Len(t, r.Runs[0].Values[measure.OpPeakScan], 1)
}

// TestAChildThatFailsIsAnError covers interruption, too.
func TestAChildThatFailsIsAnError(t *testing.T) {
	o := Options{Dir: t.TempDir(), Rounds: 1, Cores: 1, Child: []string{childArg}, Wants: measure.IsPeak}
	_, err := Run(t.Context(), numbers(10), []Contender{&spy{}}, o)
	require.ErrorContains(t, err, "spy: write peak: in a process of its own")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Run(ctx, numbers(10), []Contender{Shard{}}, o)
	require.ErrorIs(t, err, context.Canceled)
	require.Error(t, Child(t.Context(), "{", find, nil))
	missing, err := json.Marshal(task{Contender: Shard{}.Name(), Op: measure.OpPeakWrite, Input: filepath.Join(o.Dir, "none")})
	require.NoError(t, err)
	require.ErrorIs(t, Child(t.Context(), string(missing), find, nil), os.ErrNotExist)
}

func TestWhoAnswersElseIsNamed(t *testing.T) {
	o := Options{Dir: t.TempDir(), Rounds: 1, Compare: true, Wants: func(op string) bool { return op == measure.OpScan }}
	_, err := Run(t.Context(), numbers(10), []Contender{zstdFile, &spy{rows: 10}}, o)
	require.ErrorContains(t, err, "spy: scan: the answer is not that of base")
	_, err = Run(t.Context(), numbers(10), []Contender{zstdFile, &spy{rows: 9}}, o)
	require.ErrorContains(t, err, "9 rows came back of 10")
}

func TestAWrongAnswerIsFound(t *testing.T) {
	d := numbers(50)
	sums := make([]checksum, 3)
	sums[0].add(d.Batches[0])
	sums[1].add(d.Batches[0].NewSlice(0, 20))
	sums[1].add(d.Batches[0].NewSlice(20, 50))
	require.True(t, sums[0].equal(&sums[1]), "where batches are cut does not matter")
	sums[2].add(d.Batches[0].NewSlice(1, 50))
	sums[2].add(d.Batches[0].NewSlice(0, 1))
	require.False(t, sums[0].equal(&sums[2]), "the order does")
}

// TestViews looks at what a scan to views asks for.
func TestViews(t *testing.T) {
	q, err := numbers(10).Query(measure.OpViews)
	require.NoError(t, err)
	require.Equal(t, shard.StringsView, q.scanOptions(filter.Expr{}).Strings)
	require.Equal(t, shard.StringsAsRecorded, Query{}.scanOptions(filter.Expr{}).Strings)
}
