package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/verify/internal/flips"
	"github.com/amudai/amudai-go/storage"
)

// explainOpen searches for a flipped bit if a shard cannot be opened: in the footer, the length of the directory,
// the directory or the stripe list.
func (v *verifier) explainOpen(ctx context.Context, location string, err error) error {
	store, serr := storage.Of(v.o.Open.Store, location)
	if serr != nil {
		return err
	}
	r, rerr := store.Open(ctx, location)
	if rerr != nil {
		return err
	}
	defer r.Close()
	if at, bit, ok := flippedMark(ctx, r); ok {
		return &FlippedBit{r.Name(), at, bit, err}
	}
	if v.o.Open.Directory == nil {
		if at, bit, ok := flippedTrailer(ctx, r); ok {
			return &FlippedBit{r.Name(), at, bit, err}
		}
	}
	var e *fault.Error
	if errors.As(err, &e) && e.Offset >= 0 {
		return v.explainFrame(ctx, r, e.Offset, err)
	}
	return err
}

// flippedMark compares header and footer with those of this version.
func flippedMark(ctx context.Context, r storage.Reader) (offset int64, bit int, ok bool) {
	size, err := r.Size(ctx)
	if err != nil || size < container.MinRootSize {
		return 0, 0, false
	}
	for _, at := range []int64{size - container.MarkSize, 0} {
		var b [container.MarkSize]byte
		if r.ReadAt(ctx, b[:], at) != nil {
			return 0, 0, false
		}
		d := binary.LittleEndian.Uint64(b[:]) ^ binary.LittleEndian.Uint64(container.Mark[:])
		if bits.OnesCount64(d) == 1 {
			k := bits.TrailingZeros64(d)
			return at + int64(k/8), k % 8, true
		}
	}
	return 0, 0, false
}

// flippedTrailer searches for a bit in the length of the directory that makes the directory valid.
func flippedTrailer(ctx context.Context, r storage.Reader) (offset int64, bit int, ok bool) {
	size, err := r.Size(ctx)
	if err != nil || size < container.MinRootSize {
		return 0, 0, false
	}
	end := size - container.TailSize
	var length [4]byte
	if r.ReadAt(ctx, length[:], end) != nil {
		return 0, 0, false
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
			return end + int64(k/8), k % 8, true
		}
	}
	return 0, 0, false
}

// explainFrame searches for a flipped bit that explains the damage of the frame at offset: first in its length, then after it.
func (v *verifier) explainFrame(ctx context.Context, r storage.Reader, offset int64, damage error) error {
	size, err := r.Size(ctx)
	var length [4]byte
	if err != nil || r.ReadAt(ctx, length[:], offset) != nil {
		return damage
	}
	n := binary.LittleEndian.Uint32(length[:])
	read := func(n uint32) []byte {
		end := offset + int64(n) + container.FrameExtra
		if n > flips.Largest || end > size {
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
				return &FlippedBit{r.Name(), offset + int64(k/8), k % 8, damage}
			}
		}
	}
	if b := read(n); b != nil {
		if at, bit, ok := v.flips.Frame(ctx, b); ok {
			return &FlippedBit{r.Name(), offset + int64(at), bit, damage}
		}
	}
	return damage
}
