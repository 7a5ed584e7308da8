package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// explainOpen searches for a flipped bit if a shard cannot be opened: in the footer, the length of the directory,
// the directory or the stripe list.
func (v *verifier) explainOpen(ctx context.Context, location string, err error) Finding {
	finding := Finding{Err: err}
	r, rerr := openReader(ctx, location, v.o.Open)
	if rerr != nil {
		return finding
	}
	defer r.Close()
	if finding.Bit = explainMarks(ctx, r); finding.Bit != nil {
		return finding
	}
	if v.o.Open.Directory == nil {
		if finding.Bit = explainTrailer(ctx, r); finding.Bit != nil {
			return finding
		}
	}
	var e *fault.Error
	if errors.As(err, &e) && e.Offset >= 0 {
		finding.Bit = v.explainFrameAt(ctx, r, e.Offset)
	}
	return finding
}

// explainMarks compares header and footer with those of this version.
func explainMarks(ctx context.Context, r storage.Reader) *FlippedBit {
	size, err := r.Size(ctx)
	if err != nil || size < container.MinRootSize {
		return nil
	}
	for _, at := range []int64{size - container.MarkSize, 0} {
		var b [container.MarkSize]byte
		if r.ReadAt(ctx, b[:], at) != nil {
			return nil
		}
		d := binary.LittleEndian.Uint64(b[:]) ^ binary.LittleEndian.Uint64(container.Mark[:])
		if bits.OnesCount64(d) == 1 {
			k := bits.TrailingZeros64(d)
			return &FlippedBit{r.Name(), at + int64(k/8), k % 8}
		}
	}
	return nil
}

// explainTrailer searches for a bit in the length of the directory that makes the directory valid.
func explainTrailer(ctx context.Context, r storage.Reader) *FlippedBit {
	size, err := r.Size(ctx)
	if err != nil || size < container.MinRootSize {
		return nil
	}
	end := size - container.TailSize
	var length [4]byte
	if r.ReadAt(ctx, length[:], end) != nil {
		return nil
	}
	n := binary.LittleEndian.Uint32(length[:])
	for k := range 32 {
		m := int64(n ^ 1<<k)
		start := end - m - container.FrameExtra
		if m >= container.MaxDirectory || start < container.MarkSize {
			continue
		}
		frame := make([]byte, end-start)
		if r.ReadAt(ctx, frame, start) != nil {
			continue
		}
		if _, err := container.ParseFrame(frame); err == nil {
			return &FlippedBit{r.Name(), end + int64(k/8), k % 8}
		}
	}
	return nil
}

// explainFrameAt searches for a flipped bit in the frame at offset: first in its length, then after it.
func (v *verifier) explainFrameAt(ctx context.Context, r storage.Reader, offset int64) *FlippedBit {
	size, err := r.Size(ctx)
	var length [4]byte
	if err != nil || r.ReadAt(ctx, length[:], offset) != nil {
		return nil
	}
	n := binary.LittleEndian.Uint32(length[:])
	read := func(n uint32) []byte {
		end := offset + int64(n) + container.FrameExtra
		if n > maxFlip || end > size {
			return nil
		}
		b := make([]byte, end-offset)
		if r.ReadAt(ctx, b, offset) != nil {
			return nil
		}
		binary.LittleEndian.PutUint32(b, n)
		return b
	}
	for k := range 32 {
		if b := read(n ^ 1<<k); b != nil {
			if _, err := container.ParseFrame(b); err == nil {
				return &FlippedBit{r.Name(), offset + int64(k/8), k % 8}
			}
		}
	}
	if b := read(n); b != nil {
		if at, bit, ok := v.flips.frame(ctx, b); ok {
			return &FlippedBit{r.Name(), offset + int64(at), bit}
		}
	}
	return nil
}

func openReader(ctx context.Context, location string, o shardfile.OpenOptions) (storage.Reader, error) {
	store := o.Store
	if store == nil {
		var err error
		if store, err = storage.ForLocation(location); err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, location)
}
