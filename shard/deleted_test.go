package shard_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
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
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats"
	"github.com/amudai/amudai-go/table/provider"
)

const markedRows, markedStripe = 3000, 1000

// isMarked reports whether a row of marked is deleted: some rows of the first stripe, none of the second, all of the third.
func isMarked(row int64) bool { return row < markedStripe && row%7 == 3 || row >= 2*markedStripe }

// marked has rows of which some are marked as deleted by a column that is also null in places.
func marked() arrow.RecordBatch {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "gone", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "line", Type: arrow.BinaryTypes.String}, {Name: "seen", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range int64(markedRows) {
		b.Field(0).(*array.Int64Builder).Append(i)
		if gone := b.Field(1).(*array.BooleanBuilder); isMarked(i) || i%5 == 0 {
			gone.Append(isMarked(i))
		} else {
			gone.AppendNull()
		}
		word := "kept"
		if isMarked(i) {
			word = "secret"
		}
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("line %d is %s", i, word))
		b.Field(3).(*array.Int64Builder).Append(-i)
	}
	return b.NewRecordBatch()
}

// markedShard is a file with the shard of marked.
func markedShard(t *testing.T, name string, change func(*Parts)) string {
	location := filepath.Join(t.TempDir(), "marked.amudai.shard")
	b := WithDeleted(t, marked(), "gone", name, shard.WriterOptions{StripeRows: markedStripe}, change)
	require.NoError(t, os.WriteFile(location, b, 0o666))
	return location
}

func keptRows() (rows []int64) {
	for i := range int64(markedRows) {
		if !isMarked(i) {
			rows = append(rows, i)
		}
	}
	return rows
}

func idsOf(t *testing.T, batches func(func(arrow.RecordBatch, error) bool)) (ids []int64) {
	for b, err := range batches {
		require.NoError(t, err)
		ids = append(ids, b.Column(0).(*array.Int64).Int64Values()...)
	}
	return ids
}

