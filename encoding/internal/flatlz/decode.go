package flatlz

import (
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	chunk = minBack // bytes copied at a time

	// Maximum bytes that a sequence reads of literals, and writes, including bytes copied beyond its length.
	literalRoom = maxLiterals + 2*chunk
	outputRoom  = maxLiterals + maxMatch + 4*chunk
)

// Decode unpacks a stream to dst, which must have the unpacked size. Bytes of dst beyond it, up to its capacity, may
// be overwritten with arbitrary values. Bytes behind literals, up to their capacity, may be read. Errors wrap
// fault.ErrCorrupt.
func Decode(dst, sequences, literals []byte) error {
	d, l, err := decode(dst, sequences, literals, false)
	if err == nil && (d != len(dst) || l != len(literals)) {
		return fault.Corruptf("sequences stand for %d of %d bytes, and %d of %d literals", d, len(dst), l, len(literals))
	}
	return err
}

// DecodePrefix unpacks the first len(dst) bytes of a stream, and ignores the rest.
func DecodePrefix(dst, sequences, literals []byte) error {
	d, _, err := decode(dst, sequences, literals, true)
	if err == nil && d != len(dst) {
		return fault.Corruptf("sequences stand for %d bytes, %d are needed", d, len(dst))
	}
	return err
}

// decode unpacks all sequences, or those of a prefix. It returns the numbers of unpacked bytes and of used literals.
func decode(dst, sequences, literals []byte, prefix bool) (d, l int, err error) {
	if len(sequences)%SequenceLen != 0 {
		return 0, 0, fault.Corruptf("sequences of %d bytes", len(sequences))
	}
	d, l, rest := decodeFast(dst[:cap(dst)], len(dst), sequences, literals[:cap(literals)])
	if l > len(literals) || d > len(dst) {
		return 0, 0, fault.Corruptf("more than %d literals, or %d bytes", len(literals), len(dst))
	}
	for ; len(rest) > 0; rest = rest[SequenceLen:] {
		n, m, back := int(rest[0]), int(rest[1]), int(le.Uint16(rest[2:]))
		if room := len(dst) - d; prefix && n+m > room {
			n = min(n, room)
			m = room - n
		}
		if n > len(literals)-l || n+m > len(dst)-d {
			return 0, 0, fault.Corruptf("%d literals and a match of %d bytes, at %d of %d", n, m, d, len(dst))
		}
		d += copy(dst[d:], literals[l:l+n])
		l += n
		if back < minBack || m > 0 && back > d {
			return 0, 0, fault.Corruptf("match %d bytes back, at %d", back, d)
		}
		for end := d + m; d < end; {
			d += copy(dst[d:end], dst[d-back:d])
		}
		if prefix && d == len(dst) {
			break
		}
	}
	return d, l, nil
}

// decodeFast decodes sequences while their copies, which may exceed their length, stay within the buffers. It returns
// the number of bytes in room, the number of used literals, and the remaining sequences: the last ones, or all from
// one with an invalid match.
func decodeFast(room []byte, limit int, seqs, literals []byte) (d, l int, rest []byte) {
	lastOut, lastLiteral := min(limit, len(room)-outputRoom), len(literals)-literalRoom
	for {
		safe := min((lastOut-d)/(maxLiterals+maxMatch), (lastLiteral-l)/maxLiterals, len(seqs)/SequenceLen)
		if safe <= 0 {
			return d, l, seqs
		}
		n, lits, done := decodeSafe(room, d, literals[l:], seqs[:SequenceLen*safe])
		d += n
		l += lits
		if seqs = seqs[SequenceLen*done:]; done < safe {
			return d, l, seqs
		}
	}
}

// decodeSafe decodes sequences that fit, byte by byte at the ends. It returns the number of unpacked bytes, the
// number of used literals, and the number of sequences.
func decodeSafe(room []byte, d int, literals, seqs []byte) (n, lits, done int) {
	start, lit := unsafe.Pointer(unsafe.SliceData(room)), unsafe.Pointer(unsafe.SliceData(literals))
	first, out := lit, unsafe.Add(start, d)
	for _, bytes := range unsafe.Slice((*[SequenceLen]byte)(unsafe.Pointer(unsafe.SliceData(seqs))), len(seqs)/SequenceLen) {
		seq := le.Uint32(bytes[:])
		lits, match, back := uintptr(seq&255), uintptr(seq>>8&255), uintptr(seq>>16)
		copyChunk(out, lit)
		copyChunk(unsafe.Add(out, chunk), unsafe.Add(lit, chunk))
		for i := uintptr(2 * chunk); i < lits; i += chunk {
			copyChunk(unsafe.Add(out, i), unsafe.Add(lit, i))
		}
		to := unsafe.Add(out, lits)
		if back > uintptr(to)-uintptr(start) || back < minBack {
			break
		}
		lit = unsafe.Add(lit, lits)
		from := unsafe.Pointer(uintptr(to) - back)
		copyChunk(to, from)
		copyChunk(unsafe.Add(to, chunk), unsafe.Add(from, chunk))
		copyChunk(unsafe.Add(to, 2*chunk), unsafe.Add(from, 2*chunk))
		copyChunk(unsafe.Add(to, 3*chunk), unsafe.Add(from, 3*chunk))
		for i := uintptr(4 * chunk); i < match; i += chunk {
			copyChunk(unsafe.Add(to, i), unsafe.Add(from, i))
		}
		out = unsafe.Add(to, match)
		done++
	}
	return int(uintptr(out)-uintptr(start)) - d, int(uintptr(lit) - uintptr(first)), done
}

// copyChunk copies chunk bytes.
func copyChunk(to, from unsafe.Pointer) { *(*[chunk]byte)(to) = *(*[chunk]byte)(from) }
