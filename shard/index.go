package shard

import (
	"context"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/index"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/edit"
	"github.com/amudai/amudai-go/internal/engine/indexing"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/shardtable"
	"github.com/amudai/amudai-go/internal/format/shardfile"
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
	// each column: unicode-log, the default, unicode-word or trivial), "collation" (unicode-case-insensitive, the default, or
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
	// Parallelism is the number of parts of the shard that are indexed at the same time, by default GOMAXPROCS.
	Parallelism int
	// MemoryBytes bounds the memory for building an index, by default 64 MiB. The rest goes to temporary files in TempDir.
	MemoryBytes int64
	// TempDir is the folder of temporary files, by default that of the system.
	TempDir string
	// Progress is called while an index is built, with the number of rows that it has, by one goroutine at a time. It may be nil.
	Progress func(done, total int64)
}

func (o *EditOptions) build() indexing.Options {
	return indexing.Options{Parallelism: o.Parallelism, Memory: o.MemoryBytes, TempDir: o.TempDir, Progress: o.Progress}
}

// Index describes an index of a shard.
type Index struct {
	Type       string
	Columns    []string     // paths
	Together   bool         // an index of the values of all columns together
	Properties []Property   // as they were defined
	Size       int64        // bytes of the index
	Files      []string     // URLs of files that only indexes are in
	Stripe     int          // of which it is the index; -1 for one of the whole shard
	Known      bool         // this version can use it
	Stats      []index.Stat // numbers that describe it; nil if it is not known
	Err        error        // why it cannot be used; nil if it can
}

// Indexes describes the indexes of the shard and of its stripes.
func (s *Shard) Indexes(ctx context.Context) ([]Index, error) {
	all, err := s.table.Indexes(ctx)
	if err != nil {
		return nil, err
	}
	for i := range s.NumStripes() {
		more, err := s.table.StripeIndexes(ctx, i)
		if err != nil {
			return nil, err
		}
		all = slices.Concat(all, more)
	}
	out := make([]Index, len(all))
	for i, x := range all {
		if out[i], err = s.describeIndex(ctx, x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Shard) describeIndex(ctx context.Context, x *shardtable.Index) (Index, error) {
	properties := slices.DeleteFunc(shardfile.PropertiesFromProto(x.Descriptor.GetProperties()), func(p Property) bool { return p.Name == index.PropertyIdentity })
	out := Index{Type: x.Descriptor.GetIndexType(), Properties: properties,
		Size: int64(x.Descriptor.GetIndexSize()), Files: x.Files(ctx), Stripe: x.Stripe, Known: x.Kind != nil}
	for _, f := range x.Descriptor.GetIndexedFields() {
		out.Together = out.Together || len(f.SchemaIds) > 1
		for _, id := range f.SchemaIds {
			path, err := indexing.PathOf(s.schema, id)
			if err != nil {
				out.Err = err
			}
			out.Columns = append(out.Columns, path)
		}
	}
	if !out.Known {
		return out, nil
	}
	opened, err := x.Open(ctx)
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		out.Err = err
	default:
		out.Stats = opened.Stats()
	}
	return out, nil
}

// AddIndex builds indexes of a shard, and attaches them: it publishes a new root that refers to the same data. None of these is
// written again. The data of a shard in a single file remains in that file, which gets another name, so that the shard
// consists of several files from then on. Readers that have the shard open go on with the old root.
//
// Whatever fails, the old shard stays as it is. If it was replaced meanwhile, the error wraps [storage.ErrChanged].
func AddIndex(ctx context.Context, location string, o EditOptions, indexes ...IndexDefinition) error {
	return editShard(ctx, location, o, func(s *Shard, r *edit.Root) error {
		arrowSchema, err := s.ArrowSchema(ctx)
		if err != nil {
			return err
		}
		var plans []*indexing.Plan
		for _, d := range indexes {
			p, err := indexing.New(s.schema, arrowSchema, d)
			if err != nil {
				return err
			}
			plans = append(plans, p)
		}
		return r.AddIndexes(ctx, plans, s.builder(ctx, o))
	})
}

// builder builds indexes of a stripe, or of the whole shard.
func (s *Shard) builder(ctx context.Context, o EditOptions) edit.Builder {
	return func(p *indexing.Plan, stripe int) (*indexing.Artifacts, error) {
		rows := rowset.Range{To: s.NumRows()}
		if stripe != fault.None {
			rows.From = s.file.Stripe(stripe).Position()
			rows.To = rows.From + s.file.Stripe(stripe).Rows()
		}
		return p.Build(ctx, s.table, rows, o.build())
	}
}

// editShard publishes a new root.
func editShard(ctx context.Context, location string, o EditOptions, change func(*Shard, *edit.Root) error) error {
	if err := o.Open.check(); err != nil {
		return err
	}
	return edit.Publish(ctx, location, o.Open.file(), func(r *edit.Root) error {
		s, err := r.Old.Schema(ctx)
		if err != nil {
			return err
		}
		return change(&Shard{o: o.Open, file: r.Old, schema: s, table: o.Open.table(r.Old, s)}, r)
	})
}

// DropIndex detaches the indexes of the shard and its stripes for which drop returns true. Their files ([Index.Files]) stay, because readers and
// shards of the same content may still use them. It returns the number of indexes.
func DropIndex(ctx context.Context, location string, o EditOptions, drop func(Index) bool) (dropped int, err error) {
	err = editShard(ctx, location, o, func(s *Shard, r *edit.Root) error {
		chosen, err := s.choose(ctx, drop)
		if err != nil {
			return err
		}
		if dropped = len(r.Drop(chosen)); dropped == 0 {
			return errNoIndex
		}
		return nil
	})
	return dropped, err
}

var errNoIndex = fmt.Errorf("the shard has no such index")

// choose asks want about all indexes. The result reports whether index i of a stripe, or with fault.None of the whole shard, is wanted.
func (s *Shard) choose(ctx context.Context, want func(Index) bool) (chosen func(stripe, i int) bool, err error) {
	all, err := s.Indexes(ctx)
	if err != nil {
		return nil, err
	}
	answers := map[int][]bool{}
	for _, x := range all {
		answers[x.Stripe] = append(answers[x.Stripe], want(x))
	}
	return func(stripe, i int) bool { return answers[stripe][i] }, nil
}

// RebuildIndex builds the indexes of the shard and its stripes anew for which rebuild returns true, for example those that are damaged. It
// returns the number of indexes.
func RebuildIndex(ctx context.Context, location string, o EditOptions, rebuild func(Index) bool) (rebuilt int, err error) {
	err = editShard(ctx, location, o, func(s *Shard, r *edit.Root) error {
		chosen, err := s.choose(ctx, rebuild)
		if err != nil {
			return err
		}
		arrowSchema, err := s.ArrowSchema(ctx)
		if err != nil {
			return err
		}
		dropped := r.Drop(chosen)
		if rebuilt = len(dropped); rebuilt == 0 {
			return errNoIndex
		}
		for _, d := range dropped {
			kind := index.ByType(d.Descriptor.IndexType)
			if kind == nil {
				return fault.Unsupportedf("index of the type %q", d.Descriptor.IndexType)
			}
			p, err := indexing.Of(s.schema, arrowSchema, kind, d.Descriptor)
			if err != nil {
				return err
			}
			if err := r.AddIndex(ctx, d.Stripe, p, s.builder(ctx, o)); err != nil {
				return err
			}
		}
		return nil
	})
	return rebuilt, err
}
