package template

import "unsafe"

// Expand writes the values of codes, which are in the set, back to back to dst,
// and takes their digits, of which there are enough, from the beginning of
// digits. It reads up to Slack bytes behind digits, and writes up to Slack bytes
// behind the values, or with exact none.
func (s *Set) Expand(dst []byte, codes []uint32, digits []byte, exact bool) {
	if !exact && !s.divided {
		s.values += len(codes)
		if exact = s.values < fewValues; !exact {
			s.divide()
		}
	}
	switch {
	case exact:
		s.expandExactly(dst, codes, digits)
	case avx2:
		s.expandChunks(dst, codes, digits)
	default:
		s.expandPieces(dst, codes, digits)
	}
}

// expandPieces is Expand in plain Go, of a set that has pieces.
func (s *Set) expandPieces(dst []byte, codes []uint32, digits []byte) {
	out, d := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(digits))
	text, pieces := unsafe.Pointer(unsafe.SliceData(s.text)), unsafe.Pointer(unsafe.SliceData(s.pieces))
	const pieceLen = unsafe.Sizeof(piece{})
	sizes := s.sizes
	for _, c := range codes {
		from := unsafe.Add(text, sizes[c].start)
		p := unsafe.Add(pieces, pieceLen*uintptr(sizes[c].piece))
		end := unsafe.Add(pieces, pieceLen*uintptr(sizes[c+1].piece))
		for ; p != end; p = unsafe.Add(p, pieceLen) {
			n, k := uintptr((*piece)(p).text), uintptr((*piece)(p).digits)
			copyWide(out, from)
			if n > wide {
				copyWide(unsafe.Add(out, wide), unsafe.Add(from, wide))
				copyWide(unsafe.Add(out, 2*wide), unsafe.Add(from, 2*wide))
				copyWide(unsafe.Add(out, 3*wide), unsafe.Add(from, 3*wide))
				for i := uintptr(4 * wide); i < n; i += wide {
					copyWide(unsafe.Add(out, i), unsafe.Add(from, i))
				}
			}
			copyWide(unsafe.Add(out, n), d)
			n += k
			out, from, d = unsafe.Add(out, n), unsafe.Add(from, n), unsafe.Add(d, k)
		}
	}
}

// expandExactly writes no byte too many.
func (s *Set) expandExactly(dst []byte, codes []uint32, digits []byte) {
	for _, c := range codes {
		n := copy(dst, s.text[s.sizes[c].start:s.sizes[c+1].start])
		for i, b := range dst[:n] {
			if b == '0' {
				dst[i], digits = digits[0], digits[1:]
			}
		}
		dst = dst[n:]
	}
}

// copyWide copies as much as always may be.
func copyWide(to, from unsafe.Pointer) { *(*[wide]byte)(to) = *(*[wide]byte)(from) }
