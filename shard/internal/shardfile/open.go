package shardfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/message"
	"github.com/amudai/amudai-go/storage"
)

// Range is the bytes of an artifact from Start up to, but not including, End.
type Range struct{ Start, End int64 }

// OpenOptions are the options of [Open]. The zero value selects the defaults.
type OpenOptions struct {
	// Store holds the artifacts. The default is the store of the location.
	Store storage.Store
	// Policy tells which artifacts outside the folder of the root a shard may refer to. The default is none.
	Policy container.Policy
	// Directory selects one of several shards in an artifact, by the range of its directory (docs/format.md §2.8). The default is the shard whose directory is at the end of the artifact.
	Directory *Range
	// SuffixBytes is the number of bytes at the end of the artifact that the first request reads, by default 64
	// KiB. A shard of that size is opened with one request.
	SuffixBytes int
	// CacheBytes limits the cache of parsed metadata, by default to 32 MiB.
	CacheBytes int64
	// MaxMessageBytes limits the size of a message of the metadata, by default to 256 MiB.
	MaxMessageBytes int64
	// IfMatch, if not empty, is the version that the root artifact has to have. Otherwise the error wraps [storage.ErrChanged].
	IfMatch storage.Version
}

func (o *OpenOptions) setDefaults(location string) (err error) {
	if d := o.Directory; d != nil && (d.Start < 0 || d.End < d.Start) {
		return fmt.Errorf("OpenOptions.Directory is not a range: %d to %d", d.Start, d.End)
	}
	if err := cmp.Or(
		option.SetDefault("OpenOptions.SuffixBytes", &o.SuffixBytes, 64<<10),
		option.SetDefault("OpenOptions.CacheBytes", &o.CacheBytes, 32<<20),
		option.SetDefault("OpenOptions.MaxMessageBytes", &o.MaxMessageBytes, 256<<20),
	); err != nil {
		return err
	}
	o.SuffixBytes = max(o.SuffixBytes, container.MinRootSize)
	o.Store, err = storage.Of(o.Store, location)
	return err
}

