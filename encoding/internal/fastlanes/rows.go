package fastlanes

// Neighbouring lanes are adjacent in memory, packed or not. The loops here therefore process a row as 16 integers of
// 64 bits, each with several lanes: they shift all lanes at once, and masks remove the bits of neighbours. A chunk
// has as many rows as a value has bits. Packed, it has as many rows as the width.
//
// The base is added to all lanes at once, too. If values have fewer bits than lanes, the sum of the value and the low
// bits of the base carries at most into the highest bit, where exclusive or adds that bit of the base.

// lanes is a value repeated in all lanes of an integer, with its highest bits separate.
type lanes struct{ low, high uint64 }

// inLanes repeats 1, the highest bit and a base in lanes of some bits.
func inLanes(bits uint, base uint64) (one, top uint64, b lanes) {
	one = ^uint64(0) / (1<<bits - 1)
	top = one << (bits - 1)
	return one, top, lanes{one * base &^ top, one * base & top}
}

// rowAt returns the position of a row in a chunk of as many rows as a value has bits.
func rowAt(r, bits uint) uint {
	return (uint(order[r/8%8]) + r%8*8) * bits / 64
}

// unpackRows sets dst to the values of src plus base.
func unpackRows(dst, src []row, base uint64) {
	bits, w := uint(len(dst)), uint(len(src))
	one, top, b := inLanes(bits, base)
	mask := one * (1<<w - 1)
	from := uint(0) // first bit of the value in its word
	for r := range bits {
		to := &dst[rowAt(r, bits)]
		switch have := bits - from; { // bits of the value in this word, if not all
		case w == bits:
			addRow(to, &src[0], b, top)
		case w <= have:
			unpackRow(to, &src[0], from, mask, b)
		default:
			low := one * (1<<have - 1)
			unpackSplit(to, (*[2]row)(src), from, have, low, mask&^low, b)
		}
		if from += w; from >= bits {
			from -= bits
			src = src[1:]
		}
	}
}

// packRows sets dst to the low bits of the values of src minus base. The number of rows of dst is the number of bits.
func packRows(dst, src []row, base uint64) {
	bits, w := uint(len(src)), uint(len(dst))
	one, top, b := inLanes(bits, base)
	_, _, minus := inLanes(bits, -base&(1<<bits-1))
	mask := one * (1<<w - 1)
	from := uint(0)
	for r := range bits {
		x := &src[rowAt(r, bits)]
		switch have := bits - from; {
		case w == bits:
			addRow(&dst[0], x, minus, top)
		case from == 0:
			packFirst(&dst[0], x, mask, b.low, top)
		case w <= have:
			packRow(&dst[0], x, from, mask, b.low, top)
		default:
			low := one * (1<<have - 1)
			packSplit((*[2]row)(dst), x, from, have, low, mask&^low, b.low, top)
		}
		if from += w; from >= bits {
			from -= bits
			dst = dst[1:]
		}
	}
}

// The functions below process a row. They are not inlined, because they need all registers.

// addRow adds b in all lanes at full width.
//
//go:noinline
func addRow(to, x *row, b lanes, top uint64) {
	for i := 0; i < len(to); i += 4 {
		to[i] = (x[i]&^top + b.low) ^ b.high ^ x[i]&top
		to[i+1] = (x[i+1]&^top + b.low) ^ b.high ^ x[i+1]&top
		to[i+2] = (x[i+2]&^top + b.low) ^ b.high ^ x[i+2]&top
		to[i+3] = (x[i+3]&^top + b.low) ^ b.high ^ x[i+3]&top
	}
}

// unpackRow unpacks values that begin at a bit of their word and end in it.
//
//go:noinline
func unpackRow(to, x *row, from uint, mask uint64, b lanes) {
	from &= 63
	for i := 0; i < len(to); i += 8 {
		to[i] = (x[i]>>from&mask + b.low) ^ b.high
		to[i+1] = (x[i+1]>>from&mask + b.low) ^ b.high
		to[i+2] = (x[i+2]>>from&mask + b.low) ^ b.high
		to[i+3] = (x[i+3]>>from&mask + b.low) ^ b.high
		to[i+4] = (x[i+4]>>from&mask + b.low) ^ b.high
		to[i+5] = (x[i+5]>>from&mask + b.low) ^ b.high
		to[i+6] = (x[i+6]>>from&mask + b.low) ^ b.high
		to[i+7] = (x[i+7]>>from&mask + b.low) ^ b.high
	}
}

// unpackSplit unpacks values that have some low bits in a word and the high ones
// in the next.
//
//go:noinline
func unpackSplit(to *row, words *[2]row, from, have uint, low, high uint64, b lanes) {
	from &= 63
	x, y := &words[0], &words[1]
	up := uint64(1) << (have & 63) // a multiplication leaves the register of shift counts to the other shift
	for i := 0; i < len(to); i += 4 {
		to[i] = ((x[i]>>from&low | y[i]*up&high) + b.low) ^ b.high
		to[i+1] = ((x[i+1]>>from&low | y[i+1]*up&high) + b.low) ^ b.high
		to[i+2] = ((x[i+2]>>from&low | y[i+2]*up&high) + b.low) ^ b.high
		to[i+3] = ((x[i+3]>>from&low | y[i+3]*up&high) + b.low) ^ b.high
	}
}

// packFirst packs the values with which words begin. A highest bit that is set in
// each lane keeps borrows out of the neighbour; the mask takes it off again.
//
//go:noinline
func packFirst(to, x *row, mask, base, top uint64) {
	for i := 0; i < len(to); i += 4 {
		to[i] = ((x[i] | top) - base) & mask
		to[i+1] = ((x[i+1] | top) - base) & mask
		to[i+2] = ((x[i+2] | top) - base) & mask
		to[i+3] = ((x[i+3] | top) - base) & mask
	}
}

// packRow packs further values that end in the word.
//
//go:noinline
func packRow(to, x *row, from uint, mask, base, top uint64) {
	up := uint64(1) << (from & 63)
	for i := 0; i < len(to); i += 4 {
		to[i] |= ((x[i] | top) - base) & mask * up
		to[i+1] |= ((x[i+1] | top) - base) & mask * up
		to[i+2] |= ((x[i+2] | top) - base) & mask * up
		to[i+3] |= ((x[i+3] | top) - base) & mask * up
	}
}

// packSplit packs values of which the high bits begin the next word.
//
//go:noinline
func packSplit(words *[2]row, x *row, from, have uint, low, high, base, top uint64) {
	have &= 63
	to, next := &words[0], &words[1]
	up := uint64(1) << (from & 63)
	for i := 0; i < len(to); i += 2 {
		v, u := (x[i]|top)-base, (x[i+1]|top)-base
		to[i] |= v & low * up
		to[i+1] |= u & low * up
		next[i] = v & high >> have
		next[i+1] = u & high >> have
	}
}
