package onpair

import (
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Decoder turns codes back into strings, once Reset has given it a dictionary. It is
// safe for concurrent use, other than Reset.
type Decoder struct {
	tokens  [][MaxTokenLen]byte
	lengths []uint8
}

// Reset takes another dictionary, as it is stored.
func (d *Decoder) Reset(heads, rest []byte) error {
	if len(heads) > MaxTokens {
		return fault.Corruptf("OnPair dictionary of %d tokens", len(heads))
	}
	d.tokens, d.lengths = scratch.Slice(&d.tokens, len(heads)), scratch.Slice(&d.lengths, len(heads))
	var last token
	at := 0
	for i, head := range heads {
		shared, n := int(head&15), int(head>>4)+1
		own := n - shared
		if own <= 0 || shared > int(last.length) || own > len(rest)-at {
			return fault.Corruptf("OnPair token %d of %d bytes shares %d with one of %d, and %d follow", i, n, shared, last.length, len(rest)-at)
		}
		last = join(last.first(shared), token{load(rest, at), load(rest, at+8), MaxTokenLen}.first(own))
		d.tokens[i], d.lengths[i] = last.bytes(), last.length
		at += own
	}
	if at < len(rest) {
		return fault.Corruptf("OnPair dictionary has %d bytes behind its tokens", len(rest)-at)
	}
	return nil
}

// Check demands that codes are those of tokens. The other methods must not be called for codes that it did not see.
func (d *Decoder) Check(codes []uint16) error {
	n := len(d.lengths)
	bad := uint64(0)
	if n <= 1<<15 {
		// Four codes at a time. The highest bit tells which are too large, with what n lacks to 2^15 added, or as they are.
		const each = 0x0001_0001_0001_0001
		words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes)/4)
		for _, w := range words {
			bad |= w | (w + uint64(1<<15-n)*each)
		}
		bad &= 1 << 15 * each
		codes = codes[4*len(words):]
	}
	for _, c := range codes {
		if int(c) >= n {
			bad = 1
		}
	}
	if bad != 0 {
		return fault.Corruptf("OnPair code in a dictionary of %d is too large", n)
	}
	return nil
}

// Len is how many bytes codes stand for.
func (d *Decoder) Len(codes []uint16) (n int) {
	for _, c := range codes {
		n += int(d.lengths[c])
	}
	return n
}

// Decode writes what codes stand for to dst from at on, and to ends[i] where the token of codes[i] ends. It returns where the last one
// does. Bytes of dst beyond its length, up to its capacity, may be overwritten with anything.
func (d *Decoder) Decode(dst []byte, at int, codes []uint16, ends []uint32) (int, error) {
	ends = ends[:len(codes)]
	for len(codes) > 0 {
		n := min((cap(dst)-at)/MaxTokenLen, len(codes)) // so many have room whatever their lengths
		if n == 0 {
			return d.decodeSlow(dst, at, codes, ends)
		}
		at = d.decodeFast(dst[:cap(dst)], at, codes[:n], ends)
		codes, ends = codes[n:], ends[n:]
	}
	if at > len(dst) {
		return at, fault.Corruptf("OnPair codes give %d bytes or more instead of %d", at, len(dst))
	}
	return at, nil
}

// decodeFast decodes codes that there is room for. It works with addresses, so that a code takes eight instructions.
func (d *Decoder) decodeFast(dst []byte, at int, codes []uint16, ends []uint32) int {
	out := unsafe.Pointer(unsafe.SliceData(dst))
	tokens := unsafe.Pointer(unsafe.SliceData(d.tokens))
	lengths := unsafe.Pointer(unsafe.SliceData(d.lengths))
	ends = ends[:len(codes)]
	for i, c := range codes {
		*(*[MaxTokenLen]byte)(unsafe.Add(out, at)) = *(*[MaxTokenLen]byte)(unsafe.Add(tokens, int(c)*MaxTokenLen))
		at += int(*(*uint8)(unsafe.Add(lengths, int(c))))
		ends[i] = uint32(at)
	}
	return at
}

// decodeSlow decodes codes with no byte too many.
func (d *Decoder) decodeSlow(dst []byte, at int, codes []uint16, ends []uint32) (int, error) {
	for i, c := range codes {
		n := int(d.lengths[c])
		if at > len(dst) || n > len(dst)-at {
			return at, fault.Corruptf("OnPair codes give more than %d bytes", len(dst))
		}
		copy(dst[at:], d.tokens[c][:n])
		at += n
		ends[i] = uint32(at)
	}
	return at, nil
}
