// Package lifetest_test has all changes of shards as one table, with a model of what each of them does. It is for tests: whatever fails, is killed, or is done at
// once by several writers, a shard shows what the model says before or after some of the changes.
package lifetest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// Place is a folder of a store that has a shard, and another one to merge it with.
type Place struct {
	Store   storage.Store
	Dir     string
	TempDir string // for temporary files, by default that of the system
	// Age is how old the files are that are collected, by default any age: no other may write then.
	Age time.Duration
}

// Location is that of the shard.
func (p Place) Location() string { return p.At("x.amudai.shard") }

// At is the location of a name in the folder.
func (p Place) At(name string) string { return p.Dir + "/" + name }

// Moved is the location to which the shard is moved, in a folder of its own.
func (p Place) Moved() string { return p.At("moved/x.amudai.shard") }

func (p Place) open() shard.OpenOptions { return shard.OpenOptions{Store: p.Store} }

func (p Place) edit() shard.EditOptions {
	return shard.EditOptions{Open: p.open(), TempDir: p.TempDir, Parallelism: 1}
}

// Operation is a change of the shard of a place, or one that makes other shards of it.
type Operation struct {
	Name string
	Do   func(ctx context.Context, p Place) error
	// Apply does the same to what a shard shows. Nil changes nothing.
	Apply func(s *State)
	// Makes begins the names of the shards that are made, in the order of the names. "" if there are none.
	Makes string
	// Made is what they show, one after the other, nil what the shard does.
	Made func(s State) State
	// Moves reports whether the shard is at [Place.Moved] then.
	Moves bool
	// Alone is an operation that expects no other one meanwhile.
	Alone bool
}

