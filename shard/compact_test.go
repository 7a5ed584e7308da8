package shard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/golden"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// rowsOf are the rows that a shard shows.
func rowsOf(t require.TestingT, location string, open shard.OpenOptions) arrow.Table {
	s, err := shard.Open(context.Background(), location, open)
	require.NoError(t, err)
	defer s.Close()
	schema, err := s.ArrowSchema(context.Background())
	require.NoError(t, err)
	batches, err := Read(location, open, shard.ScanOptions{})
	require.NoError(t, err)
	return array.NewTableFromRecords(schema, batches)
}

// requireClean verifies a shard with all of its indexes.
func requireClean(t require.TestingT, location string, open shard.OpenOptions) {
	report, err := shard.Verify(context.Background(), location, open, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}

// indexesOf counts the indexes of a shard by type and columns; those of stripes count apart.
func indexesOf(t require.TestingT, location string) (whole, stripes map[string]int) {
	s, err := shard.Open(context.Background(), location, shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	all, err := s.CheckIndexes(context.Background())
	require.NoError(t, err)
	whole, stripes = map[string]int{}, map[string]int{}
	for _, x := range all {
		require.NoError(t, x.Err)
		if x.Stripe < 0 {
			whole[fmt.Sprint(x.Type, x.Columns)]++
		} else {
			stripes[fmt.Sprint(x.Type, x.Columns)]++
		}
	}
	return whole, stripes
}

// Any tables, with some rows deleted, whose stripes are written anew: the rows are those that were visible, and properties and indexes stay.
func TestCompact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		o := shard.WriterOptions{
			Layout:     shard.Layout(rapid.IntRange(0, 1).Draw(r, "layout")),
			Edition:    rapid.SampledFrom([]shard.Edition{shard.Edition2026, shard.EditionReference}).Draw(r, "edition"),
			StripeRows: rapid.SampledFrom([]int64{60, 130, 1000}).Draw(r, "stripe"),
			NullsApart: rapid.Bool().Draw(r, "nulls"),
		}
		types := arrowgen.Types()
		if o.Edition == shard.EditionReference {
			types = arrowgen.ReferenceTypes()
		}
		fields := []arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}}
		for i, c := range rapid.SliceOfN(rapid.IntRange(0, len(types)-1), 1, 6).Draw(r, "columns") {
			fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i%5), Type: types[c], Nullable: true})
		}
		s := arrow.NewSchema(fields, nil)
		if rapid.Bool().Draw(r, "indexes") {
			o.Indexes = []shard.IndexDefinition{{Columns: []string{"text"}}, {Type: shard.HashIndex, Columns: []string{"text"}, PerStripe: true}}
		}
		rows := rapid.IntRange(0, 500).Draw(r, "rows")
		batch := arrowgen.New(uint64(rapid.IntRange(1, 100).Draw(r, "seed"))).Batch(s, rows)
		location := filepath.Join(t.TempDir(), "x.amudai.shard")
		w, err := shard.Create(t.Context(), location, s, o)
		require.NoError(r, err)
		require.NoError(r, w.SetFieldProperty("text", "unit", "words"))
		require.NoError(r, w.Write(t.Context(), batch))
		require.NoError(r, w.Close(t.Context()))
		if o.Edition == shard.Edition2026 && rapid.Bool().Draw(r, "delete") {
			ranges := []shard.RowRange{}
			for i := int64(rapid.IntRange(0, 50).Draw(r, "first")); i < int64(rows); i += int64(rapid.IntRange(1, 90).Draw(r, "gap")) {
				to := min(i+int64(rapid.IntRange(1, 80).Draw(r, "length")), int64(rows))
				ranges = append(ranges, shard.RowRange{From: i, To: to})
			}
			_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: ranges})
			require.NoError(r, err)
		}
		want := rowsOf(r, location, shard.OpenOptions{})
		wantWhole, wantStripes := indexesOf(r, location)
		src, err := shard.Open(t.Context(), location, shard.OpenOptions{})
		require.NoError(r, err)
		n := src.NumStripes()
		require.NoError(r, src.Close())

		c := shard.CompactOptions{StripeRows: rapid.SampledFrom([]int64{0, 50, 200}).Draw(r, "new stripe"), Upgrade: rapid.Bool().Draw(r, "upgrade")}
		if n > 0 && rapid.Bool().Draw(r, "choose") {
			c.Stripes = rapid.SliceOfN(rapid.IntRange(0, n-1), 0, n).Draw(r, "stripes")
		}
		if rapid.Bool().Draw(r, "profile") {
			c.Profile = encoding.MinimalCompression
		}
		dry := c
		dry.DryRun = true
		plan, err := shard.Compact(t.Context(), location, dry)
		require.NoError(r, err)
		report, err := shard.Compact(t.Context(), location, c)
		require.NoError(r, err)
		require.Equal(r, plan.Stripes, report.Stripes)
		require.Equal(r, plan.Rows, report.Rows)
		if len(report.Stripes) > 0 {
			require.Equal(r, plan.After, report.After)
		}

		arrowtest.RequireSameTable(t, want, rowsOf(r, location, shard.OpenOptions{}))
		requireClean(r, location, shard.OpenOptions{})
		out, err := shard.Open(t.Context(), location, shard.OpenOptions{})
		require.NoError(r, err)
		defer out.Close()
		require.Equal(r, report.After, out.NumStripes())
		gotWhole, gotStripes := indexesOf(r, location)
		require.Equal(r, wantWhole, gotWhole)
		for name := range wantStripes {
			require.Equal(r, out.NumStripes(), gotStripes[name])
		}
		if out.NumStripes() > 0 {
			_, properties, err := out.FieldProperties(t.Context(), "text")
			require.NoError(r, err)
			require.Equal(r, []shard.Property{{Name: "unit", Value: "words"}}, properties)
		}
		if c.Stripes == nil && len(report.Stripes) == n {
			require.Equal(r, want.NumRows(), out.NumRows())
		}
	})
}

