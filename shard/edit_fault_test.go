package shard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/storage"
)

// columnEdits are ways to change the columns of a shard of writeLines.
var columnEdits = map[string][]Change{
	"drop":       {DropColumns("tags")},
	"rename":     {RenameColumn("user.name", "login"), RenameColumn("tags", "labels")},
	"add":        {AddColumn("length", "length(line)"), AddColumn("user.size", "length(user.name)")},
	"cast":       {CastColumn("line", arrow.BinaryTypes.Binary), OrderColumns("tags")},
	"properties": {SetProperty("a", 1), SetColumnProperty("user.name", "comment", "who")},
}

// stateOf is all that a shard shows.
func stateOf(t testing.TB, location string) string {
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	p, err := s.Properties(t.Context())
	require.NoError(t, err)
	_, comment, err := s.FieldProperties(t.Context(), firstField(t, s))
	require.NoError(t, err)
	out := fmt.Sprint(p.Custom, comment)
	for b, err := range s.Scan(t.Context(), ScanOptions{}) {
		require.NoError(t, err)
		out += fmt.Sprint(b.Schema(), b.RecordBatch)
	}
	return out
}

// firstField is the path of the first field of the first struct.
func firstField(t testing.TB, s *Shard) string {
	as, err := s.ArrowSchema(t.Context())
	require.NoError(t, err)
	for _, f := range as.Fields() {
		if st, ok := f.Type.(*arrow.StructType); ok {
			return f.Name + "." + st.Field(0).Name
		}
	}
	return as.Field(0).Name
}

// Whatever step of an edit fails, or all from one on, as on a full disk, the shard is the old one or the new one, and no temporary file is left.
func TestColumnEditFaults(t *testing.T) {
	t.Parallel() // it waits for disks
	dir := t.TempDir()
	n := 0
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		before := t.TempDir()
		writeLines(t, filepath.Join(before, "x.shard"), 300, WriterOptions{Layout: layout, StripeRows: 200, Indexes: lineIndexes[:1]})
		old := stateOf(t, filepath.Join(before, "x.shard"))
		for name, changes := range columnEdits {
			after := filepath.Join(t.TempDir(), "after")
			require.NoError(t, os.CopyFS(after, os.DirFS(before)))
			_, err := Edit(t.Context(), filepath.Join(after, "x.shard"), EditOptions{}, changes...)
			require.NoError(t, err)
			changed := stateOf(t, filepath.Join(after, "x.shard"))
			require.NotEqual(t, old, changed, name)
			require.NoError(t, faultstore.EachStep(31, func(faults *faultstore.Faults, op faultstore.Op, k int) error {
				n++
				location := filepath.Join(dir, fmt.Sprint(n), "x.shard")
				require.NoError(t, os.CopyFS(filepath.Dir(location), os.DirFS(before)))
				_, err := Edit(t.Context(), location, EditOptions{Open: OpenOptions{Store: faults.Local()}, TempDir: dir}, changes...)
				if state := stateOf(t, location); err == nil || state != old {
					require.Equal(t, changed, state, "%s %v %d: %v", name, op, k, err)
				}
				requireSound(t, location)
				if op != faultstore.Remove {
					require.Empty(t, hidden(t, filepath.Dir(location)), "%s %v %d", name, op, k)
				}
				return err
			}))
		}
	}
}

// Of two that edit a shard at the same time, one makes its change of what the other one left, unless that took its column. An edit that is cancelled leaves the shard as it was.
func TestEditConcurrently(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 300, WriterOptions{})
	meet := func(change Change) EditOptions {
		var once sync.Once
		return EditOptions{Progress: func(int64, int64) {
			once.Do(func() {
				_, err := Edit(t.Context(), location, EditOptions{}, change)
				require.NoError(t, err)
			})
		}}
	}
	_, err := Edit(t.Context(), location, meet(RenameColumn("tags", "labels")), AddColumn("n", "length(line)"))
	require.NoError(t, err)
	state := stateOf(t, location)
	require.Contains(t, state, "labels")
	require.Contains(t, state, "n")
	_, err = Edit(t.Context(), location, meet(DropColumns("n")), AddColumn("m", "n + 1"))
	require.ErrorIs(t, err, storage.ErrChanged)
	require.ErrorContains(t, err, `"n"`)
	state = stateOf(t, location)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Edit(ctx, location, EditOptions{Progress: func(int64, int64) { cancel() }}, AddColumn("n", "length(line)"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, state, stateOf(t, location))
	requireSound(t, location)
}
