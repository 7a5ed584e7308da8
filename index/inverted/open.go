package inverted

import (
	"context"
	"io/fs"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/index/analysis"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe/read"
)

// Index is an open index. Its methods may be called concurrently.
type Index struct {
	Collation analysis.Collation
	Rows      int64 // of the shard that is indexed
	Pages     int64 // of the tree
	Positions int64 // numbers in all lists

	level, entries, start *read.Column // nil without pages
	positions             *read.Column // nil without positions
	cache                 *lru.Cache[int64, *page]
}

// cacheBytes is the memory for pages that were read.
const cacheBytes = 1 << 20

// maxPageBytes bounds what a page takes as Arrow arrays. Pages have about 8 KiB.
const maxPageBytes = 16 << 20

// Open opens the index in two artifacts, of a shard with so many rows. Each is a shard: the one in the range or, as in
// descriptions that the reference makes, the one at the end of its file if none begins with the range.
func Open(ctx context.Context, terms, positions storage.ByteRange, c analysis.Collation, rows int64) (*Index, error) {
	x := &Index{Collation: c, Rows: rows, cache: lru.New[int64, *page](cacheBytes)}
	columns, n, err := openShard(ctx, terms, termsSchema)
	if err != nil {
		return nil, err
	}
	if x.Pages = n; n > 0 {
		x.level, x.entries, x.start = columns[0], columns[1], columns[2]
	}
	if columns, n, err = openShard(ctx, positions, positionsSchema); err != nil {
		return nil, err
	}
	if x.Positions = n; n > 0 {
		x.positions = columns[0]
	}
	return x, nil
}

// openShard opens the columns of a shard of up to one stripe, which has a schema.
func openShard(ctx context.Context, at storage.ByteRange, s *arrow.Schema) (columns []*read.Column, rows int64, err error) {
	name := at.Reader.Name()
	if at, err = shardIn(ctx, at); err != nil {
		return nil, 0, fault.Of(err, name)
	}
	f, err := shardfile.Open(ctx, shardLocation, shardfile.OpenOptions{Store: oneShard{at}, CacheBytes: cacheBytes})
	if err != nil {
		return nil, 0, err
	}
	stored, err := f.Schema(ctx)
	if err != nil {
		return nil, 0, err
	}
	have, mapped, err := arrowmap.ToArrow(stored, arrowmap.ReadOptions{IgnoreAnnotations: true})
	if err != nil {
		return nil, 0, fault.Of(err, name)
	}
	if have.NumFields() != s.NumFields() || f.NumStripes() > 1 {
		return nil, 0, fault.Of(fault.Corruptf("inverted index of %d columns and %d stripes", have.NumFields(), f.NumStripes()), name)
	}
	for i, want := range s.Fields() {
		if got := have.Field(i); got.Name != want.Name || !arrow.TypeEqual(got.Type, want.Type) {
			return nil, 0, fault.Of(fault.Corruptf("inverted index with a column %q of %v", got.Name, got.Type), name)
		}
	}
	if f.NumStripes() == 0 || f.Rows() == 0 {
		return nil, 0, nil
	}
	for _, c := range mapped {
		open, err := read.OpenColumn(ctx, f.Stripe(0), c, read.Options{MaxArrayBytes: maxPageBytes})
		if err != nil {
			return nil, 0, err
		}
		columns = append(columns, open)
	}
	return columns, f.Rows(), nil
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

// shardLocation is the location of the shard in a [oneShard].
const shardLocation = "mem://index"

// oneShard is a store of the shard in a range of bytes.
type oneShard struct{ at storage.ByteRange }

func (s oneShard) Open(_ context.Context, location string) (storage.Reader, error) {
	if location != shardLocation {
		return nil, fault.Unsupportedf("inverted index of several files")
	}
	return part{s.at}, nil
}

func (oneShard) Create(context.Context, string, storage.CreateOptions) (storage.Writer, error) {
	return nil, fs.ErrPermission
}

func (oneShard) Remove(context.Context, string) error { return fs.ErrPermission }

func (oneShard) List(context.Context, string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, fs.ErrPermission) }
}

// part is a range of bytes as an artifact.
type part struct{ at storage.ByteRange }

func (p part) ReadAt(ctx context.Context, b []byte, off int64) error {
	if err := storage.CheckRange(off, int64(len(b)), p.at.Size); err != nil {
		return err
	}
	return p.at.Reader.ReadAt(ctx, b, p.at.Offset+off)
}

func (p part) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	size := min(int64(n), p.at.Size)
	tail, err := storage.ReadRange(ctx, p.at.Reader, p.at.Offset+p.at.Size-size, size)
	return tail, p.at.Size, err
}

func (p part) Size(context.Context) (int64, error) { return p.at.Size, nil }

func (p part) Version(ctx context.Context) (storage.Version, error) { return p.at.Reader.Version(ctx) }

func (p part) Name() string { return p.at.Reader.Name() }

func (p part) Capabilities() storage.Capabilities { return p.at.Reader.Capabilities() }

func (part) Close() error { return nil } // the artifact belongs to the caller of Open
