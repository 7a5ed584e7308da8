package shard

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/storage"
)

// IndexDefinition says what index to build. A filter uses an index by itself.
//
//	type IndexDefinition struct {
//		Type       string     // by default TermIndex
//		Columns    []string   // paths of the columns, each a field of the index
//		Together   bool       // all columns are one field: rows are found by the values of all
//		Properties []Property // parameters, which the type defines
//		PerStripe  bool       // an index of each stripe, instead of one of the shard: it goes with a stripe that is copied
//	}
type IndexDefinition = indexing.Definition

// The types of indexes.
const (
	// TermIndex finds rows by the words of strings (docs/format.md §15.5). Its properties are "tokenizers" (a list with a name for
	// each column: unicode-log, the default, unicode-word or trivial, or, for ranking only, unicode-folded, english or german), "collation" (unicode-case-insensitive, the default, or
	// unicode-case-preserving), "phrases" (a boolean): whether there are pairs of words, too, and "coarse" (an integer): the number of rows that the index does not tell apart, which makes it
	// smaller.
	TermIndex = index.Terms
	// InvertedIndex is the text index of the reference (docs/format.md §15.2), to compare with and for programs that read it. It is larger and
	// slower than a TermIndex. It has the same properties but "phrases" and "coarse". In a shard of a single file the reference cannot open it: [AddIndex] makes
	// files of it.
	InvertedIndex = index.Inverted
	// HashIndex finds rows by values (docs/format.md §15.6): conditions with = and in on columns of any type, and on columns within structs.
	// An index of a struct has all columns in it. With Together it finds rows by the values of several columns.
	HashIndex = index.Hash
	// HashmapIndex is that of the reference (docs/format.md §15.3), to compare with. It is larger and slower than a HashIndex.
	HashmapIndex = index.Hashmap
	// RangeIndex has bounds of the strings of every few rows (docs/format.md §15.7), for conditions about order, beginnings, equality and nulls
	// in columns whose values are sorted or clustered. Numbers have such bounds without an index. Its property is "rows" (an integer), the rows
	// that have bounds together, by default 256.
	RangeIndex = index.Ranges
)

// EditOptions are the options of [AddIndex] and other changes of a shard. The zero value is the default.
type EditOptions struct {
	// Open holds the options for opening the shard.
	Open OpenOptions
	// IfMatch, if not empty, changes only this version of the root: for numbers of rows, which are others in another version. Otherwise the error wraps
	// [storage.ErrChanged].
	IfMatch storage.Version
	// Parallelism is the number of parts of the shard that are indexed at the same time, by default GOMAXPROCS.
	Parallelism int
	// MemoryBytes bounds the memory for building an index, and for the encoded values of new columns, by default 64 MiB. The rest goes to temporary files in
	// TempDir.
	MemoryBytes int64
	// TempDir is the folder of temporary files, by default that of the system.
	TempDir string
	// DryRun plans a change, so that errors and numbers are those of the change, and publishes nothing.
	DryRun bool
	// Progress is called while an index or a column is built, with the number of rows that it has, by one goroutine at a time. It may be nil.
	Progress func(done, total int64)
	// Profile and BlockValues are those of new columns, as in [WriterOptions].
	Profile     encoding.Profile
	BlockValues int
}

func (o *EditOptions) build() indexing.Options {
	return indexing.Options{Parallelism: o.Parallelism, Memory: o.MemoryBytes, TempDir: o.TempDir, Progress: o.Progress}
}

// IndexStat is a number that describes an index.
//
//	type IndexStat struct {
//		Name  string
//		Value int64
//	}
type IndexStat = index.Stat

// Index describes an index of a shard.
//
//	type Index struct {
//		Type       string
//		Columns    []string    // paths
//		Together   bool        // an index of the values of all columns together
//		Properties []Property  // as they were defined
//		Size       int64       // bytes of the index
//		Files      []string    // URLs of files that only indexes are in
//		Stripe     int         // of which it is the index; -1 for one of the whole shard
//		Known      bool        // this version can use it
//		Stats      []IndexStat // numbers that describe it; nil if it is not known
//		Err        error       // why it cannot be used; nil if it can
//	}
type Index = shardtable.Description

