package shard_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
)

// livingRow is a row of a model of a shard of editable rows.
type livingRow struct {
	id      int64
	deleted bool
}

// living is a model of a shard.
type living struct {
	rows   []livingRow
	text   string // name of the text column; "" if it is dropped
	double bool   // whether there is a column of twice the id
}

func (m living) clone() living {
	m.rows = slices.Clone(m.rows)
	return m
}

// colourOf is the text of a row; false if it is null.
func colourOf(id int64) (string, bool) { return []string{"red", "green", "blue"}[id%3], id%11 != 5 }

// life makes random changes of a shard, and the same of a model.
type life struct {
	t        *testing.T
	r        *rapid.T
	dir      string
	location string
	living
	keeps    bool
	versions map[int64]living
	names    int
}

func (l *life) newName() string {
	l.names++
	return filepath.Join(l.dir, fmt.Sprintf("%d.amudai.shard", l.names))
}

// begin writes a shard of some rows.
func (l *life) begin(rows int) string {
	o := shard.WriterOptions{StripeRows: rapid.SampledFrom([]int64{40, 70, 1000}).Draw(l.r, "stripe"), Layout: shard.Layout(rapid.IntRange(0, 1).Draw(l.r, "layout"))}
	from, to := editable(l.t, rows, o), l.newName()
	entries, err := os.ReadDir(filepath.Dir(from))
	require.NoError(l.r, err)
	for _, e := range entries {
		name := filepath.Join(l.dir, e.Name())
		if e.Name() == filepath.Base(from) {
			name = to
		}
		require.NoError(l.r, os.Rename(filepath.Join(filepath.Dir(from), e.Name()), name))
	}
	return to
}

// change makes a change, and reports whether it is one.
func (l *life) change() bool {
	ctx, o := l.t.Context(), shard.EditOptions{}
	k := rapid.Int64Range(2, 7).Draw(l.r, "k")
	switch rapid.SampledFrom([]string{"delete", "undelete", "compact", "merge", "rename", "drop", "add", "index", "relocate", "parts", "gc", "keep", "restore"}).Draw(l.r, "change") {
	case "delete":
		n, err := shard.Delete(ctx, l.location, o, shard.Rows{Where: filter.Between(filter.Col("id"), 10*k, 13*k)})
		require.NoError(l.r, err)
		return l.mark(10*k, 13*k, true, n)
	case "undelete":
		n, err := shard.Undelete(ctx, l.location, o, shard.Rows{Where: filter.Between(filter.Col("id"), 9*k, 12*k)})
		require.NoError(l.r, err)
		return l.mark(9*k, 12*k, false, n)
	case "compact":
		_, err := shard.Compact(ctx, l.location, shard.CompactOptions{EditOptions: o, Sort: "-id", StripeRows: 50})
		require.NoError(l.r, err)
		l.rows = slices.DeleteFunc(l.rows, func(r livingRow) bool { return r.deleted })
		slices.SortStableFunc(l.rows, func(a, b livingRow) int { return cmp.Compare(b.id, a.id) })
		l.versions = map[int64]living{} // an index may be built by a version of its own
	case "merge":
		if l.text != "text" { // which another shard has, and of another type
			return false
		}
		other, to := l.begin(30), l.newName()
		_, err := shard.Merge(ctx, to, []string{l.location, other}, shard.MergeOptions{})
		require.NoError(l.r, err)
		for id := range int64(30) {
			l.rows = append(l.rows, livingRow{id: id})
		}
		l.location, l.keeps, l.versions = to, false, nil
		return false // of the shard
	case "rename":
		if l.text == "" {
			return false
		}
		name := map[string]string{"text": "colour", "colour": "text"}[l.text]
		_, err := shard.Edit(ctx, l.location, o, shard.RenameColumn(l.text, name))
		require.NoError(l.r, err)
		l.text = name
	case "drop":
		if l.text == "" || k > 3 {
			return false
		}
		_, err := shard.Edit(ctx, l.location, o, shard.DropColumns(l.text))
		require.NoError(l.r, err)
		l.text = ""
	case "add":
		if l.double {
			return false
		}
		_, err := shard.Edit(ctx, l.location, o, shard.AddColumn("double", "id * 2"))
		require.NoError(l.r, err)
		l.double = true
	case "index":
		d := shard.IndexDefinition{Type: shard.HashIndex, Columns: []string{"id"}, PerStripe: k%2 == 0}
		require.NoError(l.r, shard.AddIndex(ctx, l.location, o, d))
	case "relocate":
		dir := filepath.Join(l.dir, fmt.Sprint("moved", l.names))
		require.NoError(l.r, os.Mkdir(dir, 0o777))
		to := filepath.Join(dir, "x.amudai.shard")
		ro := shard.RelocateOptions{Move: k%2 == 0}
		if layout := shard.Layout(k % 2); k > 4 {
			ro.Layout, l.keeps, l.versions = &layout, false, nil
		}
		_, err := shard.Relocate(ctx, l.location, to, ro)
		require.NoError(l.r, err)
		l.dir, l.location = dir, to
		return false
	case "parts":
		cold := filepath.Join(l.dir, "cold")
		to := []string{cold, l.dir}[k%2]
		all, err := shard.Relocate(ctx, l.location, to, shard.RelocateOptions{Columns: []string{"id"}, Move: k > 4})
		require.NoError(l.r, err)
		return slices.ContainsFunc(all, func(f shard.RelocatedFile) bool { return f.Moved > 0 })
	case "gc":
		_, err := shard.Collect(ctx, l.dir, shard.CollectOptions{OlderThan: time.Nanosecond, Remove: true})
		require.NoError(l.r, err)
		return false
	case "keep":
		require.NoError(l.r, shard.KeepVersions(ctx, l.location, o, int(k), 0))
		if !l.keeps {
			l.keeps, l.versions = true, map[int64]living{}
		}
	case "restore":
		if !l.keeps {
			return false
		}
		s, err := shard.Open(ctx, l.location, shard.OpenOptions{})
		require.NoError(l.r, err)
		all, err := s.Versions(ctx)
		require.NoError(l.r, err)
		require.NoError(l.r, s.Close())
		v := rapid.SampledFrom(all).Draw(l.r, "version")
		old, ok := l.versions[v.Number]
		if !ok {
			return false
		}
		require.NoError(l.r, shard.Restore(ctx, l.location, o, v.Number))
		l.living = old.clone()
	}
	return true
}

