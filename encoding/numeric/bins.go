package numeric

import (
	"math/bits"
	"slices"
)

// bins are the ranges that PrefixBins cuts values into.
type bins[U word] struct {
	lows   []U      // ascending, in the order of unsigned words (see flip)
	widths []uint8  // code length of each bin, then bits of its offsets
	index  []uint16 // bin of each value
}

// units are ascending ranges of values that are not cut further.
type units[U word] struct {
	lows, highs []U
	counts      []uint32
}

func takeUnits[U word](e *enc) units[U] {
	return units[U]{take[U](&e.scratch, 2*maxUnits)[:0], take[U](&e.scratch, 2*maxUnits)[:0], take[uint32](&e.scratch, 2*maxUnits)[:0]}
}

func (u *units[U]) add(low, high U, count uint32) {
	u.lows, u.highs, u.counts = append(u.lows, low), append(u.highs, high), append(u.counts, count)
}

const (
	maxUnits   = 1024
	denseBits  = 16 // spread of values up to which all of them are counted
	sampleBins = 4096
	// binPrice is what a bin itself takes, in 1/16 bits: its low and its widths.
	binPrice = 18 * 16
)

// chooseBins finds bins for the values of in; lows is nil if there is no use in it.
func chooseBins[U word](e *enc, in input[U]) (b bins[U]) {
	if len(in.values) == 0 {
		return b
	}
	flip := in.flip()
	low, high := span(in.values, flip)
	if low == high {
		return b
	}
	var u units[U]
	dense := bits.Len64(uint64(high-low)) <= denseBits
	if dense {
		u = countUnits(e, in.values, flip, low, high)
	} else {
		u = sampleUnits(e, in.values, flip, low)
	}
	b.lows = cutBins(e, u)
	b.assign(e, in.values, flip, dense, high)
	return b
}

// countUnits counts every value.
func countUnits[U word](e *enc, values []U, flip, low, high U) units[U] {
	counts := take[uint32](&e.scratch, int(high-low)+1)
	clear(counts)
	for _, v := range values {
		counts[(v^flip)-low]++
	}
	distinct := 0
	for _, c := range counts {
		if c > 0 {
			distinct++
		}
	}
	least := uint32(len(values) / maxUnits) // a unit holds more than that, if there are too many
	if distinct <= maxUnits {
		least = 0
	}
	u := takeUnits[U](e)
	open := false
	for i, c := range counts {
		if c == 0 {
			continue
		}
		v := low + U(i)
		if last := len(u.counts) - 1; open {
			u.highs[last] = v
			u.counts[last] += c
			open = u.counts[last] <= least
			continue
		}
		u.add(v, v, c)
		open = c <= least
	}
	return u
}

// sampleUnits counts a sample, which always has the least value.
func sampleUnits[U word](e *enc, values []U, flip, low U) units[U] {
	n := min(len(values), sampleBins)
	sample := take[U](&e.scratch, n)
	for i := range sample {
		sample[i] = values[int(int64(len(values))*int64(i)/int64(n))] ^ flip
	}
	sample[0] = low
	slices.Sort(sample)
	u := takeUnits[U](e)
	for i := 0; i < n; {
		j := min(i+max(n/maxUnits, 1), n)
		for j < n && sample[j] == sample[j-1] {
			j++
		}
		u.add(sample[i], sample[j-1], uint32(j-i))
		i = j
	}
	return u
}

// reaches are the numbers of units that a bin may span.
var reaches = [...]int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512}

// cutBins groups units so that codes, offsets and bins together take least, by
// dynamic programming over where bins end, and returns where they begin.
func cutBins[U word](e *enc, u units[U]) []U {
	k := len(u.counts)
	before := take[uint64](&e.scratch, k+1) // number of values below each unit
	least := take[int64](&e.scratch, k+1)   // cost of the units below
	from := take[int32](&e.scratch, k+1)    // where the last bin of those begins
	before[0], least[0] = 0, 0
	for i, c := range u.counts {
		before[i+1] = before[i] + uint64(c)
	}
	total := log2(before[k])
	for j := 1; j <= k; j++ {
		least[j] = 1 << 62
		for _, reach := range reaches {
			i := j - reach
			if i < 0 {
				break
			}
			count := before[j] - before[i]
			offset := int64(bits.Len64(uint64(u.highs[j-1] - u.lows[i])))
			cost := least[i] + int64(count)*(codePrice(total-log2(count))+16*offset) + binPrice
			if cost < least[j] {
				least[j], from[j] = cost, int32(i)
			}
		}
	}
	lows := take[U](&e.scratch, k)
	at := k
	for j := k; j > 0; j = int(from[j]) {
		at--
		lows[at] = u.lows[from[j]]
	}
	return lows[at:]
}