// No question of the library or of a table shows a deleted row, nor the marker.
func TestMarkedRows(t *testing.T) {
	want := keptRows()
	for _, name := range []string{"", "gone"} {
		location := markedShard(t, name, nil)
		report, err := shard.Verify(t.Context(), location, shard.OpenOptions{}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		require.NoError(t, shard.AddIndex(t.Context(), location, shard.EditOptions{}, shard.IndexDefinition{Columns: []string{"line"}}))
		requireKept(t, location, want)

		s, err := shard.Open(t.Context(), location, shard.OpenOptions{})
		require.NoError(t, err)
		full, err := s.ArrowSchema(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, full.NumFields())
		require.EqualValues(t, markedRows, s.NumRows())
		b, err := s.Take(t.Context(), []int64{1500, 4}, shard.TakeOptions{})
		require.NoError(t, err)
		require.Equal(t, []int64{1500, 4}, b.Column(0).(*array.Int64).Int64Values())
		_, err = s.Take(t.Context(), []int64{3}, shard.TakeOptions{})
		require.ErrorContains(t, err, "row 3 is deleted")
		path := "gone"
		if name == "" {
			path = schema.InternalDeleted
		}
		for b, err := range s.Scan(t.Context(), shard.ScanOptions{Columns: []string{path}}) { // by its name, or its kind
			require.NoError(t, err)
			for i := range b.Column(0).Len() {
				require.True(t, b.Column(0).IsNull(i) || !b.Column(0).(*array.Boolean).Value(i))
			}
		}
		require.NoError(t, s.Close())
	}
}

// requireKept asks a table of one shard everything.
func requireKept(t *testing.T, location string, want []int64) {
	tb, err := table.Open(t.Context(), location)
	require.NoError(t, err)
	require.Equal(t, want, idsOf(t, tb.Scan(t.Context(), table.ScanOptions{})))
	n, err := tb.Count(t.Context(), table.ScanOptions{})
	require.NoError(t, err)
	require.EqualValues(t, len(want), n)
	for text, is := range map[string]bool{"id >= 0": true, "line like '%secret%'": false, "id = 3": false, "id = 4": true, "line = 'line 2500 is secret'": false} {
		e, err := filter.Parse(text)
		require.NoError(t, err)
		n, err := tb.Count(t.Context(), table.ScanOptions{Filter: e})
		require.NoError(t, err)
		require.Equal(t, is, n > 0, text)
	}
	require.Equal(t, want[len(want)-10:], idsOf(t, tb.Tail(t.Context(), table.TailOptions{N: 10})))
	sample := idsOf(t, tb.Sample(t.Context(), table.SampleOptions{N: 700}))
	require.Len(t, sample, 700)
	require.NotContains(t, slices.Collect(func(yield func(bool) bool) {
		for _, id := range sample {
			yield(isMarked(id))
		}
	}), true)
	require.Equal(t, []int64{1999, 0, 4}, idsOf(t, tb.Take(t.Context(), table.TakeOptions{Rows: []int64{1999, 0, 4}})))
	for _, err := range tb.Take(t.Context(), table.TakeOptions{Rows: []int64{0, 3, 4}}) {
		require.ErrorContains(t, err, "1 of the 3 rows are deleted")
	}
	var found []int64
	for f, err := range tb.Search(t.Context(), table.SearchOptions{Query: "line"}) {
		require.NoError(t, err)
		found = append(found, f.Positions...)
	}
	require.Equal(t, want, found)
	for _, err := range tb.Search(t.Context(), table.SearchOptions{Query: "secret"}) {
		require.NoError(t, err)
		t.Fatal("a deleted row is found")
	}
	sum, bytes := int64(0), int64(0)
	for _, id := range want {
		sum += id
		bytes += int64(len(fmt.Sprintf("line %d is kept", id)))
	}
	for b, err := range tb.Group(t.Context(), table.GroupOptions{Aggregates: "min(id), max(id), sum(id), count(id), count(), sum(length(line)) filter (where length(line) > 0)"}) {
		require.NoError(t, err)
		for i, v := range []int64{want[0], want[len(want)-1], sum, int64(len(want)), int64(len(want)), bytes} {
			require.Equal(t, fmt.Sprint(v), b.Column(i).ValueStr(0), b.Schema().Field(i).Name)
		}
	}
	first := idsOf(t, tb.Sort(t.Context(), table.SortOptions{By: "-id", Limit: 3}))
	require.Equal(t, []int64{want[len(want)-1], want[len(want)-2], want[len(want)-3]}, first)
	around := []int64{}
	for f, err := range tb.Search(t.Context(), table.SearchOptions{Query: "4", Before: 1, After: 1}) {
		require.NoError(t, err)
		around = append(around, f.Positions...)
	}
	for _, row := range around {
		require.False(t, isMarked(row))
	}
	twice, err := table.Open(t.Context(), location, location)
	require.NoError(t, err)
	n, err = twice.Count(t.Context(), table.ScanOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 2*len(want), n)
	require.Equal(t, []int64{4, 4}, idsOf(t, twice.Take(t.Context(), table.TakeOptions{Rows: []int64{4, markedRows + 4}})))
	found = nil
	for f, err := range twice.Search(t.Context(), table.SearchOptions{Query: `"line 4 is kept"`}) {
		require.NoError(t, err)
		found = append(found, f.Positions...)
	}
	require.Equal(t, []int64{4, markedRows + 4}, found)
	require.Equal(t, want[len(want)-2:], idsOf(t, twice.Tail(t.Context(), table.TailOptions{N: 2})))
	d, err := table.Diff(t.Context(), tb, tb, table.DiffOptions{})
	require.NoError(t, err)
	require.False(t, d.Differs())
}

// A shard whose counts, type or number of markers contradict each other is damaged, and shows no row.
func TestMarkerThatLies(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Parts)
		err    error
		text   string
	}{
		"count": {func(p *Parts) {
			p.Stripes[0].Directory.DeletedRecordCount--
			p.Directory.DeletedRecordCount--
		}, shard.ErrCorrupt, "records are marked as deleted, the directory has"},
		"no count": {func(p *Parts) {
			p.Stripes[0].Directory.DeletedRecordCount, p.Stripes[2].Directory.DeletedRecordCount, p.Directory.DeletedRecordCount = 0, 0, 0
		}, shard.ErrCorrupt, "records are marked as deleted, the directory has 0"},
		"no marker": {func(p *Parts) {
			p.Schema = []byte(strings.ReplaceAll(string(p.Schema), schema.InternalDeleted, strings.Repeat("x", len(schema.InternalDeleted))))
		}, shard.ErrUnsupported, "no column marks which"},
		"no values": {func(p *Parts) { p.Stripes[0].Fields[1] = nil }, shard.ErrCorrupt, "0 records are marked as deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			location := markedShard(t, "gone", c.change)
			report, err := shard.Verify(t.Context(), location, shard.OpenOptions{}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.False(t, report.OK())
			require.ErrorContains(t, errors.Join(append(report.Problems, report.Notes...)...), c.text)
			s, err := shard.Open(t.Context(), location, shard.OpenOptions{})
			require.NoError(t, err)
			defer s.Close()
			_, err = s.Count(t.Context(), filter.Expr{})
			require.ErrorIs(t, err, c.err)
			require.ErrorContains(t, err, c.text)
			for _, err := range s.Scan(t.Context(), shard.ScanOptions{Stripes: []int{0}}) {
				require.ErrorIs(t, err, c.err)
			}
		})
	}
}