// Operations are all operations. Those without Alone do not depend on others: each succeeds in any order of them.
var Operations = []Operation{
	{Name: "delete", Do: func(ctx context.Context, p Place) error {
		_, err := shard.Delete(ctx, p.Location(), p.edit(), shard.Rows{Where: filter.Between(filter.Col("id"), 10, 29)})
		return err
	}, Apply: func(s *State) { s.mark(true, func(id int64) bool { return id >= 10 && id <= 29 }) }},
	{Name: "delete numbers", Do: func(ctx context.Context, p Place) error {
		_, err := shard.Delete(ctx, p.Location(), p.edit(), shard.Rows{Ranges: []shard.RowRange{{From: 60, To: 65}}})
		return err
	}, Apply: func(s *State) {
		for i := 60; i < min(65, len(s.rows)); i++ {
			s.rows[i].deleted = true
		}
	}},
	{Name: "delete keys", Do: func(ctx context.Context, p Place) error {
		keys := func(yield func(arrow.RecordBatch, error) bool) { yield(ids(5, 77, 4711), nil) }
		_, err := shard.Delete(ctx, p.Location(), p.edit(), shard.Rows{Keys: keys})
		return err
	}, Apply: func(s *State) { s.mark(true, func(id int64) bool { return id == 5 || id == 77 }) }},
	{Name: "undelete", Do: func(ctx context.Context, p Place) error {
		_, err := shard.Undelete(ctx, p.Location(), p.edit(), shard.Rows{Where: filter.Between(filter.Col("id"), 18, 32)})
		return err
	}, Apply: func(s *State) { s.mark(false, func(id int64) bool { return id >= 18 && id <= 32 }) }},
	edit("add column", []shard.Change{shard.AddColumn("double", "id * 2")}, func(s *State) {
		s.columns = append(s.columns, column{"double", "int64", func(id int64) string { return fmt.Sprint(2 * id) }})
	}),
	edit("drop column", []shard.Change{shard.DropColumns("gone")}, func(s *State) {
		s.columns = slices.DeleteFunc(s.columns, func(c column) bool { return c.name == "gone" })
	}),
	edit("rename column", []shard.Change{shard.RenameColumn("text", "colour")}, func(s *State) { s.column("text").name = "colour" }),
	edit("order columns", []shard.Change{shard.OrderColumns("parts")}, func(s *State) {
		slices.SortStableFunc(s.columns, func(a, b column) int { return order(a) - order(b) })
	}),
	edit("cast column", []shard.Change{shard.CastColumn("small", arrow.PrimitiveTypes.Int64)}, func(s *State) { s.column("small").kind = "int64" }),
	edit("set property", []shard.Change{shard.SetProperty("note", "changed")}, func(s *State) { s.note = "changed" }),
	{Name: "compact", Do: func(ctx context.Context, p Place) error { // all stripes, as their blocks are others
		return compact(ctx, p, shard.CompactOptions{EditOptions: shard.EditOptions{BlockValues: 8192}})
	}, Apply: (*State).purge},
	{Name: "compact sorted", Do: func(ctx context.Context, p Place) error {
		return compact(ctx, p, shard.CompactOptions{Sort: "-id", StripeRows: 40})
	}, Apply: (*State).descend},
	{Name: "compact clustered", Do: func(ctx context.Context, p Place) error { // any curve of values that descend together descends
		return compact(ctx, p, shard.CompactOptions{Cluster: "-id,-id * 2", StripeRows: 40})
	}, Apply: (*State).descend},
	{Name: "add index", Do: func(ctx context.Context, p Place) error {
		return shard.AddIndex(ctx, p.Location(), p.edit(), shard.IndexDefinition{Type: shard.RangeIndex, Columns: []string{"gist"}})
	}},
	{Name: "add index of stripes", Do: func(ctx context.Context, p Place) error {
		return shard.AddIndex(ctx, p.Location(), p.edit(), shard.IndexDefinition{Type: shard.HashIndex, Columns: []string{"gist"}, PerStripe: true})
	}},
	{Name: "add index of the reference", Do: func(ctx context.Context, p Place) error {
		return shard.AddIndex(ctx, p.Location(), p.edit(), shard.IndexDefinition{Type: shard.InvertedIndex, Columns: []string{"gist"}})
	}},
	{Name: "drop index", Do: func(ctx context.Context, p Place) error {
		_, err := shard.DropIndex(ctx, p.Location(), p.edit(), func(x shard.Index) bool { return x.Type == shard.TermIndex })
		return err
	}},
	{Name: "rebuild index", Do: func(ctx context.Context, p Place) error {
		_, err := shard.RebuildIndex(ctx, p.Location(), p.edit(), func(x shard.Index) bool { return x.Type == shard.HashIndex })
		return err
	}},
	{Name: "keep", Do: func(ctx context.Context, p Place) error {
		return shard.KeepVersions(ctx, p.Location(), p.edit(), 40, 0)
	}},
	{Name: "restore", Do: func(ctx context.Context, p Place) error {
		return shard.Restore(ctx, p.Location(), p.edit(), 1)
	}, Apply: func(s *State) {
		first := s.first
		*s = first.clone()
		s.first = first
	}},
	{Name: "merge", Makes: "merged", Do: func(ctx context.Context, p Place) error {
		_, err := shard.Merge(ctx, p.At("merged.amudai.shard"), []string{p.Location(), p.At("b.amudai.shard")},
			shard.MergeOptions{Open: p.open(), Store: p.Store, TempDir: p.TempDir, Parallelism: 1, Overwrite: true})
		return err
	}, Made: func(s State) State {
		for id := range int64(10) {
			s.rows = append(s.rows, row{id: 1000 + id, bare: true})
		}
		s.note = ""
		return s
	}},
	{Name: "split", Makes: "part-", Do: func(ctx context.Context, p Place) error {
		_, err := shard.Split(ctx, p.Location(), p.At("part-{}.amudai.shard"), shard.SplitOptions{EditOptions: p.edit(), Rows: 60, Store: p.Store, Overwrite: true})
		return err
	}},
	{Name: "split by size", Makes: "sized-", Do: func(ctx context.Context, p Place) error {
		_, err := shard.Split(ctx, p.Location(), p.At("sized-{}.amudai.shard"), shard.SplitOptions{EditOptions: p.edit(), Bytes: 1500, Store: p.Store, Overwrite: true})
		return err
	}},
	{Name: "split by value", Makes: "value-", Do: func(ctx context.Context, p Place) error {
		_, err := shard.Split(ctx, p.Location(), p.At("value-{}.amudai.shard"), shard.SplitOptions{EditOptions: p.edit(), By: "id % 3", Store: p.Store, Overwrite: true})
		return err
	}, Made: func(s State) State {
		s.purge()
		slices.SortStableFunc(s.rows, func(a, b row) int { return int(a.id%3 - b.id%3) })
		return s
	}},
	{Name: "relocate columns", Do: func(ctx context.Context, p Place) error {
		o := relocate(p, nil, true)
		o.Columns = []string{"gist", "small"}
		_, err := shard.Relocate(ctx, p.Location(), p.At("moved"), o)
		return err
	}},
	{Name: "relocate stripes", Do: func(ctx context.Context, p Place) error {
		o := relocate(p, nil, false)
		o.Stripes = []int{0}
		_, err := shard.Relocate(ctx, p.Location(), p.At("moved"), o)
		return err
	}},
	{Name: "copy", Makes: "moved/copy", Do: func(ctx context.Context, p Place) error {
		_, err := shard.Relocate(ctx, p.Location(), p.At("moved/copy.amudai.shard"), relocate(p, nil, false))
		return err
	}},
	{Name: "change layout", Makes: "single", Do: func(ctx context.Context, p Place) error {
		layout := shard.SingleFile
		_, err := shard.Relocate(ctx, p.Location(), p.At("single.amudai.shard"), relocate(p, &layout, false))
		return err
	}},
	{Name: "move", Moves: true, Do: func(ctx context.Context, p Place) error {
		_, err := shard.Relocate(ctx, p.Location(), p.Moved(), relocate(p, nil, true))
		return err
	}},
	{Name: "move to another layout", Moves: true, Do: func(ctx context.Context, p Place) error {
		layout := shard.TwoLevel
		_, err := shard.Relocate(ctx, p.Location(), p.Moved(), relocate(p, &layout, true))
		return err
	}},
	{Name: "forget", Alone: true, Do: func(ctx context.Context, p Place) error { return shard.KeepVersions(ctx, p.Location(), p.edit(), 0, 0) }},
	{Name: "gc", Do: func(ctx context.Context, p Place) error {
		_, err := p.Collect(ctx)
		return err
	}},
}