// codePrice is what a prefix code takes for a bin whose share of the values has
// some logarithm: a whole bit at least, unless it holds all.
func codePrice(share int64) int64 {
	if share == 0 {
		return 0
	}
	return max(share, 16)
}

// log2 is the binary logarithm in 1/16, the same on every machine.
func log2(x uint64) int64 {
	if x < 2 {
		return 0
	}
	whole := bits.Len64(x) - 1
	mantissa := x << (63 - whole) >> 32 // 1 to 2, as 2^31 to 2^32
	fraction := int64(0)
	for range 4 { // a square has twice the logarithm: each step gives a bit
		mantissa = mantissa * mantissa >> 31
		fraction <<= 1
		if mantissa >= 1<<32 {
			mantissa >>= 1
			fraction++
		}
	}
	return int64(whole)*16 + fraction
}

// assign finds the bin of each value and from those the widths. No bin is empty,
// as each begins with a value.
func (b *bins[U]) assign(e *enc, values []U, flip U, dense bool, high U) {
	b.index = take[uint16](&e.scratch, len(values))
	counts := take[uint32](&e.scratch, len(b.lows))
	highs := take[U](&e.scratch, len(b.lows))
	clear(counts)
	clear(highs)
	low := b.lows[0]
	if dense {
		places := take[uint16](&e.scratch, int(high-low)+1)
		for i, first := range b.lows {
			end := len(places)
			if i+1 < len(b.lows) {
				end = int(b.lows[i+1] - low)
			}
			fill(places[first-low:end], uint16(i))
		}
		for i, v := range values {
			b.index[i] = places[(v^flip)-low]
		}
	} else {
		for i, v := range values {
			b.index[i] = uint16(search(b.lows, v^flip))
		}
	}
	for i, k := range b.index {
		counts[k]++
		highs[k] = max(highs[k], values[i]^flip)
	}
	n := len(b.lows)
	b.widths = take[uint8](&e.scratch, 2*n)
	codeLengths(e, b.widths[:n], counts)
	for i := range n {
		b.widths[n+i] = uint8(bits.Len64(uint64(highs[i] - b.lows[i])))
	}
}

// search is the last of ascending lows that is not above v, which is not below all.
func search[U word](lows []U, v U) int {
	i := 0
	for n := len(lows); n > 1; {
		half := n / 2
		if lows[i+half] <= v {
			i += half
		}
		n -= half
	}
	return i
}

// codeLengths sets the lengths of prefix codes for bins of which each holds some
// values: those of Huffman, with none above 12 bits.
func codeLengths(e *enc, lengths []uint8, counts []uint32) {
	n := len(counts)
	if n == 1 {
		lengths[0] = 0
		return
	}
	order := take[uint32](&e.scratch, n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		if counts[a] != counts[b] {
			return int(int64(counts[a]) - int64(counts[b]))
		}
		return int(a) - int(b)
	})
	// Nodes 0 to n-1 are the bins in that order, the rest pairs of nodes; both come
	// in ascending order of weight, so the lightest are at the head of one queue.
	weights := take[uint64](&e.scratch, 2*n)
	parents := take[uint32](&e.scratch, 2*n)
	for i, k := range order {
		weights[i] = uint64(counts[k])
	}
	leaf, pair := 0, n
	for node := n; node < 2*n-1; node++ {
		weights[node] = 0
		for range 2 {
			child := &pair
			if leaf < n && (pair >= node || weights[leaf] <= weights[pair]) {
				child = &leaf
			}
			weights[node] += weights[*child]
			parents[*child] = uint32(node)
			*child++
		}
	}
	depths := parents // each is read before it is written, from the root down
	depths[2*n-2] = 0
	for node := 2*n - 3; node >= 0; node-- {
		depths[node] = depths[parents[node]] + 1
	}
	limitLengths(lengths, order, depths)
}

// limitLengths cuts code lengths to 12 bits. What that takes too much of the code
// space it takes from bins with few values, and gives what is left to those with
// many; order has the bins by their number of values.
func limitLengths(lengths []uint8, order, depths []uint32) {
	const space = 1 << codeBits
	taken := 0
	for i, k := range order {
		lengths[k] = uint8(min(depths[i], codeBits))
		taken += space >> lengths[k]
	}
	for taken > space {
		for _, k := range order {
			if lengths[k] < codeBits && taken > space {
				lengths[k]++
				taken -= space >> lengths[k]
			}
		}
	}
	for i := len(order) - 1; taken < space; i = (i - 1 + len(order)) % len(order) {
		if size := space >> lengths[order[i]]; size <= space-taken {
			lengths[order[i]]--
			taken += size
		}
	}
}