// Any flipped bit of a shard with deleted records is found or changes nothing, and no damaged shard shows a deleted row without an error.
func TestMarkerFlippedBits(t *testing.T) {
	location := markedShard(t, "", nil)
	b, err := os.ReadFile(location)
	require.NoError(t, err)
	for at := 0; at < len(b); at += 1 + len(b)/400 {
		damaged := slices.Clone(b)
		damaged[at] ^= 1 << (at % 8)
		batches, err := Read("mem://x", shard.OpenOptions{Store: OneFile(damaged)}, shard.ScanOptions{Columns: []string{"id"}})
		if err != nil {
			continue
		}
		for _, batch := range batches {
			for _, id := range batch.Column(0).(*array.Int64).Int64Values() {
				require.False(t, isMarked(id), "bit of byte %d", at)
			}
		}
		Release(batches)
	}
}

// Internal fields are kept by changes of a shard; those with a name are shown.
func TestInternalFieldsKept(t *testing.T) {
	dir := t.TempDir()
	location := filepath.Join(dir, "x.amudai.shard")
	for _, name := range []string{"", "seen"} {
		fields := map[string]schema.Field{"seen": {Name: name, Internal: schema.InternalIngested}, "gone": {Internal: schema.InternalDeleted}}
		b := WithInternal(t, marked(), fields, shard.WriterOptions{StripeRows: markedStripe}, func(p *Parts) { CountDeleted(p, marked(), "gone") })
		require.NoError(t, os.WriteFile(location, b, 0o666))
		require.NoError(t, shard.AddIndex(t.Context(), location, shard.EditOptions{}, shard.IndexDefinition{Columns: []string{"line"}}))
		saved := filepath.Join(dir, "saved.amudai.shard")
		_, err := shard.Recover(t.Context(), location, saved, shard.RecoverOptions{Overwrite: true})
		require.NoError(t, err)
		for _, at := range []string{location, saved} {
			report, err := shard.Verify(t.Context(), at, shard.OpenOptions{}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.True(t, report.OK(), report.Problems)
			tb, err := table.OpenWith(t.Context(), table.OpenOptions{}, at)
			require.NoError(t, err)
			s, err := tb.Schema(t.Context())
			require.NoError(t, err)
			require.Equal(t, name != "", s.HasField("seen"))
			require.NotContains(t, s.String(), "gone")
			path := name
			if name == "" {
				path = schema.InternalIngested
			}
			for b, err := range tb.Scan(t.Context(), table.ScanOptions{Columns: []string{path}, Rows: []table.RowRange{{From: 1000, To: 1001}}}) {
				require.NoError(t, err)
				require.Equal(t, path, b.Schema().Field(0).Name)
				require.EqualValues(t, -1000, b.Column(0).(*array.Int64).Value(0))
			}
		}
	}
}

// Whatever rows are deleted, and whatever a table is asked, it answers as a table of the other rows does.
func TestRandomMarkers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows, stripe := rapid.Int64Range(1, 900).Draw(rt, "rows"), rapid.Int64Range(1, 400).Draw(rt, "stripe")
		share, run := rapid.Float64Range(0, 1).Draw(rt, "share"), rapid.Int64Range(1, 300).Draw(rt, "run")
		seed := rapid.Uint64().Draw(rt, "seed")
		gone := func(i int64) bool { return float64((uint64(i/run)+1)*(seed|1)%1000) < 1000*share }
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
			{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "gone", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "kind", Type: arrow.BinaryTypes.String},
		}, nil))
		var want []int64
		kinds := map[string]bool{}
		for i := range rows {
			b.Field(0).(*array.Int64Builder).Append(i)
			kind := fmt.Sprint("kind ", i/50%7)
			b.Field(2).(*array.StringBuilder).Append(kind)
			if gone(i) || i%3 == 0 {
				b.Field(1).(*array.BooleanBuilder).Append(gone(i))
			} else {
				b.Field(1).AppendNull()
			}
			if !gone(i) {
				want, kinds[kind] = append(want, i), true
			}
		}
		batch := b.NewRecordBatch()
		location := filepath.Join(t.TempDir(), "x.amudai.shard")
		require.NoError(rt, os.WriteFile(location, WithDeleted(t, batch, "gone", "", shard.WriterOptions{StripeRows: stripe}, nil), 0o666))
		report, err := shard.Verify(t.Context(), location, shard.OpenOptions{}, provider.VerifyOptions{})
		require.NoError(rt, err)
		require.Empty(rt, report.Problems)
		tb, err := table.Open(t.Context(), location)
		require.NoError(rt, err)
		require.Equal(rt, want, idsOf(t, tb.Scan(t.Context(), table.ScanOptions{})))
		n := rapid.Int64Range(0, rows).Draw(rt, "n")
		last := want[max(0, int64(len(want))-n):]
		require.ElementsMatch(rt, last, idsOf(t, tb.Tail(t.Context(), table.TailOptions{N: n})))
		e, err := filter.Parse(fmt.Sprintf("id >= %d and kind != 'kind 2'", n))
		require.NoError(rt, err)
		var matches []int64
		for _, id := range want {
			if id >= n && id/50%7 != 2 {
				matches = append(matches, id)
			}
		}
		require.Equal(rt, matches, idsOf(t, tb.Scan(t.Context(), table.ScanOptions{Filter: e})))
		var ranged []int64
		for _, id := range want {
			if id >= n/2 && id < n {
				ranged = append(ranged, id)
			}
		}
		require.Equal(rt, ranged, idsOf(t, tb.Scan(t.Context(), table.ScanOptions{Rows: []table.RowRange{{From: n / 2, To: n}}})))
		found := map[string]bool{}
		for b, err := range tb.Group(t.Context(), table.GroupOptions{By: "kind"}) {
			require.NoError(rt, err)
			for i := range int(b.NumRows()) {
				found[b.Column(0).ValueStr(i)] = true
			}
		}
		require.Equal(rt, kinds, found)
		whole := filepath.Join(t.TempDir(), "whole.amudai.shard")
		w, err := shard.Create(t.Context(), whole, b.Schema(), shard.WriterOptions{})
		require.NoError(rt, err)
		require.NoError(rt, w.Write(t.Context(), batch))
		require.NoError(rt, w.Close(t.Context()))
		before, err := table.Open(t.Context(), whole)
		require.NoError(rt, err)
		so := table.ScanOptions{Columns: []string{"id", "kind"}}
		d, err := table.Diff(t.Context(), before, tb, table.DiffOptions{Numbers: true, Old: so, New: so})
		require.NoError(rt, err)
		for r, err := range d.Rows(t.Context()) {
			require.NoError(rt, err)
			require.Equal(rt, table.RowRemoved, r.Kind)
			require.True(rt, gone(r.Position))
		}
		require.Equal(rt, table.DiffSummary{Removed: rows - int64(len(want)), Equal: int64(len(want))}, d.Summary())
		require.NoError(rt, d.Close())
		if len(want) > 0 {
			require.Equal(rt, want[len(want)/2:], idsOf(t, tb.Take(t.Context(), table.TakeOptions{Rows: want[len(want)/2:]})))
		}
	})
}

