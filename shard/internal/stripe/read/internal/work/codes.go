package work

import (
	"context"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
)

// Codes returns those of the needed rows of a block. They are valid until the next call.
func Codes(w *Worker, data *blocks.Reader, p *blocks.Part, block []byte) ([]uint32, error) {
	if p.Sparse() {
		codes := scratch.Slice(&w.Codes, p.Count)
		_, err := numeric.DecodeRows(codes, nil, 0, block, p.N, p.Rows, data.Options, &w.Numeric)
		return codes, err
	}
	codes := scratch.Slice(&w.Codes, p.N)
	if _, err := numeric.DecodeBlock(codes, nil, 0, block, data.Options, &w.Numeric); err != nil {
		return nil, err
	}
	if p.Whole() {
		return codes, nil
	}
	rowset.Pick(codes, codes, p.Rows) // they move to the front
	return codes[:p.Count], nil
}

// EachCodes calls f with the codes of the needed rows of each block.
func EachCodes(ctx context.Context, w *Worker, data *blocks.Reader, rows rowset.Set, f func(p *blocks.Part, codes []uint32) error) error {
	return data.Each(ctx, &w.Scratch, rows, func(p *blocks.Part, block []byte) error {
		codes, err := Codes(w, data, p, block)
		if err != nil {
			return err
		}
		return f(p, codes)
	})
}

// SelectCodes returns a bit for each of the rows, set if keep has a 1 for its code.
func SelectCodes(ctx context.Context, data *blocks.Reader, w *Worker, rows rowset.Set, keep []byte) ([]byte, error) {
	if in := rangesOf(keep); len(in) <= fewRanges && 2*rows.Len() >= rows.Bounds().Len() {
		return SelectRanges(ctx, data, w, rows, in)
	}
	bits := scratch.Slice(&w.Selected, int(rows.Len()+63)/64*8)
	return bits, EachCodes(ctx, w, data, rows, func(p *blocks.Part, codes []uint32) error { return putKept(bits, p.At, codes, keep) })
}

// fewRanges is how many ranges of codes are compared rather than looked up.
const fewRanges = 4

// rangesOf are the codes to be kept.
func rangesOf(keep []byte) (in []numeric.Interval[uint32]) {
	for i, k := range keep {
		switch code := uint32(i); {
		case k == 0:
		case i > 0 && keep[i-1] != 0:
			in[len(in)-1].High = code
		default:
			in = append(in, numeric.Interval[uint32]{Low: code, High: code})
		}
	}
	return in
}

// putKept writes a bit a code, set for those that are kept, from bit at on.
func putKept(bits []byte, at int, codes []uint32, keep []byte) error {
	for i := 0; i < len(codes); i += 64 {
		part := codes[i:min(i+64, len(codes))]
		word := uint64(0)
		for k, code := range part {
			if uint64(code) >= uint64(len(keep)) {
				return fault.Corruptf("code %d of a dictionary of %d entries", code, len(keep))
			}
			word |= uint64(keep[code]) << (k & 63)
		}
		bitmap.PutWord(bits, at+i, word, len(part))
	}
	return nil
}