// Rows that are sorted are those that a table returns in this order, however little memory there is.
func TestCompactSorted(t *testing.T) {
	const rows = 3000
	for _, by := range []string{"-text,id", "id % 7,-id", "text", "parts,-id"} {
		for _, memory := range []int64{0, 64 << 10} {
			location := editable(t, rows, shard.WriterOptions{StripeRows: 700, Indexes: []shard.IndexDefinition{{Type: shard.HashIndex, Columns: []string{"id"}}}})
			_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 600, To: 800}}})
			require.NoError(t, err)
			tab, err := table.Open(t.Context(), location)
			require.NoError(t, err)
			var want []int64
			for b, err := range tab.Sort(t.Context(), table.SortOptions{By: by, Columns: []string{"id"}}) {
				require.NoError(t, err)
				want = append(want, b.Column(0).(*array.Int64).Int64Values()...)
			}
			require.NoError(t, tab.Close())
			dir := t.TempDir()
			report, err := shard.Compact(t.Context(), location, shard.CompactOptions{Sort: by, EditOptions: shard.EditOptions{MemoryBytes: memory, TempDir: dir}})
			require.NoError(t, err)
			require.Equal(t, int64(200), report.Deleted)
			require.Equal(t, 1, report.After)
			require.Equal(t, want, shownIDs(t, location, filter.Expr{}))
			require.Equal(t, []int64{1234}, shownIDs(t, location, filter.Eq(filter.Col("id"), 1234)))
			requireClean(t, location, shard.OpenOptions{})
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left)
		}
	}
}

// What is chosen when nothing is asked for: neighbours with few rows, and stripes with many deleted ones; and nothing the next time.
func TestCompactChooses(t *testing.T) {
	location := editable(t, 1000, shard.WriterOptions{StripeRows: 100})
	_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 100, To: 119}, {From: 310, To: 330}, {From: 540, To: 700}}})
	require.NoError(t, err)
	o := shard.CompactOptions{StripeRows: 150}
	report, err := shard.Compact(t.Context(), location, o)
	require.NoError(t, err)
	require.Equal(t, []int{3, 5, 6}, report.Stripes)
	require.Equal(t, int64(180), report.Deleted)
	report, err = shard.Compact(t.Context(), location, o)
	require.NoError(t, err)
	require.Empty(t, report.Stripes)
	o.StripeRows = 0
	report, err = shard.Compact(t.Context(), location, o)
	require.NoError(t, err)
	require.Equal(t, 1, report.After)
	require.Equal(t, 801, len(shownIDs(t, location, filter.Expr{})))
}

