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
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// rival is a change that meets another one. uses are columns that it names, takes those that are gone or of another type after it. once is one that cannot be planned
// again.
type rival struct {
	name        string
	uses, takes string
	once        bool
	numbers     bool // it names rows by number
	moves       bool // of rows, or of columns that stay
	edits       bool // by a plan that depends on the types of columns; others ask by their names
	do          func(ctx context.Context, location string, o shard.EditOptions) error
}

func editing(changes ...shard.Change) func(context.Context, string, shard.EditOptions) error {
	return func(ctx context.Context, location string, o shard.EditOptions) error {
		_, err := shard.Edit(ctx, location, o, changes...)
		return err
	}
}

func deleting(rows shard.Rows) func(context.Context, string, shard.EditOptions) error {
	return func(ctx context.Context, location string, o shard.EditOptions) error {
		_, err := shard.Delete(ctx, location, o, rows)
		return err
	}
}

func compacting(c shard.CompactOptions) func(context.Context, string, shard.EditOptions) error {
	return func(ctx context.Context, location string, o shard.EditOptions) error {
		c := c
		c.EditOptions = o
		_, err := shard.Compact(ctx, location, c)
		return err
	}
}

func rivals() []rival {
	green := shard.Rows{Where: filter.Eq(filter.Col("text"), "green")}
	return []rival{
		{name: "delete", uses: "text", do: deleting(green)},
		{name: "delete by number", numbers: true, do: deleting(shard.Rows{Ranges: []shard.RowRange{{From: 13, To: 17}}})},
		{name: "undelete", uses: "id", do: func(ctx context.Context, location string, o shard.EditOptions) error {
			_, err := shard.Undelete(ctx, location, o, shard.Rows{Where: filter.Lt(filter.Col("id"), 5)})
			return err
		}},
		{name: "add", uses: "id", edits: true, do: editing(shard.AddColumn("twice", "id * 2"))},
		{name: "add another", uses: "text", edits: true, do: editing(shard.AddColumn("long", "length(text) > 3"))},
		{name: "add the same", uses: "id", edits: true, do: editing(shard.AddColumn("twice", "id + id"))},
		{name: "drop", uses: "text", takes: "text", edits: true, do: editing(shard.DropColumns("text"))},
		{name: "drop parts", uses: "parts", takes: "parts", edits: true, do: editing(shard.DropColumns("parts"))},
		{name: "rename", uses: "parts", takes: "parts", edits: true, do: editing(shard.RenameColumn("parts", "pieces"))},
		{name: "order", uses: "text", edits: true, do: editing(shard.OrderColumns("text"))},
		{name: "cast", moves: true, uses: "id", takes: "id", edits: true, do: editing(shard.CastColumn("id", arrow.PrimitiveTypes.Int32))},
		{name: "property", edits: true, do: editing(shard.SetProperty("owner", "me"), shard.SetProperty("x", int64(1)))},
		{name: "comment", moves: true, uses: "text", edits: true, do: editing(shard.SetColumnProperty("text", "comment", "a color"))},
		{name: "add from a table", once: true, do: func(ctx context.Context, location string, o shard.EditOptions) error {
			s, err := shard.Open(ctx, location, shard.OpenOptions{})
			if err != nil {
				return err
			}
			defer s.Close()
			fields := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil)
			batch := array.NewRecordBatch(fields, []arrow.Array{numbers(arrow.PrimitiveTypes.Int32, int(s.NumRows()), 1)}, s.NumRows())
			_, err = shard.Edit(ctx, location, o, shard.AddColumns(&rowsSource{fields, []arrow.RecordBatch{batch}}))
			return err
		}},
		{name: "index", uses: "text", do: func(ctx context.Context, location string, o shard.EditOptions) error {
			return shard.AddIndex(ctx, location, o, shard.IndexDefinition{Columns: []string{"text"}}, shard.IndexDefinition{Type: shard.HashIndex, Columns: []string{"id"}, PerStripe: true})
		}},
		{name: "drop index", do: func(ctx context.Context, location string, o shard.EditOptions) error {
			_, err := shard.DropIndex(ctx, location, o, func(i shard.Index) bool { return i.Columns[0] == "id" })
			return err
		}},
		{name: "compact", moves: true, do: compacting(shard.CompactOptions{StripeRows: 40})},
		{name: "sort", moves: true, uses: "text", do: compacting(shard.CompactOptions{Sort: "text"})},
		{name: "compact a stripe", moves: true, do: compacting(shard.CompactOptions{Stripes: []int{1}})},
		{name: "keep", do: func(ctx context.Context, location string, o shard.EditOptions) error {
			return shard.KeepVersions(ctx, location, o, 3, 0)
		}},
	}
}

