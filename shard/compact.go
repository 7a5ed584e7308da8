package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/compact"
	"github.com/amudai/amudai-go/shard/internal/merging"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// CompactOptions are the options of [Compact]. The zero value is the default.
type CompactOptions struct {
	// EditOptions.MemoryBytes bounds the memory of all, by default 256 MiB; rows that are sorted go to temporary files. Progress is called with the
	// number of rows that were written anew, and then with those of each index. Profile and BlockValues are those of the new stripes.
	EditOptions
	// Stripes are the numbers of the stripes to write anew. The default is all with Sort, Cluster, Upgrade, or a Profile or BlockValues that is not the default, else those
	// for which it pays: neighbours that have few rows, and stripes of which a fifth of the rows is deleted.
	Stripes []int
	// Sort are columns, or expressions such as year(date), separated by commas; a minus before one makes its order descending. The rows of the stripes are sorted by
	// them: nulls are last, rows of equal values keep their order. The new stripes take the place of the first of the old ones.
	Sort string
	// Cluster, instead of Sort, are two to eight columns or expressions by which the rows are sorted at once, along a Z-order curve through their values: conditions on each
	// of them read little, where a sort serves the first one best, and the others hardly.
	Cluster    string
	StripeRows int64 // maximum of a new stripe, by default DefaultStripeRows
	Upgrade    bool  // from [EditionReference] to [Edition2026]
}

// CompactReport says what [Compact] did, or would do.
//
//	type CompactReport struct {
//		Stripes       []int // that were written anew
//		Before, After int   // stripes of the shard; in a dry run, After is an estimate
//		Rows          int64 // that were written anew
//		Deleted       int64 // rows that were left out, because they were deleted
//		Kept          int64 // bytes of data of the other stripes, which the shard refers to; only in a dry run
//		Replaced      int64 // bytes of data that the shard does not refer to any more
//		Written       int64 // bytes of data of the new stripes; 0 in a dry run
//		// Rebuilt and Dropped are the types of indexes that were built anew, and of those that the shard lacks because this version does not know them.
//		Rebuilt, Dropped []string
//	}
type CompactReport = compact.Report

// Compact writes stripes of a shard anew: few ones in the place of many small ones, without deleted rows, with other encodings, or sorted. The other stripes
// are referred to, as by [AddIndex]. Neighbours are written as one, divided by StripeRows; types, properties that all of them have, and times of creation
// stay. Second encodings and packed groups do not ([WriterOptions]). Data that the shard does not refer to any more stay in their files until [Relocate] or [Collect].
//
// Rows get other numbers where rows before them are left out or sorted. Indexes of the whole shard are then built anew, those of new stripes always, in a second step:
// between the two, and if the second one fails, questions are answered without them, and [AddIndex] makes them.
//
// If the shard was replaced meanwhile, all is done anew with what the other writer left, unless CompactOptions.Stripes have numbers that mean others now. Then, and after several
// attempts, the error wraps [storage.ErrChanged].
func Compact(ctx context.Context, location string, o CompactOptions) (report *CompactReport, err error) {
	if err := cmp.Or(
		option.SetDefault("CompactOptions.StripeRows", &o.StripeRows, DefaultStripeRows),
		option.SetDefault("EditOptions.MemoryBytes", &o.MemoryBytes, compact.DefaultMemory),
		write.CheckCoding("EditOptions.", Edition2026, o.Profile), write.CheckBlockValues("EditOptions.BlockValues", o.BlockValues),
	); err != nil {
		return nil, err
	}
	var p *compact.Plan
	if err := replace(ctx, location, o.EditOptions, mostAttempts, func(s *Shard, r root.Root) (_ root.Root, err error) {
		all := o.compact()
		all.Stripes, all.Sort, all.Cluster, all.StripeRows, all.Upgrade, all.Again = o.Stripes, o.Sort, o.Cluster, o.StripeRows, o.Upgrade, p
		p, err = compact.New(ctx, s.table, r, all)
		if err == nil && len(p.Chosen) == 0 {
			err = root.ErrNoChange
		}
		if err != nil {
			return r, err
		}
		p.Root.Change = fmt.Sprintf("compact %d %s", len(p.Chosen), text.Plural(len(p.Chosen), "stripe"))
		return p.Root, nil
	}); err != nil {
		return nil, err
	}
	report = p.Report(o.DryRun)
	if o.DryRun || len(report.Rebuilt) == 0 {
		return report, nil
	}
	o.MemoryBytes, o.IfMatch = o.MemoryBytes/4, ""
	if err := replace(ctx, location, o.EditOptions, mostAttempts, func(s *Shard, r root.Root) (root.Root, error) {
		r.Change = "build indexes of compacted rows"
		return p.WithIndexes(ctx, s.table, r, o.build())
	}); err != nil {
		return report, fmt.Errorf("the shard is compacted, but lacks indexes: %w", err)
	}
	return report, nil
}

func (o *EditOptions) compact() compact.Options {
	return compact.Options{Encoding: encoding.Options{Profile: o.Profile, BlockValues: o.BlockValues}, StripeRows: DefaultStripeRows, StripeBytes: DefaultStripeBytes,
		Memory: cmp.Or(o.MemoryBytes, compact.DefaultMemory), TempDir: o.TempDir, Parallelism: o.Parallelism, Progress: o.Progress, Sizes: o.DryRun}
}

// SplitOptions are the options of [Split]: Rows, Bytes or By.
type SplitOptions struct {
	// EditOptions.MemoryBytes is as for [Compact]. Policy allows references to files outside the folders of the parts; who opens these has to allow them again.
	EditOptions
	Rows  int64 // of a part, deleted ones included
	Bytes int64 // of data of a part: less, or up to a quarter more if rows differ much in size
	// By is a column, or an expression such as year(date), of at most 1,000 values. The rows of each become a part.
	By        string
	Store     storage.Store // of the parts, by default the registered store of their locations
	Overwrite bool          // permits the replacement of existing shards
}

// SplitPart is a part of a shard that was divided.
//
//	type SplitPart struct {
//		Location string
//		Rows     int64
//		Bytes    int64 // of its data, those that it refers to included; an estimate in a dry run, 0 by value
//		Referred int   // stripes that it refers to where they are
//	}
type SplitPart = compact.Part

// Split divides a shard into several, whose locations are pattern with {} replaced by the number or the value of a part. It stays as it is. Parts of a number of
// rows or bytes refer to its stripes, as [Merge] does, where no other part has rows of these; other stripes are written anew, without deleted rows. Parts of values are
// single files without deleted rows, in which rows keep their order; their names have values with escapes, cut, and distinct without regard to case. No part has an index of the whole shard: see [AddIndex].
//
// If a file of the name of a part is there already, nothing is written. If a part cannot be written, those before it remain, and are returned with the error.
func Split(ctx context.Context, location, pattern string, o SplitOptions) (parts []SplitPart, err error) {
	if err := o.Open.check(); err != nil {
		return nil, err
	}
	roots, files, err := merging.Open(ctx, []string{location}, o.Open.file(), 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files[0].Close()) }()
	return compact.Split(ctx, o.Open.table(files[0], roots[0].Schema), roots[0], compact.SplitOptions{Options: o.compact(), Rows: o.Rows, Bytes: o.Bytes, By: o.By, Pattern: pattern,
		Shard: shardwriter.Options{Store: o.Store, Overwrite: o.Overwrite}, Policy: o.Open.Policy, DryRun: o.DryRun})
}