// Entries of dictionaries that only deleted rows have are those of no array: they would be categories of data frames.
func TestDeletedEntriesOfDictionaries(t *testing.T) {
	ctx := t.Context()
	texts := arrow.BinaryTypes.String
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: texts, Nullable: true},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: texts}, Nullable: true},
		{Name: "l", Type: arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: texts}), Nullable: true},
		{Name: "q", Type: arrow.StructOf(arrow.Field{Name: "s", Type: texts, Nullable: true}), Nullable: true},
	}, nil)
	var rows strings.Builder
	for i := range 3000 {
		word := fmt.Sprintf(`"word %d"`, i%10)
		if i%17 == 3 {
			word = "null"
		}
		fmt.Fprintf(&rows, `{"id": %d, "s": %s, "d": %s, "l": [%s, "word 1"], "q": {"s": %s}}`+"\n", i, word, word, word, word)
	}
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(rows.String()), array.WithMultipleDocs())
	require.NoError(t, err)
	defer batch.Release()
	location := filepath.Join(t.TempDir(), "t.amudai.shard")
	w, err := shard.Create(ctx, location, s, shard.WriterOptions{StripeRows: 1000})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, batch))
	require.NoError(t, w.Close(ctx))
	gone, err := filter.Parse("s = 'word 7' or id % 10 = 7 or id >= 2000 and id < 2100")
	require.NoError(t, err)
	_, err = shard.Delete(ctx, location, shard.EditOptions{}, shard.Rows{Where: gone})
	require.NoError(t, err)

	sh, err := shard.Open(ctx, location, shard.OpenOptions{})
	require.NoError(t, err)
	defer sh.Close()
	check := func(b arrow.RecordBatch) {
		want := map[string]bool{}
		for i := range b.NumRows() {
			if id := b.Column(0).(*array.Int64).Value(int(i)); id%17 != 3 {
				want[fmt.Sprintf("word %d", id%10)] = true
			}
		}
		require.False(t, want["word 7"])
		for _, c := range b.Columns()[1:] {
			if l, ok := c.(*array.List); ok {
				c = l.ListValues()
			} else if q, ok := c.(*array.Struct); ok {
				c = q.Field(0)
			}
			entries := c.(*array.Dictionary).Dictionary().(*array.String)
			for i := range entries.Len() {
				require.True(t, want[entries.Value(i)] || entries.Value(i) == "word 1", "%s of %s", entries.Value(i), c.DataType())
			}
		}
	}
	n := int64(0)
	for b, err := range sh.Scan(ctx, shard.ScanOptions{Strings: shard.StringsDictionary}) {
		require.NoError(t, err)
		check(b.RecordBatch)
		n += b.NumRows()
	}
	require.EqualValues(t, 3000-300-90, n)
	b, err := sh.Take(ctx, []int64{0, 2500, 1, 2}, shard.TakeOptions{Strings: shard.StringsDictionary})
	require.NoError(t, err)
	check(b)
	b.Release()
}