func (l *life) mark(from, to int64, deleted bool, n int64) bool {
	want := int64(0)
	for i := range l.rows {
		if r := &l.rows[i]; r.id >= from && r.id <= to && r.deleted != deleted {
			r.deleted, want = deleted, want+1
		}
	}
	require.Equal(l.r, want, n)
	return n > 0
}

// check compares the shard with the model.
func (l *life) check(location string, o shard.OpenOptions, m living) {
	ctx := l.t.Context()
	s, err := shard.Open(ctx, location, o)
	require.NoError(l.r, err)
	defer s.Close()
	var want, got []string
	green := int64(0)
	for _, row := range m.rows {
		if row.deleted {
			continue
		}
		text, ok := colourOf(row.id)
		if line := fmt.Sprint(row.id, " "); m.text == "" {
			want = append(want, line)
		} else if want = append(want, line+text); !ok {
			want[len(want)-1] = line + "null"
		} else if text == "green" {
			green++
		}
	}
	columns := []string{"id"}
	if m.text != "" {
		columns = append(columns, m.text)
		n, err := s.Count(ctx, filter.Eq(filter.Col(m.text), "green"))
		require.NoError(l.r, err)
		require.Equal(l.r, green, n)
	}
	for b, err := range s.Scan(ctx, shard.ScanOptions{Columns: columns}) {
		require.NoError(l.r, err)
		for i, id := range b.Column(0).(*array.Int64).Int64Values() {
			line := fmt.Sprint(id, " ")
			if m.text != "" {
				if c := b.Column(1); c.IsNull(i) {
					line += "null"
				} else {
					line += c.ValueStr(i)
				}
			}
			got = append(got, line)
		}
	}
	require.Equal(l.r, want, got)
	n, err := s.Count(ctx, filter.Eq(filter.Col("id"), 33))
	require.NoError(l.r, err)
	require.Equal(l.r, int64(countOf(m.rows, 33)), n)
}

func countOf(rows []livingRow, id int64) (n int) {
	for _, r := range rows {
		if r.id == id && !r.deleted {
			n++
		}
	}
	return n
}

// Random sequences of all changes of a shard: after each, it shows what a model says, and is sound.
func TestLife(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := &life{t: t, r: r, dir: t.TempDir(), living: living{text: "text"}}
		l.location = l.begin(120)
		for id := range int64(120) {
			l.rows = append(l.rows, livingRow{id: id})
		}
		for range rapid.IntRange(1, 7).Draw(r, "changes") {
			changed := l.change()
			l.check(l.location, shard.OpenOptions{}, l.living)
			requireIntact(t, l.location)
			if changed && l.keeps {
				s, err := shard.Open(t.Context(), l.location, shard.OpenOptions{})
				require.NoError(r, err)
				all, err := s.Versions(t.Context())
				require.NoError(r, err)
				require.NoError(r, s.Close())
				l.versions[all[0].Number] = l.clone()
				for _, v := range all {
					if m, ok := l.versions[v.Number]; ok {
						l.check(l.location, shard.OpenOptions{Version: v.Number}, m)
					}
				}
			}
		}
	})
}
