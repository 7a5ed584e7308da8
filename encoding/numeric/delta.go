package numeric

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Delta, code 5, integers (T of size bytes):
//
//	05 00 | T first value | zeros up to 8, or 16 if size is 8 | tree of n-1 T: next - value, wrapping
//
// Example, int64 100 to 109, the differences as SingleValue:
//
//	05 00 | 64 00 00 00 00 00 00 00 | 6 zeros | 07 00 01 00 00 00 00 00 00 00
func decodeDelta[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	header, payload, err := split(tree, sizeOf[U]())
	if err != nil {
		return err
	}
	if len(dst) == 0 {
		return fault.Corruptf("differences without a first value")
	}
	sum := loadOne[U](header)
	dst[0] = sum
	dst = dst[1:]
	p, ok, err := parsePacked[U](payload, t, len(dst))
	if err != nil {
		return err
	}
	if !ok {
		if err := decode(dst, payload, t, s); err != nil {
			return err
		}
		prefixSum(dst, sum)
		return nil
	}
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		c := dst[at:min(at+fastlanes.ChunkLen, len(dst))]
		p.chunk(c, at, s)
		sum = prefixSum(c, sum)
	}
	return nil
}

// Ascends tells whether a tree of n uint64 that decodes shows by its form that each is at
// least the one before, and all are less than 2^63: packed differences too small to wrap.
// Others may ascend, too.
func Ascends(tree []byte, n int) bool {
	if peek(tree) != encoding.Delta {
		return false
	}
	header, payload, err := split(tree, 8)
	if err != nil || loadOne[uint64](header) > 1<<62 {
		return false
	}
	p, ok, err := parsePacked[uint64](payload, U64, n-1)
	return ok && err == nil && p.w <= 30 && p.base <= 1<<30 && int64(n) <= 1<<31
}

// prefixSum turns differences into values, in place, and returns the last.
func prefixSum[U word](dst []U, sum U) U {
	for i, d := range dst {
		sum += d
		dst[i] = sum
	}
	return sum
}

func appendDelta[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	if len(in.values) < 2 {
		return appendPlain(dst, in.values)
	}
	mark := e.scratch.mark()
	diffs := take[U](&e.scratch, len(in.values)-1)
	last := in.values[0]
	for i, v := range in.values[1:] {
		diffs[i] = v - last
		last = v
	}
	start := len(dst)
	dst = padTree(storeOne(appendCode(dst, encoding.Delta), in.values[0]), start)
	child := in.child(diffs, in.t, encoding.Delta, 0)
	child.wrap = true
	dst = appendTree(e, dst, child, p.kids[0])
	e.scratch.release(mark)
	return dst
}
