package shard_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// editable writes a shard of rows with their number in a column, and a text and a list of it in others.
func editable(t testing.TB, rows int, o shard.WriterOptions) string {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "parts", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if i%11 == 5 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append([]string{"red", "green", "blue"}[i%3])
		}
		list := b.Field(2).(*array.ListBuilder)
		list.Append(true)
		for k := range i % 4 {
			list.ValueBuilder().(*array.Int32Builder).Append(int32(k))
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	location := filepath.Join(t.TempDir(), "editable.amudai.shard")
	w, err := shard.Create(t.Context(), location, s, o)
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
	return location
}

// shownIDs are the numbers of the rows that a shard shows.
func shownIDs(t testing.TB, location string, e filter.Expr) []int64 {
	return shownIDsOf(t, location, shard.OpenOptions{}, e)
}

func shownIDsOf(t testing.TB, location string, o shard.OpenOptions, e filter.Expr) []int64 {
	all, err := readIDs(t.Context(), location, o, e)
	require.NoError(t, err)
	return all
}

func readIDs(ctx context.Context, location string, o shard.OpenOptions, e filter.Expr) ([]int64, error) {
	s, err := shard.Open(ctx, location, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all := []int64{}
	for b, err := range s.Scan(ctx, shard.ScanOptions{Columns: []string{"id"}, Filter: e}) {
		if err != nil {
			return nil, err
		}
		all = append(all, b.Column(0).(*array.Int64).Int64Values()...)
	}
	return all, nil
}

// Deletes and their withdrawal, by conditions and by numbers, in any order: what is shown is what a set of rows says, and the shard stays sound.
func TestDeletes(t *testing.T) {
	const rows = 1100
	rapid.Check(t, func(r *rapid.T) {
		o := shard.WriterOptions{StripeRows: rapid.SampledFrom([]int64{300, 500, 5000}).Draw(r, "stripe"), Layout: shard.Layout(rapid.IntRange(0, 1).Draw(r, "layout"))}
		location := editable(t, rows, o)
		deleted := map[int64]bool{}
		for range rapid.IntRange(1, 4).Draw(r, "changes") {
			gone := rapid.IntRange(0, 2).Draw(r, "restore") > 0
			var chosen shard.Rows
			var matches func(i int64) bool
			switch rapid.IntRange(0, 4).Draw(r, "kind") {
			case 0:
				k := rapid.Int64Range(2, 40).Draw(r, "modulus")
				ranges := []shard.RowRange{}
				for i := int64(rows) - 1; i >= 0; i-- {
					if i%k == 1 {
						ranges = append(ranges, shard.RowRange{From: i, To: i + 1})
					}
				}
				chosen, matches = shard.Rows{Ranges: ranges}, func(i int64) bool { return i%k == 1 }
			case 1:
				from := rapid.Int64Range(0, rows).Draw(r, "from")
				chosen.Where = filter.And(filter.Ge(filter.Col("id"), from), filter.Lt(filter.Col("id"), from+400))
				matches = func(i int64) bool { return i >= from && i < from+400 }
			case 2:
				chosen.Where = filter.Eq(filter.Col("text"), "green")
				matches = func(i int64) bool { return i%3 == 1 && i%11 != 5 }
			case 3:
				chosen.Where, chosen.Ranges = filter.IsNull(filter.Col("text")), []shard.RowRange{{From: 1090, To: 1091}, {From: 5, To: 6}, {From: 15, To: 18}}
				matches = func(i int64) bool { return i == 5 || i == 16 }
			case 4:
				k := rapid.Int64Range(2, 9).Draw(r, "keys")
				s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
				b := array.NewRecordBuilder(memory.DefaultAllocator, s)
				for i := range int64(2 * rows) {
					if i%k == 0 {
						b.Field(0).(*array.Int64Builder).Append(i)
						if i%11 == 5 {
							b.Field(1).AppendNull()
						} else {
							b.Field(1).(*array.StringBuilder).Append([]string{"red", "green", "red"}[i%3])
						}
					}
				}
				batch := b.NewRecordBatch()
				chosen.Keys = func(yield func(arrow.RecordBatch, error) bool) {
					for _, b := range []arrow.RecordBatch{batch, batch} {
						if !yield(b, nil) {
							return
						}
					}
				}
				matches = func(i int64) bool { return i%k == 0 && i%3 != 2 && i%11 != 5 }
			}
			want := int64(0)
			for i := range int64(rows) {
				if matches(i) && deleted[i] != gone {
					deleted[i], want = gone, want+1
				}
			}
			change := shard.Undelete
			if gone {
				change = shard.Delete
			}
			n, err := change(t.Context(), location, shard.EditOptions{}, chosen)
			require.NoError(r, err)
			require.Equal(r, want, n)
			shown := []int64{}
			for i := range int64(rows) {
				if !deleted[i] {
					shown = append(shown, i)
				}
			}
			require.Equal(r, shown, shownIDs(t, location, filter.Expr{}))
			require.Equal(r, slices.DeleteFunc(slices.Clone(shown), func(i int64) bool { return i < 100 || i > 900 }),
				shownIDs(t, location, filter.Between(filter.Col("id"), 100, 900)))
			report, err := shard.Verify(t.Context(), location, shard.OpenOptions{}, provider.VerifyOptions{})
			require.NoError(r, err)
			require.Empty(r, report.Problems)
		}
	})
}

// Numbers of rows are those of one version: a change with IfMatch is refused after any other change, and is not planned anew.
func TestIfMatch(t *testing.T) {
	ctx := t.Context()
	location := editable(t, 100, shard.WriterOptions{})
	version := func() storage.Version {
		store, err := storage.ForLocation(location)
		require.NoError(t, err)
		r, err := store.Open(ctx, location)
		require.NoError(t, err)
		v, err := r.Version(ctx)
		require.NoError(t, errors.Join(err, r.Close()))
		return v
	}
	o := shard.EditOptions{IfMatch: version()}
	rows := shard.Rows{Ranges: []shard.RowRange{{From: 0, To: 10}}}
	n, err := shard.Delete(ctx, location, o, rows)
	require.NoError(t, err)
	require.EqualValues(t, 10, n)
	changes := map[string]func() error{
		"delete":   func() error { _, err := shard.Delete(ctx, location, o, shard.Rows{}); return err },
		"undelete": func() error { _, err := shard.Undelete(ctx, location, o, rows); return err },
		"edit":     func() error { _, err := shard.Edit(ctx, location, o, shard.DropColumns("text")); return err },
		"index": func() error {
			return shard.AddIndex(ctx, location, o, shard.IndexDefinition{Columns: []string{"text"}})
		},
		"compact": func() error {
			_, err := shard.Compact(ctx, location, shard.CompactOptions{EditOptions: o, Stripes: []int{0}})
			return err
		},
	}
	for name, change := range changes {
		require.ErrorIs(t, change(), storage.ErrChanged, name)
	}
	require.Len(t, shownIDs(t, location, filter.Expr{}), 90)
	o.IfMatch = version()
	_, err = shard.Compact(ctx, location, shard.CompactOptions{EditOptions: o, Stripes: []int{0}})
	require.NoError(t, err)
	require.Len(t, shownIDs(t, location, filter.Expr{}), 90)
}
