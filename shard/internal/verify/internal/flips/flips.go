// Package flips finds the single flipped bits that explain why bytes do not match their checksums.
package flips

import (
	"context"
	"encoding/binary"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
)

const (
	// Largest is the size of the largest region that is searched for a flipped bit.
	Largest = 128 << 10
	// maxFlipWork limits the bytes hashed by all searches of a verification, which takes some seconds: one search
	// of a largest region, or many of small ones.
	maxFlipWork = 128 << 30
)

// Search searches for flipped bits within a limit of work.
type Search struct{ work atomic.Int64 }

// Frame explains a frame whose payload does not match its checksum. region is the whole frame. at is the index of
// the byte.
//
//	u32 length | payload | u32 checksum
func (s *Search) Frame(ctx context.Context, region []byte) (at, bit int, ok bool) {
	if len(region) < container.FrameExtra {
		return 0, 0, false
	}
	n := uint32(len(region) - container.FrameExtra)
	payload, sum := region[4:4+n], binary.LittleEndian.Uint32(region[4+n:])
	if length := binary.LittleEndian.Uint32(region); length != n {
		if d := length ^ n; bits.OnesCount32(d) == 1 && container.Checksum(payload) == sum {
			k := bits.TrailingZeros32(d)
			return k / 8, k % 8, true
		}
		return 0, 0, false
	}
	at, bit, ok = s.Checked(ctx, region[4:])
	return at + 4, bit, ok
}

// Checked explains bytes that are followed by their checksum.
func (s *Search) Checked(ctx context.Context, region []byte) (at, bit int, ok bool) {
	n := len(region) - 4
	if n < 0 {
		return 0, 0, false
	}
	sum := binary.LittleEndian.Uint32(region[n:])
	if d := container.Checksum(region[:n]) ^ sum; bits.OnesCount32(d) == 1 {
		k := bits.TrailingZeros32(d)
		return n + k/8, k % 8, true
	}
	work := 8 * int64(n) * int64(n)
	if n > Largest {
		return 0, 0, false
	}
	if s.work.Add(work) > maxFlipWork { // a smaller region may still be searched
		s.work.Add(-work)
		return 0, 0, false
	}
	return flip(ctx, region[:n], sum)
}

// Dictionary explains a value dictionary.
func (s *Search) Dictionary(ctx context.Context, b []byte) (at, bit int, ok bool) {
	for _, p := range dictionary.Parts(b) {
		n := p.End - p.Start
		if n > p.Room {
			continue
		}
		bytes, sum := b[p.Start:p.End:p.End], b[p.Sum:p.Sum+4]
		if container.Checksum(bytes) == binary.LittleEndian.Uint32(sum) {
			continue
		}
		at, bit, ok = s.Checked(ctx, append(bytes, sum...))
		if at >= n { // in the checksum, which may follow after a gap
			return p.Sum + at - n, bit, ok
		}
		return p.Start + at, bit, ok
	}
	return 0, 0, false
}

// RangeIndex explains a range index.
func (s *Search) RangeIndex(ctx context.Context, b []byte) (at, bit int, ok bool) {
	for _, p := range numrange.Payloads(b) {
		payload := b[p.Start:p.End]
		n := len(payload) - 4
		if n > 0 && container.Checksum(payload[:n]) != binary.LittleEndian.Uint32(payload[n:]) {
			at, bit, ok = s.Checked(ctx, payload)
			return p.Start + at, bit, ok
		}
	}
	return 0, 0, false
}

// flip tries every bit, in parallel.
func flip(ctx context.Context, b []byte, sum uint32) (at, bit int, ok bool) {
	var found atomic.Int64
	found.Store(-1)
	parts := max(1, min(runtime.GOMAXPROCS(0), len(b)/1024))
	_ = parallel.Each(ctx, parts, parts, func(ctx context.Context, part int) error { // a failed search finds nothing
		own := slices.Clone(b)
		for i := len(b) * part / parts; i < len(b)*(part+1)/parts && found.Load() < 0; i++ {
			if i%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			for k := range 8 {
				own[i] ^= 1 << k
				if container.Checksum(own) == sum {
					found.Store(int64(i)*8 + int64(k))
				}
				own[i] ^= 1 << k
			}
		}
		return nil
	})
	f := found.Load()
	return int(f / 8), int(f % 8), f >= 0
}
