package merging

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/shard/internal/columns"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// Shard is a shard to merge.
type Shard struct {
	Root  root.Root
	File  *shardfile.File
	Table table.Table
}

// Widened tells of columns that have different types in the shards.
type Widened struct {
	Columns []string // their paths
	Read    int64    // bytes of the values that are written anew
	plans   []*columns.Plan
}

// Written is the number of bytes of new values so far.
func (w *Widened) Written() (n int64) {
	for _, p := range w.plans {
		n += p.Written()
	}
	return n
}

// widen has all columns of one name have one type, the smallest that holds the values of all shards ([cast.Common]). Only columns that are stored in another way under
// it are written anew; a column within a list, map or union goes with the whole of it. dropped is told of indexes that shards lose by that.
func (w *Widened) widen(ctx context.Context, all []Shard, o columns.Options, dropped func(*shardpb.IndexDescriptor)) error {
	f := finder{all: all, changes: make([][]columns.Change, len(all))}
	groups := make([][]root.Column, len(all))
	for i := range all {
		var err error
		if groups[i], err = all[i].Root.Columns(); err != nil {
			return err
		}
	}
	if err := f.find(ctx, groups, ""); err != nil {
		return err
	}
	w.Columns = f.paths
	reference := !slices.ContainsFunc(all, func(s Shard) bool { return s.Root.Edition != edition.Reference })
	done, progress := int64(0), o.Progress
	for i, changes := range f.changes {
		if len(changes) == 0 {
			continue
		}
		s := &all[i]
		before, r := s.Root, s.Root
		if !reference {
			r = r.WithEdition(edition.E2026)
		}
		if progress != nil {
			first := done
			o.Progress = func(n, _ int64) { progress(first+n, done) }
		}
		p, err := columns.New(ctx, s.File, s.Table, r, o, changes)
		if err != nil {
			return fmt.Errorf("%s: %w", s.File.Location(), err)
		}
		if s.Root, err = p.Root(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.File.Location(), err)
		}
		sizes, err := p.Sizes(ctx)
		if err != nil {
			return err
		}
		w.plans, w.Read, done = append(w.plans, p), w.Read+sizes.Read, done+p.Rows()
		before.Lost(p.Moved(), dropped)
	}
	return nil
}

// finder finds what to change in each shard.
type finder struct {
	all     []Shard
	changes [][]columns.Change
	paths   []string
}

// find looks at the columns of all shards that have one parent.
func (f *finder) find(ctx context.Context, siblings [][]root.Column, path string) error {
	byName, names := map[string][]*root.Column{}, []string(nil)
	for i, columns := range siblings {
		for k := range columns {
			c := &columns[k]
			if c.Internal != "" {
				continue
			}
			if byName[c.Name] == nil {
				byName[c.Name], names = make([]*root.Column, len(siblings)), append(names, c.Name)
			}
			if byName[c.Name][i] != nil {
				return fmt.Errorf("two columns are called %s", schema.JoinPath(path, c.Name))
			}
			byName[c.Name][i] = c
		}
	}
	for _, name := range names {
		if err := f.column(ctx, byName[name], schema.JoinPath(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// column looks at the columns of one name, nil for a shard that lacks it.
func (f *finder) column(ctx context.Context, of []*root.Column, path string) error {
	if alike(of) {
		return nil
	}
	structs, children := true, make([][]root.Column, len(of))
	for i, c := range of {
		if c != nil {
			structs, children[i] = structs && c.Type == schema.Struct && arrowmap.MadeOfParts(&c.Field), c.Children
		}
	}
	if structs {
		return f.find(ctx, children, path)
	}
	types := make([]arrow.DataType, len(of))
	for i, c := range of {
		if c == nil {
			continue
		}
		p, err := f.all[i].Table.Project(ctx, []string{path})
		if err != nil {
			return err
		}
		_, read := columns.WayTo(p.Columns, c.ID)
		if read == nil {
			return fmt.Errorf("column %s has different types in the shards", path)
		}
		types[i] = read.Arrow.Type
	}
	to, _, err := cast.Common(slices.DeleteFunc(slices.Clone(types), func(t arrow.DataType) bool { return t == nil }), true)
	if err != nil {
		return f.conflict(path, types, err)
	}
	f.paths = append(f.paths, path)
	for i, c := range of {
		if c != nil {
			f.changes[i] = append(f.changes[i], columns.Cast(path, to))
		}
	}
	return nil
}

// alike reports whether the columns need no change to be one.
func alike(of []*root.Column) bool {
	var u *unitedColumn
	for i, c := range of {
		if c == nil {
			continue
		}
		if u == nil {
			u = &unitedColumn{Field: c.Field}
		}
		if u.add(*c, i, "") != nil {
			return false
		}
	}
	return true
}

// conflict is the error of a column whose types have none in common, with two shards that show it.
func (f *finder) conflict(path string, types []arrow.DataType, err error) error {
	for i, a := range types {
		for k, b := range types[:i] {
			if a == nil || b == nil || arrow.TypeEqual(a, b) {
				continue
			}
			if _, _, err := cast.Common([]arrow.DataType{b, a}, true); err != nil {
				return fmt.Errorf("column %s is %s in %s, but %s in %s, and no type holds all values of both: cast it in one of them first",
					path, text.Type(b), f.all[k].File.Location(), text.Type(a), f.all[i].File.Location())
			}
		}
	}
	return errors.Join(fmt.Errorf("column %s has types in the shards that no type holds: cast it in some of them first", path), err)
}

// apart gives columns of tables of spans that have one name, and values of different types, different names ([cast.Apart]).
func apart(all []Shard) ([]Shard, error) {
	lists := make([][]arrow.Field, len(all))
	for i, s := range all {
		columns, err := s.Root.Columns()
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			lists[i] = append(lists[i], arrow.Field{Name: arrowmap.ArrowName(&c.Field), Metadata: arrowmap.Metadata(&c.Field)})
		}
	}
	named := cast.Apart(lists)
	all = slices.Clone(all)
	for i := range all {
		columns, err := all[i].Root.Columns()
		if err != nil {
			return nil, err
		}
		changed := false
		for k, f := range named[i] {
			if c := &columns[k]; f.Name != lists[i][k].Name {
				c.Field, changed = arrowmap.WithMetadata(arrowmap.Named(c.Field, f.Name, f.Name), f.Metadata), true
			}
		}
		if changed {
			if all[i].Root, err = all[i].Root.WithColumns(columns, nil); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