// Shards of the reference are written anew without loss, in both editions.
func TestCompactGoldens(t *testing.T) {
	raw := shard.OpenOptions{Types: shard.TypeOptions{Decimals: shard.DecimalsRaw, DateTimes: shard.TicksRaw, TimeSpans: shard.TicksRaw, Dynamics: shard.DynamicsRaw}}
	for i, g := range golden.Shards(t) {
		if i%sweep.Step(5) != 0 {
			continue
		}
		t.Run(g.File, func(t *testing.T) {
			location := filepath.Join(t.TempDir(), "x.amudai.shard")
			layout := shard.SingleFile
			_, err := shard.Relocate(t.Context(), g.Path(t), location, shard.RelocateOptions{Layout: &layout})
			require.NoError(t, err)
			want := rowsOf(t, location, raw)
			s, err := shard.Open(t.Context(), location, raw)
			require.NoError(t, err)
			o := shard.CompactOptions{Stripes: []int{}, Upgrade: i%2 == 0}
			for i := range s.NumStripes() {
				o.Stripes = append(o.Stripes, i)
			}
			require.NoError(t, s.Close())
			_, err = shard.Compact(t.Context(), location, o)
			require.NoError(t, err)
			arrowtest.RequireSameTable(t, want, rowsOf(t, location, raw))
			requireClean(t, location, raw)
		})
	}
}

// Whatever step of a compaction fails, the rows are the same, and no temporary file is left. A second writer that is faster is an error.
func TestCompactFaults(t *testing.T) {
	t.Parallel() // it waits for disks
	for _, layout := range []shard.Layout{shard.SingleFile, shard.TwoLevel} {
		from := editable(t, 900, shard.WriterOptions{StripeRows: 100, Layout: layout, Indexes: []shard.IndexDefinition{{Type: shard.HashIndex, Columns: []string{"id"}}}})
		_, err := shard.Delete(t.Context(), from, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 250, To: 290}}})
		require.NoError(t, err)
		want := shownIDs(t, from, filter.Expr{})
		require.NoError(t, faultstore.EachStep(17, func(faults *faultstore.Faults, op faultstore.Op, _ int) error {
			dir, temp := t.TempDir(), t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(from))))
			location := filepath.Join(dir, filepath.Base(from))
			_, err := shard.Compact(t.Context(), location, shard.CompactOptions{Sort: "text",
				EditOptions: shard.EditOptions{Open: shard.OpenOptions{Store: faults.Local()}, MemoryBytes: 64 << 10, TempDir: temp}})
			got := shownIDs(t, location, filter.Expr{})
			slices.Sort(got)
			require.Equal(t, want, got)
			requireClean(t, location, shard.OpenOptions{})
			if op != faultstore.Remove {
				left, err := filepath.Glob(filepath.Join(dir, ".*"))
				require.NoError(t, err)
				require.Empty(t, left)
			}
			left, err2 := os.ReadDir(temp)
			require.NoError(t, err2)
			require.Empty(t, left)
			return err
		}))
	}
}

// A compaction that meets another writer begins anew; one whose context ends leaves the shard as it is.
func TestCompactIsInterrupted(t *testing.T) {
	location := editable(t, 900, shard.WriterOptions{StripeRows: 100})
	other := func() {
		_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 1, To: 2}}})
		require.NoError(t, err)
	}
	_, err := shard.Compact(t.Context(), location, shard.CompactOptions{EditOptions: shard.EditOptions{Progress: func(int64, int64) { other() }}})
	require.NoError(t, err)
	require.Len(t, shownIDs(t, location, filter.Expr{}), 899)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = shard.Compact(ctx, location, shard.CompactOptions{Sort: "-id", EditOptions: shard.EditOptions{Progress: func(int64, int64) { cancel(errors.New("enough")) }}})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, int64(2), shownIDs(t, location, filter.Expr{})[1])
	left, err := filepath.Glob(filepath.Join(filepath.Dir(location), ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
	for _, o := range []shard.CompactOptions{{Stripes: []int{9}}, {Sort: "nothing"}, {Sort: ","}, {EditOptions: shard.EditOptions{BlockValues: 7}}} {
		_, err := shard.Compact(t.Context(), location, o)
		require.Error(t, err)
	}
}
