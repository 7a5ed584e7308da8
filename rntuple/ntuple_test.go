package rntuple

import (
	"context"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/take"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/rntuple/internal/read"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// corpus are the files that another program wrote, by their paths.
func corpus(t testing.TB) (names []string) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "rntuple")
	for _, pattern := range []string{"*.root", "extra/*/*.root", "synthetic/*.root", "legacy/*.root"} {
		all, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		names = append(names, all...)
	}
	require.NotEmpty(t, names)
	return names
}

// ntuple is an ntuple that the engine is asked about.
type ntuple struct{ *read.Table }

// open opens the ntuple at a path of a file.
func open(ctx context.Context, file []byte, path string, o Options) (ntuple, error) {
	f, err := rootfile.Open(ctx, read.Count(storage.FromBytes("x.root", file)))
	if err != nil {
		return ntuple{}, err
	}
	t, err := read.Open(ctx, f, path, o.read())
	return ntuple{t}, err
}

// openAll opens all ntuples of a file that can be read.
func openAll(t testing.TB, name string, o Options) (all []ntuple) {
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	f, err := rootFile(t.Context(), file)
	if err != nil {
		return nil // files that are refused
	}
	for _, object := range f.NTuples() {
		if n, err := open(t.Context(), file, object.Path(), o); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// scan gives the entries of a scan.
func (n ntuple) scan(ctx context.Context, o scan.Options) iter.Seq2[scan.Batch, error] {
	return func(yield func(scan.Batch, error) bool) {
		o, err := n.Prepare(ctx, o)
		if err != nil {
			yield(scan.Batch{}, err)
			return
		}
		scan.Scan(ctx, n.Table, o)(yield)
	}
}

// take gives single entries.
func (n ntuple) take(ctx context.Context, entries []int64, o take.Options) (arrow.RecordBatch, error) {
	if err := n.Load(ctx); err != nil {
		return nil, err
	}
	return take.Rows(ctx, n.Table, entries, o)
}

// count counts the entries that meet a condition.
func (n ntuple) count(t testing.TB, condition string) int64 {
	e, err := filter.Parse(condition)
	require.NoError(t, err)
	require.NoError(t, n.Load(t.Context()))
	count, err := scan.Count(t.Context(), n.Table, e.Node())
	require.NoError(t, err, condition)
	return count
}

// scanAll gives the entries of a scan, as one array for each run of entries of a cluster.
func scanAll(t testing.TB, n ntuple, o scan.Options) (batches []scan.Batch) {
	for b, err := range n.scan(t.Context(), o) {
		require.NoError(t, err)
		if o.Reuse {
			b.RecordBatch = clone(t, b.RecordBatch)
		} else {
			b.Retain()
		}
		t.Cleanup(b.Release)
		batches = append(batches, b)
	}
	return batches
}

// clone copies a batch out of memory that a scan uses again.
func clone(t testing.TB, b arrow.RecordBatch) arrow.RecordBatch {
	all := make([]int64, b.NumRows())
	for i := range all {
		all[i] = int64(i)
	}
	columns := make([]arrow.Array, b.NumCols())
	for i := range columns {
		var err error
		columns[i], err = arrowutil.Take(memory.DefaultAllocator, b.Column(i), all)
		require.NoError(t, err)
	}
	return array.NewRecordBatch(b.Schema(), columns, b.NumRows())
}

// requireRows compares the entries of batches, in order, with entries of a whole scan.
func requireRows(t testing.TB, want []scan.Batch, entries []int64, got []scan.Batch) {
	at := func(row int64) (arrow.RecordBatch, int64) {
		for _, b := range want {
			for _, r := range b.RowRanges() {
				if row >= r.From && row < r.To {
					return b.RecordBatch, row - r.From
				}
			}
		}
		require.Fail(t, "no such entry")
		return nil, 0
	}
	k := 0
	for _, b := range got {
		for i := range b.NumRows() {
			w, row := at(entries[k])
			k++
			for c := range int(b.NumCols()) {
				x, y := array.NewSlice(w.Column(c), row, row+1), array.NewSlice(b.Column(c), i, i+1)
				require.Equal(t, -1, arrowutil.Difference(x, y), "entry %d, %s", entries[k-1], b.ColumnName(c))
				x.Release()
				y.Release()
			}
		}
	}
	require.Equal(t, len(entries), k)
}

const fewEntries = 400

// Scans with any options give the same entries, and takes give those of scans.
func TestScansAgree(t *testing.T) {
	for _, name := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			for _, n := range openAll(t, name, Options{VariantsAsStructs: true}) {
				rows := n.NumRows()
				if rows > fewEntries || strings.Contains(name, "corrupt") || len(n.ArrowSchema().Fields()) > 100 {
					continue
				}
				if n.Load(t.Context()) != nil {
					continue
				}
				all := scanAll(t, n, scan.Options{Parallelism: 1, BatchRows: 1 << 20})
				entries := make([]int64, rows)
				for i := range entries {
					entries[i] = int64(i)
				}
				r := rand.New(rand.NewPCG(1, 2))
				for range 2 {
					o := scan.Options{BatchRows: 1 + r.IntN(100), Parallelism: 1 + r.IntN(4), Reuse: r.IntN(2) == 0}
					requireRows(t, all, entries, scanAll(t, n, o))
				}
				if rows == 0 {
					continue
				}
				var some []int64
				for range 20 {
					some = append(some, r.Int64N(rows))
				}
				taken, err := n.take(t.Context(), some, take.Options{})
				require.NoError(t, err)
				requireRows(t, all, some, []scan.Batch{{RecordBatch: taken}})
				taken.Release()
				from := r.Int64N(rows)
				o := scan.Options{Rows: []rowset.Range{{From: from, To: rows}, {From: 0, To: from}}}
				requireRows(t, all, slices.Concat(entries[from:], entries[:from]), scanAll(t, n, o))
			}
		})
	}
}

