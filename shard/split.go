package shard

import (
	"context"
	"errors"

	"github.com/amudai/amudai-go/shard/internal/compact"
	"github.com/amudai/amudai-go/shard/internal/merging"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

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
