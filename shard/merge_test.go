package shard_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Shards of any types, of which each lacks some columns, merged by reference: the values are those of Arrow tables in which missing columns are null.
func TestMerge(t *testing.T) {
	types := arrowgen.Types()
	rapid.Check(t, func(r *rapid.T) {
		dir := t.TempDir()
		n := rapid.IntRange(1, 4).Draw(r, "shards")
		columns := rapid.SliceOfNDistinct(rapid.IntRange(0, len(types)-1), 1, 6, rapid.ID[int]).Draw(r, "columns")
		name := func(c int) string { return fmt.Sprintf("c%d", c) }
		inner := func(has func(int) bool) arrow.DataType {
			fields := []arrow.Field{{Name: "always", Type: arrow.PrimitiveTypes.Int16, Nullable: true}}
			if has(-2) {
				fields = append(fields, arrow.Field{Name: "sometimes", Type: arrow.BinaryTypes.String, Nullable: true})
			}
			return arrow.StructOf(fields...)
		}
		var batches []arrow.RecordBatch
		var locations []string
		order := []string{}
		for i := range n {
			missing := rapid.SliceOfN(rapid.Bool(), len(columns)+2, len(columns)+2).Draw(r, "missing")
			var fields []arrow.Field
			for k, c := range columns {
				if !missing[k] {
					fields = append(fields, arrow.Field{Name: name(c), Type: types[c], Nullable: true})
				}
			}
			fields = append(fields, arrow.Field{Name: "s", Type: inner(func(int) bool { return !missing[len(columns)] }), Nullable: true})
			s := arrow.NewSchema(fields, nil)
			rows := rapid.IntRange(0, 300).Draw(r, "rows")
			batch := arrowgen.New(uint64(i+1)).Batch(s, rows)
			o := shard.WriterOptions{
				StripeRows: rapid.SampledFrom([]int64{100, 1000}).Draw(r, "stripe"), Layout: shard.Layout(rapid.IntRange(0, 1).Draw(r, "layout")),
			}
			location := filepath.Join(dir, fmt.Sprintf("%d.amudai.shard", i))
			w, err := shard.Create(t.Context(), location, s, o)
			require.NoError(r, err)
			require.NoError(r, w.Write(t.Context(), batch))
			require.NoError(r, w.Close(t.Context()))
			batches, locations = append(batches, batch), append(locations, location)
			for _, f := range fields {
				known := false
				for _, o := range order {
					known = known || o == f.Name
				}
				if !known {
					order = append(order, f.Name)
				}
			}
		}
		out := filepath.Join(dir, "merged.amudai.shard")
		report, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{})
		require.NoError(r, err)
		require.Positive(r, report.Written)
		checked, err := shard.Verify(t.Context(), out, shard.OpenOptions{}, provider.VerifyOptions{})
		require.NoError(r, err)
		require.Empty(r, checked.Problems)

		s, err := shard.Open(t.Context(), out, shard.OpenOptions{})
		require.NoError(r, err)
		defer s.Close()
		got, err := s.ArrowSchema(t.Context())
		require.NoError(r, err)
		var names []string
		for _, f := range got.Fields() {
			names = append(names, f.Name)
		}
		require.Equal(r, order, names)
		rows := int64(0)
		for _, b := range batches {
			if b.NumRows() == 0 {
				continue
			}
			want := widened(b, got)
			var parts []arrow.RecordBatch
			for part, err := range s.Scan(t.Context(), shard.ScanOptions{Rows: []shard.RowRange{{From: rows, To: rows + b.NumRows()}}}) {
				require.NoError(r, err)
				part.Retain()
				parts = append(parts, part.RecordBatch)
			}
			arrowtest.RequireSameTable(t, array.NewTableFromRecords(got, []arrow.RecordBatch{want}), array.NewTableFromRecords(got, parts))
			rows += b.NumRows()
		}
		require.Equal(r, rows, s.NumRows())
	})
}

// widened is a batch with the columns of a schema, of which those that it lacks are null.
func widened(b arrow.RecordBatch, s *arrow.Schema) arrow.RecordBatch {
	columns := make([]arrow.Array, s.NumFields())
	for i, f := range s.Fields() {
		at := b.Schema().FieldIndices(f.Name)
		switch {
		case len(at) == 0:
			columns[i] = arrowutil.Nulls(memory.DefaultAllocator, f.Type, int(b.NumRows()))
		case f.Name != "s":
			columns[i] = b.Column(at[0])
		default:
			columns[i] = widenedStruct(b.Column(at[0]).(*array.Struct), f.Type.(*arrow.StructType))
		}
	}
	return array.NewRecordBatch(s, columns, b.NumRows())
}

func widenedStruct(a *array.Struct, dt *arrow.StructType) arrow.Array {
	children := make([]arrow.ArrayData, dt.NumFields())
	for i, f := range dt.Fields() {
		if at, ok := a.DataType().(*arrow.StructType).FieldIdx(f.Name); ok {
			children[i] = a.Field(at).Data()
		} else {
			children[i] = arrowutil.Nulls(memory.DefaultAllocator, f.Type, a.Len()).Data()
		}
	}
	return array.MakeFromData(array.NewData(dt, a.Len(), a.Data().Buffers(), children, a.NullN(), 0))
}

