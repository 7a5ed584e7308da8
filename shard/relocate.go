package shard

import (
	"cmp"
	"context"
	"errors"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard/internal/copying"
	"github.com/amudai/amudai-go/shard/internal/relocation"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// RelocateOptions are the options of [Relocate]. The zero value is the default.
type RelocateOptions struct {
	// Open holds the options for opening the shard. Directory must be nil: all shards in an artifact are relocated.
	Open OpenOptions
	To   storage.Store // the store of the new shard, by default the registered one of its location
	// Layout is that of the new shard. By default it consists of the same files, copied as they are; one of another layout has no earlier versions.
	Layout *Layout
	// Columns, by path, and Stripes, by number, are those whose data go to another folder, all others stay. Where means the stripes all of whose rows meet it.
	Columns []string
	Stripes []int
	Where   filter.Expr
	// Overwrite permits the replacement of an existing shard, but not of one that another writer publishes there meanwhile ([storage.ErrChanged]): that may be
	// a newer state of the same shard.
	Overwrite bool
	// Move removes the old shard, once the new one is complete: its root, and those of its files which writers have named, in its folder, unless
	// another root in the folder refers to them. Parquet files stay. A root there that cannot be read is an error, and the files stay.
	Move bool
	// Verify reads files again that the store has copied by itself. By default only their sizes are compared, and files with the name and size of one
	// that would be copied, in a store that copies by itself, are taken to be equal. What passes through this process is always read again.
	Verify      bool
	DryRun      bool // changes nothing
	Parallelism int  // files that are copied at the same time, by default 4
	// Progress is called with the number of bytes that are there, and of all, by several goroutines at once. It may be nil.
	Progress func(done, total int64)
}

// RelocatedFile is a file of a shard, and what becomes of it.
//
//	type RelocatedFile struct {
//		From, To string // URLs; To is that of the new root for a file that is rewritten, "" for one that is left out
//		Size     int64  // bytes; 0 if it is outside of the folder of the shard
//		Referred int64  // bytes that the shard refers to
//		Moved    int64  // of these: bytes of the columns or stripes that are moved
//		How      RelocatedHow
//		Removed  bool // from where it was; in a dry run: it would be
//	}
type RelocatedFile = relocation.File

// RelocatedHow says what becomes of a file.
type RelocatedHow = copying.How

// What becomes of files.
const (
	RelocatedByStore   = copying.Served    // a copy by the store, without a byte in this process
	RelocatedHere      = copying.Passed    // a copy through this process
	RelocatedPresent   = copying.Present   // an equal file was there already
	RelocatedRewritten = copying.Rewritten // its content is in the files of another layout
	RelocatedStays     = copying.Stays     // it is referred to where it is
	RelocatedLeftOut   = copying.LeftOut   // only earlier versions need it, which a shard of another layout does not have
)

// Relocate copies a shard to another location, or moves it: to another folder, another store, or another layout. It returns what became of its
// files, the root first. Options of a dry run tell what would become of them.
//
// Files of the same layout are copied as they are, and the root last, because roots refer to files by their names in the folder. Stores of clouds copy
// files by themselves ([storage.Copier]). Files that are there already are not copied again, so that Relocate repeats what was interrupted, and
// updates a copy (with Overwrite). Their bytes are compared.
//
// With Columns, Stripes or Where, the shard stays where it is, and its root is replaced by one that refers to the data of these in the folder to, in any store that is
// registered. They are copied and compared first; other data in the same files are written anew beside them, so that Move, or Collect, removes the old files.
// Metadata and indexes stay. Readers have to allow the folder ([Policy.With]), unless it is in that of the shard. Earlier versions that are kept keep their files.
//
// Whatever fails, there is the old shard, and the new one or none; files of a shard that was not finished may be left, which [Collect] removes. If another
// writer replaced the old root meanwhile, the error wraps [storage.ErrChanged].
func Relocate(ctx context.Context, from, to string, o RelocateOptions) (all []RelocatedFile, err error) {
	if err := o.Open.check(); err != nil {
		return nil, err
	}
	if o.Open.Directory != nil {
		return nil, errors.New("RelocateOptions.Open.Directory is set: all shards in an artifact are relocated; Pack copies one of them")
	}
	ro := relocation.RelocateOptions{
		Open: o.Open.file(), To: o.To, Layout: o.Layout, Overwrite: o.Overwrite, Move: o.Move, Verify: o.Verify, DryRun: o.DryRun,
		Parallelism: o.Parallelism, Progress: o.Progress, Columns: o.Columns, Stripes: o.Stripes, Where: o.Where,
	}
	if !ro.Parts() {
		return relocation.Relocate(ctx, from, to, ro)
	}
	attempts, p := mostAttempts, (*relocation.Parts)(nil)
	if o.Stripes != nil { // which are others after some changes
		attempts = 1
	}
	o.Open.Policy, err = relocation.Allow(o.Open.Policy, to)
	if err = cmp.Or(err, replace(ctx, from, EditOptions{Open: o.Open, DryRun: o.DryRun}, attempts, func(s *Shard, r root.Root) (_ root.Root, err error) {
		p, r, err = relocation.NewParts(ctx, s.file, s.table, r, to, ro)
		if err == nil && p.None() {
			err = root.ErrNoChange
		}
		return r, err
	})); err != nil {
		return nil, err
	}
	return p.Finish(ctx)
}

// CollectOptions are the options of [Collect]. The zero value is the default: nothing is removed.
//
//	type CollectOptions struct {
//		Store  storage.Store // has the folders; by default the registered store of each
//		Policy Policy        // allows references outside of the folders of roots, as that of [OpenOptions]. It is needed only for metadata there.
//		Roots  []string      // further folders, whose roots may refer to files in the folder
//		// OlderThan is the age up to which files are kept, by default 24 hours. It must be longer than any writer takes: the root that refers to a stripe
//		// comes after it.
//		OlderThan time.Duration
//		Remove    bool // removes the files
//		// Progress is called with the number of roots that are read, and then of files that are removed, and of all. It may be nil.
//		Progress func(done, total int64)
//	}
type CollectOptions = relocation.CollectOptions

// Collected is what [Collect] has found.
//
//	type Collected struct {
//		Roots        []string       // locations of roots
//		Needed       []storage.Info // that roots refer to
//		Young        []storage.Info // that no root refers to, but which a writer may need yet
//		Unreferenced []storage.Info
//		Removed      int // of Unreferenced, from the first on
//	}
type Collected = relocation.Collected

// Collect finds the files of shards in a folder, and in the folders in it, that no root there refers to, and removes them if the options say so. Such are left
// by changed, replaced and removed shards, and by writers that failed. Only files that writers have named are removed: those whose names are 16
// hexadecimal digits and .amudai.stripe, .amudai.data or .amudai.index; and temporary files of writers that were killed.
//
// Content tells what is a root, and of each root all metadata is read. If one cannot be read, or a writer is at work in the folder ([storage.UnfinishedLister]),
// that is an error, and nothing is removed. If roots change while they are read, the error wraps [storage.ErrChanged].
//
// Roots in other folders are known only from CollectOptions.Roots. Readers that opened a shard before it was changed may need files of its old root.
func Collect(ctx context.Context, folder string, o CollectOptions) (Collected, error) {
	return relocation.Collect(ctx, folder, o)
}

// PackOptions are the options of [Pack]. The zero value is the default.
type PackOptions struct {
	Store     storage.Store // of the new artifact; by default the one that its location belongs to
	Overwrite bool
}

// Pack writes shards, of which there is at least one, to a new artifact, one behind the other. Encoded values are copied as they are, with their
// indexes and properties. [Open] opens the last one, and others by [OpenOptions.Directory]. Pack of one shard is a copy of it in a file of its own.
func Pack(ctx context.Context, location string, o PackOptions, shards ...*Shard) error {
	if len(shards) == 0 {
		return errors.New("there is no shard to pack")
	}
	roots := make([]root.Root, len(shards))
	for i, s := range shards {
		var err error
		if roots[i], err = root.Of(ctx, s.file); err != nil {
			return err
		}
	}
	return root.Publish(ctx, location, shardwriter.Options{Store: o.Store, Overwrite: o.Overwrite}, roots...)
}

// Directories are the directory ranges of the shards in an artifact, for [OpenOptions.Directory]: of all of them in order for an empty name, or of
// the one that is named by its number from 0, or by an @ and the end of its range, as in "@4096".
func Directories(ctx context.Context, location, name string, o OpenOptions) ([]ByteRange, error) {
	return shardfile.Directories(ctx, location, name, o.file())
}