// muons are the events of a file, as a table.
func muons(t testing.TB) *table.Table {
	events, err := table.Open(t.Context(), filepath.Join(testdata.Shared(t), "corpus", "rntuple", "Run2012BC_DoubleMuParked_Muons_1000evts_rntuple_v1-0-0-0.root")+":Events")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, events.Close()) })
	return events
}

// Filters find what a look at all entries finds.
func TestFilter(t *testing.T) {
	events := muons(t)
	var want [][]float32
	for b, err := range events.Scan(t.Context(), table.ScanOptions{Columns: []string{"nMuon", "Muon_pt"}}) {
		require.NoError(t, err)
		for i, v := range b.Column(0).(*array.Uint32).Uint32Values() {
			if v > 3 {
				want = append(want, listOf(b.Column(1), i))
			}
		}
	}
	require.NotEmpty(t, want)
	e, err := filter.Parse("nMuon > 3")
	require.NoError(t, err)
	count, err := events.Count(t.Context(), table.ScanOptions{Filter: e})
	require.NoError(t, err)
	require.EqualValues(t, len(want), count)
	var got [][]float32
	for b, err := range events.Scan(t.Context(), table.ScanOptions{Columns: []string{"Muon_pt", "Muon_eta"}, Filter: e}) {
		require.NoError(t, err)
		require.EqualValues(t, 2, b.NumCols())
		for i := range b.Column(0).Len() {
			got = append(got, listOf(b.Column(0), i))
			require.Greater(t, len(got[len(got)-1]), 3)
		}
	}
	require.Equal(t, want, got)
}

// listOf copies a list of floats.
func listOf(a arrow.Array, i int) []float32 {
	lists := a.(*array.List)
	from, to := lists.ValueOffsets(i)
	return slices.Clone(lists.ListValues().(*array.Float32).Float32Values()[from:to])
}

// Parts of collections are read alone.
func TestProjection(t *testing.T) {
	events := muons(t)
	all, err := events.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, "_collection0", all.Field(0).Name)
	for b, err := range events.Scan(t.Context(), table.ScanOptions{Columns: []string{"_collection0.Muon_eta"}}) {
		require.NoError(t, err)
		require.Equal(t, "list<item: struct<Muon_eta: float32>>", b.Schema().Field(0).Type.String())
	}
	for _, err := range events.Scan(t.Context(), table.ScanOptions{Columns: []string{"_collection0.Muon_charg"}}) {
		require.ErrorContains(t, err, "Muon_charge")
	}
}

// A file of several ntuples needs a path, and says which there are.
func TestPaths(t *testing.T) {
	name := filepath.Join(testdata.Shared(t), "corpus", "rntuple", "extra", "uproot-written", "uproot_subdir_two.root")
	rows := func(location string) (int64, error) {
		file, err := table.Open(t.Context(), location)
		require.NoError(t, err)
		defer file.Close()
		return file.Count(t.Context(), table.ScanOptions{})
	}
	_, err := rows(name)
	require.ErrorContains(t, err, "dir/sub/one")
	for location, want := range map[string]int64{name + ":two": 5, name + ":/dir/sub/one": 10, name + ":dir/sub/one;1": 10} {
		n, err := rows(location)
		require.NoError(t, err, location)
		require.Equal(t, want, n)
	}
	list, err := New(FormatOptions{}).Tables(t.Context(), provider.Input{Location: name})
	require.NoError(t, err)
	require.Equal(t, []provider.Entry{{Path: "two"}, {Path: "dir/sub/one"}}, list)
}