// A merge names the indexes that go because columns have other numbers, with columns that are widened and without.
func TestMergeNamesInvertedIndexes(t *testing.T) {
	for _, wide := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32} {
		dir := t.TempDir()
		var locations []string
		for i, fields := range [][]arrow.Field{
			{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String}},
			{{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "n", Type: wide}},
		} {
			schema := arrow.NewSchema(fields, nil)
			batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"n": 1, "text": "red"}, {"n": 2, "text": "green"}]`))
			require.NoError(t, err)
			locations = append(locations, filepath.Join(dir, fmt.Sprintf("%d.amudai.shard", i)))
			w, err := shard.Create(t.Context(), locations[i], schema, shard.WriterOptions{Layout: shard.TwoLevel})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), batch))
			require.NoError(t, w.Close(t.Context()))
			require.NoError(t, shard.AddIndex(t.Context(), locations[i], shard.EditOptions{}, shard.IndexDefinition{Type: shard.InvertedIndex, Columns: []string{"text"}, PerStripe: true}))
		}
		report, err := shard.Merge(t.Context(), filepath.Join(dir, "merged.amudai.shard"), locations, shard.MergeOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{shard.InvertedIndex}, report.Dropped, wide)
	}
}

// Indexes of whole shards are joined if all shards have them, and answer as those of the merged rows. Of others, those of shards of one stripe stay with it.
func TestMergeIndexes(t *testing.T) {
	term := shard.IndexDefinition{Columns: []string{"text"}}
	hash := shard.IndexDefinition{Type: shard.HashIndex, Columns: []string{"id"}}
	stripes := shard.IndexDefinition{Type: shard.HashIndex, Columns: []string{"id"}, PerStripe: true}
	var locations []string
	for i, indexes := range [][]shard.IndexDefinition{{term, hash}, {stripes, term}, {term, hash}} {
		o := shard.WriterOptions{Indexes: indexes, StripeRows: 400}
		if i == 2 {
			o.StripeRows = 5000
		}
		locations = append(locations, editable(t, 1000+i, o))
	}
	out := filepath.Join(t.TempDir(), "merged.amudai.shard")
	allow := shard.Policy{Allow: func(string) error { return nil }}
	_, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{})
	require.ErrorContains(t, err, "outside")
	require.NoFileExists(t, out)
	report, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{Open: shard.OpenOptions{Policy: allow}})
	require.NoError(t, err)
	require.Equal(t, []string{shard.HashIndex}, report.Dropped)
	require.Equal(t, int64(3003), report.Rows)
	checked, err := shard.Verify(t.Context(), out, shard.OpenOptions{Policy: allow}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, checked.Problems)

	s, err := shard.Open(t.Context(), out, shard.OpenOptions{Policy: allow})
	require.NoError(t, err)
	defer s.Close()
	indexes, err := s.CheckIndexes(t.Context())
	require.NoError(t, err)
	found := map[string]int{}
	for _, x := range indexes {
		require.NoError(t, x.Err)
		found[fmt.Sprint(x.Type, x.Columns, x.Stripe >= 0)]++
	}
	require.Equal(t, map[string]int{
		fmt.Sprint(shard.TermIndex, []string{"text"}, false): 1, fmt.Sprint(shard.HashIndex, []string{"id"}, true): 4,
	}, found)
	n, err := s.Count(t.Context(), filter.Has(filter.Col("text"), "green"))
	require.NoError(t, err)
	want := int64(0)
	for _, rows := range []int{1000, 1001, 1002} {
		for i := range rows {
			if i%3 == 1 && i%11 != 5 {
				want++
			}
		}
	}
	require.Equal(t, want, n)
}

// A merged shard shows the rows that its shards had, whatever becomes of these.
func TestMergedShardsMayChange(t *testing.T) {
	dir := t.TempDir()
	var locations []string
	for i := range 2 {
		location := filepath.Join(dir, fmt.Sprintf("%d.amudai.shard", i))
		require.NoError(t, os.Rename(editable(t, 500, shard.WriterOptions{StripeRows: 200}), location))
		locations = append(locations, location)
	}
	out := filepath.Join(dir, "merged.amudai.shard")
	_, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{})
	require.NoError(t, err)
	want := shownIDs(t, out, filter.Expr{})
	require.Len(t, want, 1000)
	_, err = shard.Delete(t.Context(), locations[0], shard.EditOptions{}, shard.Rows{Where: filter.Lt(filter.Col("id"), 300)})
	require.NoError(t, err)
	require.NoError(t, os.Remove(locations[1]))
	require.Equal(t, want, shownIDs(t, out, filter.Expr{}))
	_, err = shard.Delete(t.Context(), out, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 0, To: 999}}})
	require.NoError(t, err)
	require.Equal(t, []int64{499}, shownIDs(t, out, filter.Expr{}))
	require.Len(t, shownIDs(t, locations[0], filter.Expr{}), 200)
}

// What is not allowed to a merge, or to a reader of the merged shard, is an error that names all folders to allow at once. The shard does not allow them by itself.
func TestMergeOfOtherFolders(t *testing.T) {
	locations := []string{editable(t, 50, shard.WriterOptions{}), editable(t, 60, shard.WriterOptions{Layout: shard.TwoLevel}), editable(t, 70, shard.WriterOptions{})}
	var folders []string
	for _, l := range locations {
		url, err := storage.URL(l)
		require.NoError(t, err)
		folders = append(folders, url[:strings.LastIndexByte(url, '/')+1])
	}
	slices.Sort(folders)
	out := filepath.Join(t.TempDir(), "merged.amudai.shard")
	_, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{})
	require.ErrorIs(t, err, shard.ErrUnsupported)
	require.Contains(t, advice.Hint(err), "AMUDAI_ALLOW="+strings.Join(folders, ","))
	require.NoFileExists(t, out)

	allow := shard.OpenOptions{Policy: shard.Policy{}.With(folders...)}
	report, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{Open: allow})
	require.NoError(t, err)
	require.Equal(t, folders, report.Outside)
	_, err = readIDs(t.Context(), out, shard.OpenOptions{}, filter.Expr{})
	require.ErrorIs(t, err, shard.ErrUnsupported)
	require.Contains(t, advice.Hint(err), "AMUDAI_ALLOW="+strings.Join(folders, ","))
	_, err = readIDs(t.Context(), out, shard.OpenOptions{Policy: shard.Policy{}.With(folders[:2]...)}, filter.Expr{})
	require.ErrorIs(t, err, shard.ErrUnsupported)
	require.Len(t, shownIDsOf(t, out, allow, filter.Expr{}), 180)
	info, err := shard.New(shard.FormatOptions{Open: allow}).Inspect(t.Context(), provider.Input{Name: out, Location: out}, provider.InspectOptions{})
	require.NoError(t, err)
	require.Contains(t, info.Facts, provider.Fact{Name: "other folders", Value: strings.Join(folders, ",")})
}

// cloud is a store that copies by itself, and has no links.
type cloud struct {
	storage.Store
	storage.Copier
	copies int
}

func (c *cloud) Copy(ctx context.Context, from string, v storage.Version, to string, o storage.CreateOptions) error {
	c.copies++
	return c.Copier.Copy(ctx, from, v, to, o)
}

// In a store without links, a shard that owns copies of single-file shards is read whatever becomes of them, and the copies are the server's. Otherwise the error of a
// reader names what has changed.
func TestMergeOwns(t *testing.T) {
	for _, owns := range []bool{false, true} {
		memory := storage.NewMemory()
		server := &cloud{Store: memory, Copier: memory}
		faults := faultstore.New()
		store := faults.Wrap(server)
		var locations []string
		gen := arrowgen.New(1)
		gen.Nulls = 0
		for i, layout := range []shard.Layout{shard.SingleFile, shard.SingleFile, shard.TwoLevel} {
			location := fmt.Sprintf("mem://cloud/%d.amudai.shard", i)
			w, err := shard.Create(t.Context(), location, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil), shard.WriterOptions{Store: store, Layout: layout})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil),
				[]arrow.Array{gen.Array(arrow.PrimitiveTypes.Int64, 100_000)}, 100_000)))
			require.NoError(t, w.Close(t.Context()))
			locations = append(locations, location)
		}
		const out = "mem://cloud/merged.amudai.shard"
		open := shard.OpenOptions{Store: store}
		faults.Reset()
		server.copies = 0
		_, err := shard.Merge(t.Context(), out, locations, shard.MergeOptions{Open: open, Store: store, Own: owns})
		require.NoError(t, err)
		require.Less(t, faults.BytesRead()+faults.BytesWritten(), int64(600_000)) // of megabytes
		want := shownIDsOf(t, out, open, filter.Expr{})
		require.Len(t, want, 300_000)
		copies := map[bool]int{true: 2}[owns]
		require.Equal(t, copies, server.copies)

		_, err = shard.Edit(t.Context(), locations[0], shard.EditOptions{Open: open}, shard.AddColumn("twice", "id / 2.0"))
		require.NoError(t, err)
		require.NoError(t, store.Remove(t.Context(), locations[1]))
		if owns {
			require.Equal(t, want, shownIDsOf(t, out, open, filter.Expr{}))
			continue
		}
		s, err := shard.Open(t.Context(), out, open)
		require.NoError(t, err)
		_, err = s.Take(t.Context(), []int64{5}, shard.TakeOptions{})
		require.Error(t, err)
		require.Contains(t, advice.Hint(err), locations[0])
		require.Contains(t, advice.Hint(err), "merge --own")
		require.NoError(t, s.Close())
	}
}