// The last rows and some random ones are read where they are, although rows are deleted: without the files of the other stripes.
func TestFewOfDeletedRows(t *testing.T) {
	ctx := t.Context()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil))
	const rows, stripe = 3000, 300
	for i := range int64(rows) {
		b.Field(0).(*array.Int64Builder).Append(i)
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("text ", i*i))
	}
	batch := b.NewRecordBatch()
	dir := t.TempDir()
	location := filepath.Join(dir, "x.amudai.shard")
	w, err := shard.Create(ctx, location, batch.Schema(), shard.WriterOptions{StripeRows: stripe, Layout: shard.TwoLevel})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, batch))
	require.NoError(t, w.Close(ctx))
	gone, err := filter.Parse("id % 7 = 3 or id >= 2990 or id >= 600 and id < 900")
	require.NoError(t, err)
	_, err = shard.Delete(ctx, location, shard.EditOptions{}, shard.Rows{Where: gone})
	require.NoError(t, err)
	tb, err := table.Open(ctx, location)
	require.NoError(t, err)
	last := table.TailOptions{N: 5}
	want, samples := idsOf(t, tb.Tail(ctx, last)), map[uint64][]int64{}
	require.Equal(t, []int64{2984, 2986, 2987, 2988, 2989}, want)
	for seed := range uint64(40) {
		samples[seed] = idsOf(t, tb.Sample(ctx, table.SampleOptions{N: 1, Seed: seed}))
	}
	all, err := tb.Inspect(ctx, table.InspectOptions{Detail: 1})
	require.NoError(t, err)
	for _, l := range all[0].Lists {
		files := slices.Index(l.Columns, "files")
		for _, row := range l.Rows {
			if l.Name == "columns" && row[0].(int) < rows/stripe-1 && (row[1] == "id" || row[1] == "text") {
				for _, f := range row[files].([]table.Fact) {
					_ = os.Remove(filepath.Join(dir, f.Name)) // both columns have the same
				}
			}
		}
	}
	tb, err = table.Open(ctx, location)
	require.NoError(t, err)
	_, err = tb.Count(ctx, table.ScanOptions{Filter: filter.Eq(filter.Col("id"), 3)})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, want, idsOf(t, tb.Tail(ctx, last)))
	require.Equal(t, want, idsOf(t, tb.Scan(ctx, table.ScanOptions{Rows: []table.RowRange{{From: -5, To: rows}}})))
	n := 0
	for seed, ids := range samples {
		if ids[0] >= rows-stripe {
			require.Equal(t, ids, idsOf(t, tb.Sample(ctx, table.SampleOptions{N: 1, Seed: seed})))
			n++
		}
	}
	require.Positive(t, n)
}

