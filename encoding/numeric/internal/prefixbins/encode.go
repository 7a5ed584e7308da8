package prefixbins

import (
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// Codes are the prefix codes of the bins, with their first bit the lowest. They lie in the arena.
func (b *Bins[U]) Codes(a *word.Arena) []uint32 {
	lengths := b.Widths[:len(b.Lows)]
	codes := word.Take[uint32](a, len(lengths))
	canonical, _ := newCanonical(lengths) // codeLengths makes complete ones
	for i, n := range lengths {
		codes[i] = canonical.take(n)
	}
	return codes
}

// AppendStream appends the codes and offsets of values k, k+4, k+8 ...
func (b *Bins[U]) AppendStream(dst []byte, values []U, k int, codes []uint32, flip U) []byte {
	w := word.NewBitWriter(dst)
	for i := k; i < len(values); i += Streams {
		bin := b.index[i]
		w.Put(uint64(codes[bin]), int(b.Widths[bin]))
		w.Put(uint64((values[i]^flip)-b.Lows[bin]), int(b.Widths[len(b.Lows)+int(bin)]))
	}
	return w.End()
}