// contents are all that a shard has, as text.
func contents(t *testing.T, location string) string {
	t.Helper()
	requireIntact(t, location)
	s, err := shard.Open(t.Context(), location, shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	as, err := s.ArrowSchema(t.Context())
	require.NoError(t, err)
	properties, err := s.Properties(t.Context())
	require.NoError(t, err)
	all := fmt.Sprint(as, s.NumRows(), s.NumStripes(), properties.Custom)
	for _, f := range as.Fields() {
		_, of, err := s.FieldProperties(t.Context(), f.Name)
		require.NoError(t, err)
		all += fmt.Sprint(f.Name, of)
	}
	indexes, err := s.CheckIndexes(t.Context())
	require.NoError(t, err)
	for _, x := range indexes {
		require.NoError(t, x.Err)
		all += fmt.Sprint(x.Type, x.Columns, x.Stripe)
	}
	for b, err := range s.Scan(t.Context(), shard.ScanOptions{}) {
		require.NoError(t, err)
		text, err := array.RecordToStructArray(b.RecordBatch).MarshalJSON()
		require.NoError(t, err)
		all += string(text)
	}
	return strings.ReplaceAll(all, "][", ",")
}

// Of two writers the one that publishes last has its change made anew, so that the shard is as if they had come one after the other; or it gets the error that another one was
// faster, and the shard has the change of that one.
func TestChangesInTurn(t *testing.T) {
	t.Parallel() // it waits for disks
	before := filepath.Dir(editable(t, 100, shard.WriterOptions{StripeRows: 30, Indexes: []shard.IndexDefinition{{Type: shard.HashIndex, Columns: []string{"id"}}}}))
	_, err := shard.Delete(t.Context(), filepath.Join(before, "editable.amudai.shard"), shard.EditOptions{}, shard.Rows{Where: filter.Lt(filter.Col("id"), 10)})
	require.NoError(t, err)
	copied := func() string {
		dir := filepath.Join(t.TempDir(), "x")
		require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
		return filepath.Join(dir, "editable.amudai.shard")
	}
	anew, step := 0, sweep.Step(7)
	for i, a := range rivals() {
		for k, b := range rivals() {
			if (len(rivals())*i+k)%step != 0 {
				continue
			}
			inTurn := copied()
			require.NoError(t, b.do(t.Context(), inTurn, shard.EditOptions{}))
			faster := contents(t, inTurn)
			possible := a.do(t.Context(), inTurn, shard.EditOptions{})

			location, met := copied(), false
			faults := faultstore.New()
			faults.Before(func(op faultstore.Op, _ int) {
				if op == faultstore.Sync && !met {
					met = true
					require.NoError(t, b.do(t.Context(), location, shard.EditOptions{}))
				}
			})
			err := a.do(t.Context(), location, shard.EditOptions{Open: shard.OpenOptions{Store: faults.Local()}})
			require.True(t, met, a.name)
			lost := a.once || a.numbers && b.moves || possible != nil || a.edits && a.uses != "" && a.uses == b.takes
			if a.name == "compact a stripe" && strings.Contains("compact sort", b.name) {
				lost = true // the stripe is another one now
			}
			if lost {
				require.ErrorIs(t, err, storage.ErrChanged, "%s after %s", a.name, b.name)
				require.Equal(t, faster, contents(t, location), "%s after %s", a.name, b.name)
				continue
			}
			anew++
			require.NoError(t, err, "%s after %s", a.name, b.name)
			require.Equal(t, contents(t, inTurn), contents(t, location), "%s after %s", a.name, b.name)
		}
	}
	require.Greater(t, anew*step, 200)
}

// Of three that add an index at once, one does, and the others find an equal one.
func TestEqualIndexesAtOnce(t *testing.T) {
	location := editable(t, 600, shard.WriterOptions{StripeRows: 250})
	for _, d := range []shard.IndexDefinition{{Columns: []string{"text"}}, {Columns: []string{"id"}, Type: shard.HashIndex, PerStripe: true}} {
		failed := make(chan error)
		for range 3 {
			go func() { failed <- shard.AddIndex(t.Context(), location, shard.EditOptions{}, d) }()
		}
		for range 3 {
			require.NoError(t, <-failed)
		}
	}
	other := shard.IndexDefinition{Columns: []string{"text"}, Properties: []shard.Property{{Name: "coarse", Value: int64(16)}}}
	require.NoError(t, shard.AddIndex(t.Context(), location, shard.EditOptions{}, other))
	s, err := shard.Open(t.Context(), location, shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	all, err := s.CheckIndexes(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1+3+1) // of the text, of each stripe, and one of other properties
	requireIntact(t, location)
}

// Of ten writers at once, each has its change in the shard, or gets the error that others were faster, and has not.
func TestTenWriters(t *testing.T) {
	location := editable(t, 600, shard.WriterOptions{StripeRows: 250})
	failed := make([]chan error, 10)
	for i := range failed {
		failed[i] = make(chan error, 1)
		do := editing(shard.AddColumn(fmt.Sprintf("c%d", i), fmt.Sprintf("id * %d", i)))
		switch i % 3 {
		case 1:
			do = deleting(shard.Rows{Where: filter.And(filter.Ge(filter.Col("id"), 50*i), filter.Lt(filter.Col("id"), 50*i+50))})
		case 2:
			do = editing(shard.SetProperty(fmt.Sprintf("p%d", i), int64(i)))
		}
		go func() { failed[i] <- do(t.Context(), location, shard.EditOptions{}) }()
	}
	ids, columns, properties := []int64{}, []string{"id", "text", "parts"}, []string{}
	gone := map[int64]bool{}
	for i, f := range failed {
		err := <-f
		if err != nil {
			require.ErrorIs(t, err, storage.ErrChanged)
			continue
		}
		switch i % 3 {
		case 0:
			columns = append(columns, fmt.Sprintf("c%d", i))
		case 1:
			gone[int64(i)] = true
		default:
			properties = append(properties, fmt.Sprintf("p%d", i))
		}
	}
	for id := range int64(600) {
		if !gone[id/50] {
			ids = append(ids, id)
		}
	}
	require.Equal(t, ids, shownIDs(t, location, filter.Expr{}))
	s, err := shard.Open(t.Context(), location, shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	as, err := s.ArrowSchema(t.Context())
	require.NoError(t, err)
	var got []string
	for _, f := range as.Fields() {
		got = append(got, f.Name)
	}
	require.ElementsMatch(t, columns, got)
	all, err := s.Properties(t.Context())
	require.NoError(t, err)
	got = nil
	for _, p := range all.Custom {
		got = append(got, p.Name)
	}
	slices.Sort(got)
	require.ElementsMatch(t, properties, got)
	requireIntact(t, location)
}