// Refused reports whether an error says that another writer has prevented an operation. A copy is compared, because moto ignores the condition that the original
// is still the version which was read.
func Refused(err error) bool {
	if err == nil || errors.Is(err, storage.ErrChanged) {
		return err != nil
	}
	return slices.ContainsFunc([]string{"a writer is at work", "no such index", "the copy is not equal to the original"}, func(text string) bool {
		return strings.Contains(err.Error(), text)
	})
}

// unknown reports whether an error says that an operation may have been done.
func unknown(err error) bool {
	return err != nil && strings.Contains(err.Error(), "whether it was published is not known")
}

// Named is the operation with a name.
func Named(name string) Operation {
	return Operations[slices.IndexFunc(Operations, func(o Operation) bool { return o.Name == name })]
}

// Collect removes what no shard of a place refers to.
func (p Place) Collect(ctx context.Context) (shard.Collected, error) {
	return shard.Collect(ctx, p.Dir, shard.CollectOptions{Store: p.Store, OlderThan: cmp.Or(p.Age, time.Nanosecond), Remove: true})
}

func edit(name string, changes []shard.Change, apply func(s *State)) Operation {
	return Operation{Name: name, Apply: apply, Do: func(ctx context.Context, p Place) error {
		_, err := shard.Edit(ctx, p.Location(), p.edit(), changes...)
		return err
	}}
}

func compact(ctx context.Context, p Place, o shard.CompactOptions) error {
	e := p.edit()
	e.BlockValues = o.BlockValues
	o.EditOptions = e
	_, err := shard.Compact(ctx, p.Location(), o)
	if err != nil && strings.Contains(err.Error(), "the shard is compacted, but lacks indexes") { // which another writer has prevented
		return nil
	}
	return err
}

func relocate(p Place, layout *shard.Layout, move bool) shard.RelocateOptions {
	return shard.RelocateOptions{Open: p.open(), To: p.Store, Layout: layout, Move: move, Overwrite: true, Parallelism: 1}
}

// ids is a batch of identifiers.
func ids(all ...int64) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(all, nil)
	return b.NewRecordBatch()
}
