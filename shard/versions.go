package shard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/root"
)

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
