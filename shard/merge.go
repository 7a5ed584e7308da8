package shard

import (
	"context"
	"errors"
	"slices"
	"time"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/shard/internal/merging"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// MergeOptions are the options of [Merge]. The zero value is the default.
type MergeOptions struct {
	// Open holds the options for opening the shards. Its Policy allows references to files outside the folder of the new shard, and the folders in it; the
	// default allows none. Who opens the new shard has to allow them again.
	Open OpenOptions
	// Store receives the new shard. The default is the registered store of the location.
	Store storage.Store
	// Overwrite permits the replacement of an existing shard.
	Overwrite bool
	// Own keeps a copy of each single-file shard beside it, by the server where the store has that ([storage.Copier]), if the store has no links. The shards may then be changed.
	Own bool
	// CreationTime is recorded in the shard as the time of the oldest and the newest data, by default those of the shards.
	CreationTime time.Time
	// Parallelism is the number of shards that are opened at the same time, by default GOMAXPROCS.
	Parallelism int
	// TempDir is the folder of temporary files, by default that of the system. MemoryBytes and Progress are those of [EditOptions], for columns that are written anew.
	TempDir     string
	MemoryBytes int64
	Progress    func(done, total int64)
	// DryRun reports what would be done, and writes nothing.
	DryRun bool
}

// MergeReport says what [Merge] did, or would do.
type MergeReport struct {
	Stripes int      // of the new shard
	Rows    int64    // of the new shard, deleted ones included
	Written int64    // bytes of the new shard, and of new values
	Dropped []string // types of indexes of whole shards, and of widened columns, that the new shard lacks
	Widened []string // paths of columns that have other types in some of the shards
	Read    int64    // bytes of widened columns that are written anew
	Outside []string // folders other than that of the new shard, in which its data are: its readers have to allow them; not in a dry run
}

// Merge makes a shard of others without a copy of their data: its stripes are those of the shards, in their order, and refer to the files in which they are. No
// values are read. Columns are matched by their names, at every depth; one that a shard lacks is null in its rows. Deleted rows stay deleted, and properties stay that all
// shards have.
//
// Columns of one name and several types get the smallest type that holds the values of all: int64 for int32 and int64, decimal(12, 3) for decimal(10, 2) and decimal(5, 3),
// timestamps in microseconds for dates and those. The order of the shards does not matter. Only columns that are stored in another way under that type are
// read and written anew, without their indexes; a list, map or union is written as a whole. If there is no such type, the error names the column, two types and their shards. A
// time that a finer unit cannot hold is a [provider.ValueError].
//
// The files of the shards must stay. A single-file shard in a store with links ([storage.Linker]), such as local files, gets a second name in its folder, to which the
// new shard refers: it may be changed, replaced and removed. In other stores a change of it, which replaces its root, makes the merged shard unreadable, unless MergeOptions.Own is set.
//
// Indexes of stripes stay. Those of whole shards which all shards have, with the same properties, are joined, for which they are read. Others become indexes of the stripe of a
// shard of one stripe; the new shard lacks the rest.
func Merge(ctx context.Context, location string, shards []string, o MergeOptions) (r *MergeReport, err error) {
	if len(shards) == 0 {
		return nil, errors.New("there are no shards to merge")
	}
	if err := o.Open.check(); err != nil {
		return nil, err
	}
	roots, files, err := merging.Open(ctx, shards, o.Open.file(), o.Parallelism)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, seq.CloseAll(files)) }()
	r, all := &MergeReport{}, []merging.Shard(nil)
	for i, f := range files {
		r.Rows += f.Rows()
		all = append(all, merging.Shard{Root: roots[i], File: f, Table: o.Open.table(f, roots[i].Schema)})
	}
	e := EditOptions{MemoryBytes: o.MemoryBytes, TempDir: o.TempDir, Parallelism: o.Parallelism, Progress: o.Progress}
	merged, widened, err := merging.Merge(ctx, all, e.build(), e.columns(), func(d *shardpb.IndexDescriptor) {
		if !slices.Contains(r.Dropped, d.GetIndexType()) {
			r.Dropped = append(r.Dropped, d.GetIndexType())
		}
	})
	if err != nil {
		return nil, err
	}
	if !o.CreationTime.IsZero() {
		merged.Created = [2]time.Time{o.CreationTime, o.CreationTime}
	}
	merged.Own = o.Own
	r.Stripes, r.Widened, r.Read = len(merged.Stripes), widened.Columns, widened.Read
	if o.DryRun {
		return r, nil
	}
	r.Written, r.Outside, err = root.Refer(ctx, location, shardwriter.Options{Store: o.Store, Overwrite: o.Overwrite}, o.Open.Policy, merged)
	r.Written += widened.Written()
	return r, err
}