// Tables of all types answer all questions of package table as tables do that never had the deleted rows.
func TestDeletedRowsOfAllTypes(t *testing.T) {
	types := arrowgen.Types()
	rapid.Check(t, func(rt *rapid.T) {
		g := arrowgen.New(rapid.Uint64().Draw(rt, "seed"))
		fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}
		for i := range rapid.IntRange(1, 3).Draw(rt, "columns") {
			fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: rapid.SampledFrom(types).Draw(rt, "type"), Nullable: true})
		}
		rows, step := rapid.IntRange(1, 200).Draw(rt, "rows"), rapid.IntRange(1, 5).Draw(rt, "step")
		from, to := rapid.IntRange(0, 199).Draw(rt, "from"), rapid.IntRange(0, 199).Draw(rt, "to")
		batch := g.Batch(arrow.NewSchema(fields, nil), rows)
		defer batch.Release()
		var ranges []shard.RowRange
		var kept []int64
		for i := range rows {
			if i%step == 1 || i >= from && i < to {
				ranges = append(ranges, shard.RowRange{From: int64(i), To: int64(i) + 1})
			} else {
				kept = append(kept, int64(i))
			}
		}
		rest, err := arrowutil.TakeRows(memory.DefaultAllocator, batch, kept)
		require.NoError(rt, err)
		defer rest.Release()
		o := shard.WriterOptions{StripeRows: rapid.SampledFrom([]int64{20, 90, 1000}).Draw(rt, "stripe"), NullsApart: rapid.Bool().Draw(rt, "nulls apart"), OffsetsApart: rapid.Bool().Draw(rt, "offsets apart")}
		dir := t.TempDir()
		var both [2]*table.Table
		for k, b := range []arrow.RecordBatch{batch, rest} {
			location := filepath.Join(dir, fmt.Sprintf("%d.amudai.shard", k))
			w, err := shard.Create(t.Context(), location, b.Schema(), o)
			require.NoError(rt, err)
			require.NoError(rt, w.Write(t.Context(), b))
			require.NoError(rt, w.Close(t.Context()))
			if k == 0 && len(ranges) > 0 {
				_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: ranges})
				require.NoError(rt, err)
			}
			both[k], err = table.Open(t.Context(), location)
			require.NoError(rt, err)
			defer both[k].Close()
		}
		var schemas [2]*arrow.Schema
		for k := range both {
			schemas[k], err = both[k].Schema(t.Context())
			require.NoError(rt, err)
		}
		require.Equal(rt, schemas[1].String(), schemas[0].String())
		questions := questionsOf(fields)
		for _, name := range slices.Sorted(maps.Keys(questions)) {
			if rapid.IntRange(0, 4).Draw(rt, name) > 0 {
				continue
			}
			ask := questions[name]
			got, want := answer(t, both[0], ask), answer(t, both[1], ask)
			require.Equal(rt, want, got, "%s: %v", name, fields)
		}
		for i, row := range kept {
			if i%7 == 0 {
				take := func(row int64) func(tb *table.Table) answered {
					return func(tb *table.Table) answered { return tb.Take(t.Context(), table.TakeOptions{Rows: []int64{row}}) }
				}
				require.Equal(rt, answer(t, both[1], take(int64(i))), answer(t, both[0], take(row)))
			}
		}
	})
}

