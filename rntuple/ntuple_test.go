package rntuple

import (
	"math/rand/v2"
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
	"github.com/amudai/amudai-go/internal/testing/testdata"
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

// openAll opens all ntuples of a file that can be read.
func openAll(t testing.TB, name string, o Options) (all []*NTuple) {
	list, err := List(t.Context(), name, o)
	if err != nil {
		return nil // files that are refused
	}
	for _, info := range list {
		if info.Err != nil {
			continue
		}
		o.Path = info.Path
		n, err := Open(t.Context(), name, o)
		if err != nil {
			continue
		}
		t.Cleanup(func() { require.NoError(t, n.Close()) })
		all = append(all, n)
	}
	return all
}

// scanAll gives the entries of a scan, as one array for each run of entries of a cluster.
func scanAll(t testing.TB, n *NTuple, o ScanOptions) (batches []Batch) {
	for b, err := range n.Scan(t.Context(), o) {
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
func requireRows(t testing.TB, want []Batch, entries []int64, got []Batch) {
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
				rows := n.NumEntries()
				if rows > fewEntries || strings.Contains(name, "corrupt") || len(n.ArrowSchema().Fields()) > 100 {
					continue
				}
				if _, err := n.Clusters(t.Context()); err != nil {
					continue
				}
				all := scanAll(t, n, ScanOptions{Parallelism: 1, BatchRows: 1 << 20})
				entries := make([]int64, rows)
				for i := range entries {
					entries[i] = int64(i)
				}
				r := rand.New(rand.NewPCG(1, 2))
				for range 2 {
					o := ScanOptions{BatchRows: 1 + r.IntN(100), Parallelism: 1 + r.IntN(4), Reuse: r.IntN(2) == 0}
					requireRows(t, all, entries, scanAll(t, n, o))
				}
				if rows == 0 {
					continue
				}
				var some []int64
				for range 20 {
					some = append(some, r.Int64N(rows))
				}
				taken, err := n.Take(t.Context(), some, TakeOptions{})
				require.NoError(t, err)
				requireRows(t, all, some, []Batch{{RecordBatch: taken}})
				taken.Release()
				from := r.Int64N(rows)
				o := ScanOptions{Entries: []EntryRange{{From: from, To: rows}, {From: 0, To: from}}}
				requireRows(t, all, slices.Concat(entries[from:], entries[:from]), scanAll(t, n, o))
			}
		})
	}
}

func muons(t testing.TB) *NTuple {
	n, err := Open(t.Context(), filepath.Join(testdata.Shared(t), "corpus", "rntuple", "Run2012BC_DoubleMuParked_Muons_1000evts_rntuple_v1-0-0-0.root")+":Events", Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	return n
}

// Filters find what a look at all entries finds.
func TestFilter(t *testing.T) {
	n := muons(t)
	want := []int64{}
	for b, err := range n.Scan(t.Context(), ScanOptions{Columns: []string{"nMuon"}}) {
		require.NoError(t, err)
		first := b.RowRanges()[0].From
		for i, v := range b.Column(0).(*array.Uint32).Uint32Values() {
			if v > 3 {
				want = append(want, first+int64(i))
			}
		}
	}
	require.NotEmpty(t, want)
	e, err := filter.Parse("nMuon > 3")
	require.NoError(t, err)
	count, err := n.Count(t.Context(), e)
	require.NoError(t, err)
	require.EqualValues(t, len(want), count)
	var got []int64
	for b, err := range n.Scan(t.Context(), ScanOptions{Columns: []string{"Muon_pt", "Muon_eta"}, Filter: e}) {
		require.NoError(t, err)
		require.EqualValues(t, 2, b.NumCols())
		for _, r := range b.RowRanges() {
			for row := r.From; row < r.To; row++ {
				got = append(got, row)
			}
		}
		lists := b.Column(0).(*array.List)
		for i := range lists.Len() {
			from, to := lists.ValueOffsets(i)
			require.Greater(t, to-from, int64(3))
		}
	}
	require.Equal(t, want, got)
}

// Parts of collections are read alone.
func TestProjection(t *testing.T) {
	n := muons(t)
	all := n.ArrowSchema()
	collection := all.Field(0)
	require.Equal(t, "_collection0", collection.Name)
	for b, err := range n.Scan(t.Context(), ScanOptions{Columns: []string{"_collection0.Muon_eta"}}) {
		require.NoError(t, err)
		require.Equal(t, "list<item: struct<Muon_eta: float32>>", b.Schema().Field(0).Type.String())
	}
	for _, err := range n.Scan(t.Context(), ScanOptions{Columns: []string{"_collection0.Muon_charg"}}) {
		require.ErrorContains(t, err, "Muon_charge")
	}
}

// A file of several ntuples needs a path, and says which there are.
func TestPaths(t *testing.T) {
	name := filepath.Join(testdata.Shared(t), "corpus", "rntuple", "extra", "uproot-written", "uproot_subdir_two.root")
	_, err := Open(t.Context(), name, Options{})
	require.ErrorContains(t, err, "dir/sub/one")
	for location, want := range map[string]int64{name + ":two": 5, name + ":/dir/sub/one": 10, name + ":dir/sub/one;1": 10} {
		n, err := Open(t.Context(), location, Options{})
		require.NoError(t, err, location)
		require.Equal(t, want, n.NumEntries())
		require.NoError(t, n.Close())
	}
	list, err := List(t.Context(), name, Options{})
	require.NoError(t, err)
	require.Len(t, list, 2)
}
