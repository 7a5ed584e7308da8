package flatlz

import "github.com/amudai/amudai-go/internal/base/frontcode"

const (
	minMatch  = 6 // shorter matches cost more time than they save bytes
	tableBits = 13
	skipLog   = 6  // without matches, steps grow by one every 64 bytes
	goodMatch = 32 // a match of this length is taken without a search for a better one
	wordLen   = 8
)

// Encoder compresses. The zero value is ready to use. It holds a table of 32 KiB, and must not be used concurrently.
// Its output depends on the source only.
//
// It remembers one position for each hash of six bytes. Before it takes a short match, it searches for a better one
// at the next byte.
type Encoder struct {
	table [1 << tableBits]uint32
	base  uint32 // position of the first byte of the next source, counted over all sources

	seqs     []byte
	literals []byte
}

// hash is the hash of the low six bytes.
func hash(v uint64) uint32 { return uint32(v << 16 * 227718039650203 >> (64 - tableBits)) }

// Encode compresses src. The result is valid until the next call.
func (e *Encoder) Encode(src []byte) (sequences, literals []byte) {
	base := e.begin(len(src))
	e.seqs, e.literals = e.seqs[:0], e.literals[:0]
	limit := len(src) - wordLen
	done := 0 // src[:done] is encoded
	for s := 0; s <= limit; {
		from, n := e.find(src, s, base)
		if n < minMatch {
			s += 1 + (s-done)>>skipLog
			continue
		}
		if n < goodMatch && s < limit {
			if f, m := e.find(src, s+1, base); m > n+1 {
				from, n = f, m
				s++
			}
		}
		for s > done && from > 0 && src[s-1] == src[from-1] {
			s--
			from--
			n++
		}
		e.put(src[done:s], n, s-from)
		inside := s + 2
		s += n
		done = s
		if s <= limit {
			e.remember(src, inside, base)
			e.remember(src, s-2, base)
		}
	}
	if done < len(src) {
		e.put(src[done:], 0, minBack)
	}
	return e.seqs, e.literals
}

// begin returns the position of the first byte of a source of n bytes. It is so far beyond earlier sources that their
// entries, and empty ones, are never used.
func (e *Encoder) begin(n int) uint32 {
	if e.base == 0 || uint64(e.base)+uint64(n)+2*maxBack > 1<<32-1 {
		clear(e.table[:])
		e.base = maxBack + 1
	}
	base := e.base
	e.base += uint32(n) + maxBack + 1
	return base
}

// find returns the position and the length of a match for the bytes at s, 0 if there is none, and remembers s.
func (e *Encoder) find(src []byte, s int, base uint32) (from, n int) {
	v := le.Uint64(src[s:])
	pos := base + uint32(s)
	slot := &e.table[hash(v)]
	at := *slot
	*slot = pos
	if pos-at > maxBack || (le.Uint64(src[at-base:])^v)<<16 != 0 {
		return 0, 0
	}
	from = int(at - base)
	if back := s - from; back < minBack {
		// Bytes repeat: they also match some periods further back.
		if from = s - (minBack+back-1)/back*back; from < 0 {
			return 0, 0
		}
	}
	return from, frontcode.CommonPrefix(src[s:], src[from:])
}

func (e *Encoder) remember(src []byte, s int, base uint32) {
	e.table[hash(le.Uint64(src[s:]))] = base + uint32(s)
}

// put appends literals and a match, in as many sequences as necessary.
func (e *Encoder) put(literals []byte, match, back int) {
	e.literals = append(e.literals, literals...)
	n := len(literals)
	for ; n > maxLiterals; n -= maxLiterals {
		e.seqs = append(e.seqs, maxLiterals, 0, minBack, 0)
	}
	for ; match > maxMatch; match -= maxMatch {
		e.seqs = append(e.seqs, byte(n), maxMatch, byte(back), byte(back>>8))
		n = 0
	}
	e.seqs = append(e.seqs, byte(n), byte(match), byte(back), byte(back>>8))
}