type answered = iter.Seq2[arrow.RecordBatch, error]

// questionsOf are questions to a table about columns of any types; some of them are errors for some types.
func questionsOf(fields []arrow.Field) map[string]func(tb *table.Table) answered {
	ctx := context.Background()
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	q := map[string]func(tb *table.Table) answered{
		"scan": func(tb *table.Table) answered { return tb.Scan(ctx, table.ScanOptions{}) },
		"scan otherwise": func(tb *table.Table) answered {
			return tb.Scan(ctx, table.ScanOptions{Dictionaries: true, Decimals64: names[1:], Lengths: names[1:], Reuse: true, BatchRows: 7})
		},
		"last": func(tb *table.Table) answered { return tb.Tail(ctx, table.TailOptions{N: 13}) },
		"end": func(tb *table.Table) answered {
			return tb.Scan(ctx, table.ScanOptions{Rows: []table.RowRange{{From: -40, To: -3}}})
		},
		"sample": func(tb *table.Table) answered { return tb.Sample(ctx, table.SampleOptions{N: 17, Seed: 5}) },
	}
	for _, name := range names {
		for _, where := range []string{" is null", " is not null", " = " + name} {
			e, err := filter.Parse(name + where)
			q[name+where] = func(tb *table.Table) answered {
				if err != nil {
					return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, err) }
				}
				return tb.Scan(ctx, table.ScanOptions{Columns: []string{"id"}, Filter: e})
			}
		}
		for _, call := range []string{"count(%s)", "min(%s)", "max(%s)", "count(distinct %s)", "approx_distinct(%s)", "first(%s), last(%s), any_value(%s), list(%s)", "sum(%s)", "avg(%s)", "median(%s)", "sum(length(%s))", "max(len(%s))"} {
			call = strings.ReplaceAll(call, "%s", name)
			q[call] = func(tb *table.Table) answered { return tb.Group(ctx, table.GroupOptions{Aggregates: call}) }
		}
		q["by "+name] = func(tb *table.Table) answered {
			return tb.Group(ctx, table.GroupOptions{By: name, Aggregates: "count(), min(id), max(id)"})
		}
		q["sort "+name] = func(tb *table.Table) answered { return tb.Sort(ctx, table.SortOptions{By: name}) }
		q["least "+name] = func(tb *table.Table) answered { return tb.Sort(ctx, table.SortOptions{By: name, Limit: 3}) }
		q["most "+name] = func(tb *table.Table) answered {
			return tb.Sort(ctx, table.SortOptions{By: "-" + name, Limit: 3, Columns: []string{"id"}})
		}
		q["distinct "+name] = func(tb *table.Table) answered {
			return tb.Distinct(ctx, table.DistinctOptions{Columns: []string{name}})
		}
		q["top "+name] = func(tb *table.Table) answered { return tb.Top(ctx, table.TopOptions{By: name, Limit: 4}) }
	}
	return q
}

// answer are the rows of an answer as text, and whether it ends with an error.
func answer(t *testing.T, tb *table.Table, ask func(tb *table.Table) answered) (rows []string) {
	for b, err := range ask(tb) {
		if err != nil {
			return append(rows, "error")
		}
		for i := range int(b.NumRows()) {
			line := ""
			for k, c := range b.Columns() {
				line += b.ColumnName(k) + "=" + string(values.JSON(c)(nil, i)) + " "
			}
			rows = append(rows, strings.ReplaceAll(line, "=-0.0 ", "=0.0 ")) // which of the equal values is the least is not told
		}
	}
	return rows
}
