package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/columns"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/table/provider"
)

// Change is a change of the columns or properties of a shard, for [Edit]: of [AddColumn], [AddColumns], [DropColumns], [RenameColumn], [OrderColumns],
// [CastColumn], [SetProperty], [DropProperty], [SetColumnProperty] or [DropColumnProperty].
//
// A column is named by its path, as in a projection: "address.city" is a field of a struct. Fields of structs are changed as columns are, also those within
// lists and maps. Items of lists, keys and values of maps, and alternatives of unions belong to their column.
type Change = columns.Change

// AddColumn adds a column at a path, with the values of an expression (docs/filters.md) for each row: "price * n". They are computed of the columns that the shard
// has before all changes of the [Edit], for deleted rows, too. A path of several names adds a field to a struct, which is no item of a list.
func AddColumn(path, expression string) Change { return columns.Add(path, expression) }

// AddColumns adds the columns of another table. It has as many rows as the shard, whose deleted rows count ([Shard.NumRows]). The caller closes the source.
func AddColumns(from provider.Source) Change { return columns.AddFrom(from) }

// DropColumns leaves columns out, and indexes of them.
func DropColumns(paths ...string) Change { return columns.Drop(paths...) }

// RenameColumn gives a column another name, which is no path. Indexes of it stay.
func RenameColumn(path, name string) Change { return columns.Rename(path, name) }

// OrderColumns puts columns before the others, which keep their order. Fields of a struct are ordered among themselves.
func OrderColumns(paths ...string) Change { return columns.Order(paths...) }

// CastColumn gives a column another type. Its values are read, converted and written, and indexes of it are dropped. A value that the type does not hold exactly,
// or a text that has none, is an error of [Edit].
func CastColumn(path string, to arrow.DataType) Change { return columns.Cast(path, to) }

// SetProperty sets a custom property of the shard. [Property] lists the types of values.
func SetProperty(name string, value any) Change {
	return columns.SetProperty("", Property{Name: name, Value: value}, false)
}

// DropProperty removes a custom property of the shard.
func DropProperty(name string) Change { return columns.SetProperty("", Property{Name: name}, true) }

// SetColumnProperty sets a custom property of a column in all stripes that have it. A comment on a column is its property "comment".
func SetColumnProperty(path, name string, value any) Change {
	return columns.SetProperty(path, Property{Name: name, Value: value}, false)
}

// DropColumnProperty removes a custom property of a column, if it has one.
func DropColumnProperty(path, name string) Change {
	return columns.SetProperty(path, Property{Name: name}, true)
}

// EditReport is what an [Edit] did, or would do. Sizes are bytes.
//
//	type EditReport struct {
//		Kept    int64   // of the files of the shard, to which the new root refers
//		Dropped int64   // of columns and indexes, to which it refers no more
//		Read    int64   // of columns, of whose values new ones are made
//		Written int64   // of new columns; the root comes to it
//		Indexes []Index // that were dropped
//	}
type EditReport = columns.Report

// Edit makes changes, one after the other, and publishes them together by one new root (see [AddIndex]). Only the values of new columns are written; the root refers
// to all others where they are. A mistake in a change is an error before anything is written, with [EditOptions.DryRun], too.
//
// A value that cannot be computed or converted is a [provider.ValueError] with its row. Whatever fails, the shard stays as it was. A shard with packed groups is
// refused if columns change their places.
//
// If another writer replaced the shard meanwhile, the changes are made anew of what that one left. If it took or changed a column that they use, after several attempts, and
// for [AddColumns], the error wraps [storage.ErrChanged].
func Edit(ctx context.Context, location string, o EditOptions, changes ...Change) (*EditReport, error) {
	report, p, first, attempts := &EditReport{}, (*columns.Plan)(nil), (*columns.Plan)(nil), mostAttempts
	if columns.Once(changes) {
		attempts = 1
	}
	err := replace(ctx, location, o, attempts, func(s *Shard, r root.Root) (_ root.Root, err error) {
		if len(changes) == 0 {
			return r, root.ErrNoChange
		}
		if err := cmp.Or(write.CheckCoding("EditOptions.", r.Edition, o.Profile), write.CheckBlockValues("EditOptions.BlockValues", o.BlockValues)); err != nil {
			return r, err
		}
		if p, err = columns.New(ctx, s.file, s.table, r, o.columns(), changes); err != nil {
			return r, err
		}
		if r, err = p.Root(ctx); err != nil {
			return r, err
		}
		if first = cmp.Or(first, p); first != p {
			if err := p.Again(first); err != nil {
				return r, err
			}
		}
		*report, err = p.Report(ctx, s.table)
		return r, err
	})
	if p != nil {
		report.Written = p.Written()
		p.Close()
	}
	if err != nil {
		return nil, err
	}
	return report, nil
}

func (o *EditOptions) columns() columns.Options {
	return columns.Options{Encoding: encoding.Options{Profile: o.Profile, BlockValues: o.BlockValues}, Parallelism: o.Parallelism,
		Memory: cmp.Or(o.MemoryBytes, DefaultScanBytes), TempDir: o.TempDir, Progress: o.Progress}
}

// Version describes a version of a shard.
//
//	type Version struct {
//		Number  int64     // ascending
//		Time    time.Time // when it was published, as far as that is known
//		Rows    int64     // deleted ones included
//		Deleted int64     // deleted rows
//		Change  string    // what was changed, in a few words
//		URL     string    // of its root, relative to the folder; "" for the newest
//	}
type Version = root.Version

// KeepVersions says how many earlier versions of a shard to keep from now on, and up to which age (0: any). A change of the shard publishes a new root, and the
// root before becomes an earlier version, which [OpenOptions] can open and [Restore] can bring back. It costs its metadata, and the data that only it
// refers to. Versions that are not kept any more are removed by [Collect]. 0 keeps none, which is the default.
//
// A version is not complete without the files that it refers to. Copies by [Pack] and merged shards have none of the versions.
func KeepVersions(ctx context.Context, location string, o EditOptions, versions int, age time.Duration) error {
	if versions < 0 || age < 0 {
		return fmt.Errorf("%d versions up to an age of %v cannot be kept", versions, age)
	}
	return replace(ctx, location, o, mostAttempts, func(_ *Shard, r root.Root) (root.Root, error) {
		r.Change = fmt.Sprintf("keep %d %s", versions, text.Plural(versions, "version"))
		r.Keep = &root.History{Keep: int64(versions), Age: age}
		return r, nil
	})
}

// Versions are the versions of the shard that can be opened, the newest first. That of a shard which keeps none is the only one.
func (s *Shard) Versions(ctx context.Context) ([]Version, error) {
	h, err := root.HistoryOf(ctx, s.file)
	return h.All(), err
}

// Restore publishes an earlier version of a shard as the newest one. The versions after it are kept as all are. The error wraps [storage.ErrChanged] if another
// writer replaced the shard meanwhile.
func Restore(ctx context.Context, location string, o EditOptions, version int64) (err error) {
	open := o.Open
	open.Version = version
	old, err := Open(ctx, location, open)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	return replace(ctx, location, o, 1, func(*Shard, root.Root) (root.Root, error) {
		r, err := root.Of(ctx, old.file)
		r.Change = fmt.Sprintf("restore version %d", version)
		return r, err
	})
}