// Indexes describes the indexes of the shard and of its stripes. It opens them, and reads only their heads: see [Shard.CheckIndexes].
func (s *Shard) Indexes(ctx context.Context) ([]Index, error) {
	return s.table.DescribeIndexes(ctx, false)
}

// CheckIndexes is [Shard.Indexes], and reads each index completely: Index.Err wraps [ErrChecksum] or [ErrCorrupt] if one is damaged. Only
// [Verify] compares indexes with the values of the shard.
func (s *Shard) CheckIndexes(ctx context.Context) ([]Index, error) {
	return s.table.DescribeIndexes(ctx, true)
}

// AddIndex builds indexes of a shard, and attaches them: it publishes a new root that refers to the same data. None of these is
// written again. The data of a shard in a single file remains in that file, which gets another name, so that the shard
// consists of several files from then on. Readers that have the shard open go on with the old root. An index of the whole shard is joined of those that all its
// stripes have of the same definition, without reading the columns, where that is possible. One of a definition that the shard has already is not built again.
//
// Whatever fails, the old shard stays as it is. If it was replaced meanwhile, the indexes are built anew of the new shard; after several attempts the error wraps
// [storage.ErrChanged].
func AddIndex(ctx context.Context, location string, o EditOptions, indexes ...IndexDefinition) error {
	return replace(ctx, location, o, mostAttempts, func(s *Shard, r root.Root) (root.Root, error) {
		arrowSchema, err := s.ArrowSchema(ctx)
		if err != nil {
			return r, err
		}
		return r.AddIndexes(s.table, arrowSchema, indexes, o.build())
	})
}

// replace publishes the root that a plan makes of that of a shard. A plan that is right for any state of the shard gets several attempts: if another writer was faster, it
// is made anew of what that one left.
func replace(ctx context.Context, location string, o EditOptions, attempts int, plan func(*Shard, root.Root) (root.Root, error)) error {
	if err := o.Open.check(); err != nil {
		return err
	}
	if o.Open.Version != 0 || !o.Open.AsOf.IsZero() {
		return errors.New("an earlier version of a shard cannot be changed: Restore makes it the newest one first")
	}
	open := o.Open.file()
	open.IfMatch = o.IfMatch
	if o.IfMatch != "" {
		attempts = 1
	}
	return root.Change(ctx, location, open, attempts, func(f *shardfile.File, r root.Root) (root.Root, error) {
		r, err := plan(&Shard{o: o.Open, file: f, schema: r.Schema, table: o.Open.table(f, r.Schema)}, r)
		if err == nil && o.DryRun {
			err = root.ErrNoChange
		}
		return r, err
	})
}

// mostAttempts is the number of attempts of a change that may be repeated.
const mostAttempts = 8

// DropIndex detaches the indexes of the shard and its stripes for which drop returns true. Their files ([Index.Files]) stay, because readers and
// shards of the same content may still use them. It returns the number of indexes.
func DropIndex(ctx context.Context, location string, o EditOptions, drop func(Index) bool) (dropped int, err error) {
	return changeIndexes(ctx, location, o, drop, false)
}

var errNoIndex = fmt.Errorf("the shard has no such index")

// changeIndexes drops or rebuilds the indexes that choose returns true for, and returns their number.
func changeIndexes(ctx context.Context, location string, o EditOptions, choose func(Index) bool, rebuild bool) (n int, err error) {
	err = replace(ctx, location, o, mostAttempts, func(s *Shard, r root.Root) (root.Root, error) {
		described, err := s.Indexes(ctx)
		if err != nil {
			return r, err
		}
		var arrowSchema *arrow.Schema
		if rebuild {
			if arrowSchema, err = s.ArrowSchema(ctx); err != nil {
				return r, err
			}
		}
		if r, n, err = r.ReplaceIndexes(s.table, arrowSchema, described, choose, rebuild, o.build()); err == nil && n == 0 {
			err = errNoIndex
		}
		return r, err
	})
	return n, err
}

// RebuildIndex builds the indexes of the shard and its stripes anew for which rebuild returns true, for example those that are damaged. It
// returns the number of indexes.
func RebuildIndex(ctx context.Context, location string, o EditOptions, rebuild func(Index) bool) (rebuilt int, err error) {
	return changeIndexes(ctx, location, o, rebuild, true)
}
