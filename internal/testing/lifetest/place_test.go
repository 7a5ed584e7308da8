package lifetest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// New writes the shards of a place to a folder of local files: one in the state [Initial], which keeps versions, and the one to merge it with.
func New(t testing.TB, layout shard.Layout) Place {
	p := Place{Store: storage.Local{}, Dir: t.TempDir(), TempDir: t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(p.Dir, "moved"), 0o777))
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "small", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "gist", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "gone", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "parts", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for id := range int64(numRows) {
		b.Field(0).(*array.Int64Builder).Append(id)
		if text, ok := textOf(id); ok {
			b.Field(1).(*array.StringBuilder).Append(text)
		} else {
			b.Field(1).AppendNull()
		}
		b.Field(2).(*array.Int32Builder).Append(int32(id % 7))
		b.Field(3).(*array.StringBuilder).Append(gistOf(id))
		b.Field(4).(*array.StringBuilder).Append(fmt.Sprint("gone ", id%5))
		parts := b.Field(5).(*array.ListBuilder)
		parts.Append(true)
		for range id % 4 {
			parts.ValueBuilder().(*array.Int32Builder).Append(7)
		}
	}
	write(t, p.Location(), b.NewRecordBatch(), shard.WriterOptions{StripeRows: stripeRows, Layout: layout, Indexes: []shard.IndexDefinition{
		{Type: shard.HashIndex, Columns: []string{"id"}}, {Columns: []string{"gist"}, PerStripe: true},
	}})
	write(t, p.At("b.amudai.shard"), ids(1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009), shard.WriterOptions{Layout: layout})
	require.NoError(t, shard.KeepVersions(t.Context(), p.Location(), p.edit(), 20, 0))
	_, err := shard.Delete(t.Context(), p.Location(), p.edit(), shard.Rows{Where: filter.Between(filter.Col("id"), 20, 34)})
	require.NoError(t, err)
	return p
}

func write(t testing.TB, location string, batch arrow.RecordBatch, o shard.WriterOptions) {
	w, err := shard.Create(t.Context(), location, batch.Schema(), o)
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
}

// CopyLocal copies a place to another folder of local files, with a store of its own.
func (p Place) CopyLocal(t testing.TB, store storage.Store) Place {
	to := Place{Store: store, Dir: filepath.Join(t.TempDir(), "x"), TempDir: p.TempDir}
	require.NoError(t, os.CopyFS(to.Dir, os.DirFS(p.Dir)))
	return to
}

// CopyTo copies a place of local files to a folder of another store.
func (p Place) CopyTo(t testing.TB, store storage.Store, dir string) Place {
	to := Place{Store: store, Dir: dir, TempDir: p.TempDir}
	entries, err := os.ReadDir(p.Dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(p.Dir, e.Name()))
		require.NoError(t, err)
		w, err := store.Create(t.Context(), to.At(e.Name()), storage.CreateOptions{Overwrite: true})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), b))
		require.NoError(t, w.Publish(t.Context()))
	}
	return to
}

// Show is what a shard shows, after questions that indexes answer.
func Show(ctx context.Context, store storage.Store, location string) (out Shown, err error) {
	s, err := shard.Open(ctx, location, shard.OpenOptions{Store: store})
	if err != nil {
		return out, err
	}
	defer s.Close()
	if out, err = ShowOpen(ctx, s); err != nil {
		return out, err
	}
	for column, value := range map[string]any{"gist": "g0008", "id": 33} {
		n, err := s.Count(ctx, filter.Eq(filter.Col(column), value))
		want := int64(0)
		for _, r := range out.Rows {
			if strings.Contains(" "+r+" ", fmt.Sprint(" ", value, " ")) {
				want++
			}
		}
		if err != nil || n != want {
			return out, errors.Join(err, fmt.Errorf("%s: %d rows with %v of %d", location, n, value, want))
		}
	}
	return out, nil
}

// ShowOpen is what an open shard shows.
func ShowOpen(ctx context.Context, s *shard.Shard) (out Shown, err error) {
	schema, err := s.ArrowSchema(ctx)
	if err != nil {
		return out, err
	}
	var names []string
	for _, f := range schema.Fields() {
		names = append(names, f.Name+" "+f.Type.String())
	}
	out.Columns = strings.Join(names, ", ")
	p, err := s.Properties(ctx)
	if err != nil {
		return out, err
	}
	for _, c := range p.Custom {
		if c.Name == "note" {
			out.Note = fmt.Sprint(c.Value)
		}
	}
	for b, err := range s.Scan(ctx, shard.ScanOptions{}) {
		if err != nil {
			return out, err
		}
		out.Rows = append(out.Rows, lines(b)...)
	}
	return out, nil
}

func lines(b arrow.RecordBatch) (all []string) {
	for i := range int(b.NumRows()) {
		var values []string
		for _, c := range b.Columns() {
			values = append(values, c.ValueStr(i))
		}
		all = append(all, strings.Join(values, " "))
	}
	return all
}

// Made is what the shards show that an operation has made so far, of which each has to be sound.
func (p Place) Made(t testing.TB, o Operation) (all Shown) {
	var names []string
	for info, err := range p.Store.List(t.Context(), p.At(o.Makes)) {
		require.NoError(t, err)
		if strings.HasSuffix(info.Location, ".amudai.shard") {
			names = append(names, path.Base(filepath.ToSlash(info.Location)))
		}
	}
	slices.Sort(names)
	for i, name := range names {
		location := p.At(path.Join(path.Dir(o.Makes), name))
		s, err := Show(t.Context(), p.Store, location)
		require.NoError(t, err)
		RequireSound(t, p.Store, location)
		if i == 0 {
			all = s
			continue
		}
		require.Equal(t, all.Columns, s.Columns)
		all.Rows = append(all.Rows, s.Rows...)
	}
	return all
}

// RequireSound verifies a shard.
func RequireSound(t testing.TB, store storage.Store, location string) {
	t.Helper()
	r, err := shard.Verify(t.Context(), location, shard.OpenOptions{Store: store}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, r.OK(), "%s: %v", location, r.Problems)
}

// Exists reports whether an artifact can be read.
func (p Place) Exists(t testing.TB, location string) bool {
	r, err := p.Store.Open(t.Context(), location)
	if err == nil {
		_, err = r.Size(t.Context())
		require.NoError(t, r.Close())
	}
	return err == nil
}

// Check requires that the shard of a place is sound and shows the state before an operation, or that after it, the latter if it is done; and that what the operation
// has made is sound, and complete if it is done. It returns the state.
func (p Place) Check(t testing.TB, before State, o Operation, done bool) State {
	t.Helper()
	location, after := p.Location(), before.After(o)
	if o.Moves && !p.Exists(t, location) {
		location = p.Moved()
	}
	require.True(t, !done || !o.Moves || location == p.Moved())
	s, err := Show(t.Context(), p.Store, location)
	require.NoError(t, err)
	RequireSound(t, p.Store, location)
	state := after
	if !done && s.Equal(before.Shows()) {
		state = before
	}
	require.Equal(t, state.Shows(), s)
	if o.Makes != "" {
		want, got := before.Makes(o), p.Made(t, o)
		if !done && len(got.Rows) < len(want.Rows) { // the first of several shards, or none
			want.Rows = want.Rows[:len(got.Rows)]
			got.Columns, got.Note = want.Columns, want.Note
		}
		require.True(t, want.Equal(got), "%v and %v", want, got)
	}
	return state
}