// Open reads the directory and the stripe list of a shard. That takes one request if the shard's metadata is
// within the first read.
//
// Errors about bytes of the shard are *[fault.Error]. If the artifact does not exist, the error wraps
// fs.ErrNotExist.
func Open(ctx context.Context, location string, o OpenOptions) (*File, error) {
	if err := o.setDefaults(location); err != nil {
		return nil, err
	}
	f, err := openRoot(ctx, location, o)
	if err != nil {
		return nil, err
	}
	if o.IfMatch != "" {
		v, err := f.root.Version(ctx)
		if err == nil && v != o.IfMatch {
			err = fmt.Errorf("%s: %w", location, storage.ErrChanged)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f.loaded(ctx)
}

// loaded is the file with its directory and stripes. After an error it is closed.
func (f *File) loaded(ctx context.Context) (*File, error) {
	if err := f.load(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func openRoot(ctx context.Context, location string, o OpenOptions) (*File, error) {
	url, err := storage.URL(location)
	if err != nil {
		return nil, err
	}
	r, err := o.Store.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	tail, size, err := r.ReadSuffix(ctx, o.SuffixBytes)
	if err != nil {
		r.Close()
		return nil, fault.Of(err, r.Name())
	}
	return newFile(o, location, &artifact{url: url, r: r, size: size, tail: tail, tailOff: size - int64(len(tail))}), nil
}

func newFile(o OpenOptions, location string, root *artifact) *File {
	root.reads = &reads{}
	return &File{
		o: o, root: root, reads: root.reads, location: location,
		opened: []*artifact{root}, artifacts: map[string]*parallel.Once[*artifact]{}, owners: map[descriptorPlace]int{},
		cache: lru.New[cacheKey, any](o.CacheBytes),
	}
}

// load checks header and footer of the root artifact, and reads directory and stripes.
func (f *File) load(ctx context.Context) error {
	if err := f.checkEnds(ctx); err != nil {
		return fault.Of(err, f.root.Name())
	}
	if err := f.loadDirectory(ctx); err != nil {
		return fault.Of(fault.In(err, "directory", f.directoryRange.Start), f.root.Name())
	}
	return f.loadStripes(ctx)
}

// checkEnds checks footer and header, and finds the directory. The header is checked later if it needs a request
// of its own.
func (f *File) checkEnds(ctx context.Context) error {
	a := f.root
	tail, err := a.read(ctx, max(a.size-container.TailSize, 0), a.size)
	if err != nil {
		return err
	}
	start, end, err := container.DirectoryRange(tail, a.size)
	if d := f.o.Directory; d != nil && err == nil {
		start, end, err = f.findDirectory(ctx, *d)
	}
	if err != nil {
		return err
	}
	f.directoryRange = Range{start, end + lengthSize}
	if a.held(0, container.MarkSize) != nil {
		return a.checkHeader(ctx)
	}
	return nil
}

// lengthSize is the size of the length field after the directory's frame.
const lengthSize = 4

// findDirectory finds the directory of one of several shards.
func (f *File) findDirectory(ctx context.Context, d Range) (start, end int64, err error) {
	if d.End > f.root.size-container.MarkSize || d.End-d.Start < lengthSize {
		return 0, 0, fault.Corruptf("directory range %d to %d does not fit into %d bytes", d.Start, d.End, f.root.size)
	}
	length, err := f.root.read(ctx, d.End-lengthSize, d.End)
	if err != nil {
		return 0, 0, err
	}
	start, end, err = container.DirectoryBefore(length, d.End)
	if err == nil && start < d.Start {
		err = fault.Corruptf("directory begins at %d, before its range at %d", start, d.Start)
	}
	return start, end, err
}

func (f *File) loadDirectory(ctx context.Context) error {
	frame, err := f.root.read(ctx, f.directoryRange.Start, f.directoryRange.End-lengthSize)
	if err != nil {
		return err
	}
	payload, err := container.ParseFrame(frame)
	if err != nil {
		return err
	}
	f.directory = &shardpb.ShardDirectory{}
	if err := message.Decode(payload, f.directory); err != nil {
		return err
	}
	return checkDirectory(f.directory)
}

func checkDirectory(d *shardpb.ShardDirectory) error {
	switch {
	case d.SchemaRef == nil:
		return fault.Corruptf("schema_ref is missing")
	case d.FieldListRef == nil:
		return fault.Corruptf("field_list_ref is missing")
	case d.StripeListRef == nil:
		return fault.Corruptf("stripe_list_ref is missing")
	case d.UrlListRef == nil:
		return fault.Corruptf("url_list_ref is missing")
	case d.TotalRecordCount > math.MaxInt64:
		return fault.Corruptf("total_record_count %d is too large", d.TotalRecordCount)
	case d.DeletedRecordCount > d.TotalRecordCount:
		return fault.Corruptf("%d of %d records are deleted", d.DeletedRecordCount, d.TotalRecordCount)
	}
	return nil
}

// loadStripes reads the stripe list and checks its consistency: the number of stripes, their counts and their
// positions.
func (f *File) loadStripes(ctx context.Context) error {
	var list shardpb.StripeList
	payload, at, err := f.frame(ctx, f.root, f.directory.StripeListRef, "stripe list", binding{})
	if err != nil {
		return err
	}
	f.listSum = container.Checksum(payload)
	if err = message.Decode(payload, &list); err == nil {
		err = f.checkStripes(list.Stripes, int64(f.directory.StripeListRef.GetRange().GetStart()))
	}
	if err != nil {
		return at.in(err, "stripe list", f.directory.StripeListRef)
	}
	position := int64(0)
	for i, d := range list.Stripes {
		f.stripes = append(f.stripes, &Stripe{f: f, index: i, directory: d, anchor: at, position: position})
		position += int64(d.TotalRecordCount)
	}
	return nil
}

// checkStripes checks the stripes of a list whose frame begins at offset at.
func (f *File) checkStripes(stripes []*shardpb.StripeDirectory, at int64) error {
	if uint64(len(stripes)) != f.directory.StripeCount {
		return fault.Corruptf("%d stripes, the directory has %d", len(stripes), f.directory.StripeCount)
	}
	var rows, deleted uint64
	for i, d := range stripes {
		var err error
		switch {
		case d.FieldListRef == nil:
			err = fault.Corruptf("field_list_ref is missing")
		case d.ShardPosition != rows:
			err = fault.Corruptf("shard_position is %d after %d records", d.ShardPosition, rows)
		case d.TotalRecordCount > f.directory.TotalRecordCount-rows:
			err = fault.Corruptf("%d records more than the %d of the directory", d.TotalRecordCount, f.directory.TotalRecordCount-rows)
		case d.DeletedRecordCount > d.TotalRecordCount:
			err = fault.Corruptf("%d of %d records are deleted", d.DeletedRecordCount, d.TotalRecordCount)
		default:
			err = message.CheckOrder(d.FieldListRef.GetUrl(), d.FieldListRef.GetRange().GetEnd(), at)
		}
		if err != nil {
			return fault.InStripe(err, i)
		}
		rows += d.TotalRecordCount
		deleted += d.DeletedRecordCount
	}
	if rows != f.directory.TotalRecordCount || deleted != f.directory.DeletedRecordCount {
		return fault.Corruptf("stripes have %d records, %d deleted; the directory has %d and %d",
			rows, deleted, f.directory.TotalRecordCount, f.directory.DeletedRecordCount)
	}
	return nil
}

const partLocation = "mem://part" // of a shard that is part of another artifact

// OpenIn opens a shard of a single file that is part of another artifact, such as an index: the one in a range of bytes or, if no header begins
// the range, the one at the end of the artifact. The artifact belongs to the caller, who keeps it open. Options.Store is not used.
func OpenIn(ctx context.Context, at storage.ByteRange, o OpenOptions) (*File, error) {
	err := o.setDefaults(partLocation)
	if err == nil {
		at, err = shardIn(ctx, at)
	}
	if err != nil {
		return nil, fault.Of(err, at.Reader.Name())
	}
	o.Store = nil
	root := &artifact{url: partLocation, r: borrowed{at.Reader}, base: at.Offset, size: at.Size, tailOff: max(at.Size-int64(o.SuffixBytes), 0)}
	if root.tail, err = storage.ReadRange(ctx, at.Reader, at.Offset+root.tailOff, at.Size-root.tailOff); err != nil {
		return nil, fault.Of(err, at.Reader.Name())
	}
	return newFile(o, partLocation, root).loaded(ctx)
}

// shardIn is the bytes of a shard that a reference of an index means.
func shardIn(ctx context.Context, at storage.ByteRange) (storage.ByteRange, error) {
	if at.Size >= container.MarkSize {
		head, err := storage.ReadRange(ctx, at.Reader, at.Offset, container.MarkSize)
		if err != nil {
			return at, err
		}
		if _, err := container.CheckMark(head, "header"); err == nil {
			return at, nil
		}
	}
	size, err := at.Reader.Size(ctx)
	return storage.ByteRange{Reader: at.Reader, Size: size}, err
}

// borrowed is a reader that another owner closes.
type borrowed struct{ storage.Reader }

func (borrowed) Close() error { return nil }
