// Package readahead reads what is looked at next of a shard in a store, as much at a time as fits into memory.
package readahead

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// aheadBytes is the most that is read ahead.
const aheadBytes = 64 << 20

// Ahead reads over a network ahead of one who looks at the columns of stripes in turn: all bytes of as many as fit are asked for at the same time. Other
// files are read as they are looked at.
type Ahead struct {
	f       *shardfile.File
	stripes []*shardfile.Stripe
	columns int
	ranges  columnRanges
	end     int // of the columns whose bytes are there, counted through all stripes
}

type columnRanges = func(ctx context.Context, dst []storage.ByteRange, s *shardfile.Stripe, column int) ([]storage.ByteRange, error)

// New reads the descriptors of nodes of the stripes, and begins before their first column. ranges appends those of the bytes of a column in a stripe, as far
// as they are sound. There may be one of a file at a time.
func New(ctx context.Context, f *shardfile.File, stripes []*shardfile.Stripe, ids []uint32, columns int, ranges columnRanges) (*Ahead, error) {
	a := &Ahead{f: f, stripes: stripes, columns: columns, ranges: ranges}
	if f.Root().Capabilities().Latency != storage.LatencyHigh {
		a.end = len(stripes) * columns
		return a, nil
	}
	return a, parallel.Each(ctx, len(stripes), storage.RemoteRequests, func(ctx context.Context, i int) error {
		return unlessDamage(stripes[i].Prefetch(ctx, ids))
	})
}

// Next sees to the bytes of a column of the stripe with a number among those of a, and returns the end of the columns of this stripe whose bytes are there.
func (a *Ahead) Next(ctx context.Context, stripe, column int) (end int, err error) {
	first := stripe * a.columns
	if at := first + column; at >= a.end {
		err = a.read(ctx, at)
	}
	return min(a.end-first, a.columns), err
}

func (a *Ahead) read(ctx context.Context, from int) error {
	a.f.Hold(nil)
	var all []storage.ByteRange
	for a.end = from; a.end < len(a.stripes)*a.columns; a.end++ {
		n := len(all)
		more, err := a.ranges(ctx, all, a.stripes[a.end/a.columns], a.end%a.columns)
		if err := unlessDamage(err); err != nil {
			return err
		}
		if n > 0 && storage.TotalSize(more) > aheadBytes {
			break
		}
		all = more
	}
	return Read(ctx, a.f, all)
}

// Read has ranges of bytes at hand that are read next, in place of earlier ones, if they are in a store. Ranges that do not fit their artifact, or
// into memory, are left to these reads.
func Read(ctx context.Context, f *shardfile.File, ranges []storage.ByteRange) error {
	latency := f.Root().Capabilities().Latency
	if latency != storage.LatencyHigh {
		return nil
	}
	left := int64(aheadBytes)
	ranges = slices.DeleteFunc(ranges, func(r storage.ByteRange) bool {
		fits := r.Size <= left
		if fits {
			left -= r.Size
		}
		return !fits
	})
	read, err := storage.Prefetch(ctx, ranges, storage.DefaultCoalesce(latency))
	f.Hold(read)
	return unlessDamage(err)
}

// unlessDamage is an error, unless whoever looks at the damaged part finds it again.
func unlessDamage(err error) error {
	if fault.Is(err) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
