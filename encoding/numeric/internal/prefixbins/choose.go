package prefixbins

import (
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// Bins are the ranges that values are cut into.
type Bins[U word.Uint] struct {
	Lows   []U      // ascending, in the order of unsigned words: with flip applied
	Widths []uint8  // code length of each bin, then bits of its offsets
	index  []uint16 // bin of each value
	counts []uint32 // values of each bin
}

// Size is the number of bytes that the streams take.
func (b *Bins[U]) Size() (n int) {
	for k, count := range b.counts {
		n += int(count) * int(b.Widths[k]+b.Widths[len(b.counts)+k])
	}
	return n / 8
}

// units are ascending ranges of values that are not cut further.
type units[U word.Uint] struct {
	lows, highs []U
	counts      []uint32
}

func takeUnits[U word.Uint](a *word.Arena) units[U] {
	return units[U]{word.Take[U](a, 2*maxUnits)[:0], word.Take[U](a, 2*maxUnits)[:0], word.Take[uint32](a, 2*maxUnits)[:0]}
}

func (u *units[U]) add(low, high U, count uint32) {
	u.lows, u.highs, u.counts = append(u.lows, low), append(u.highs, high), append(u.counts, count)
}

const (
	maxUnits   = 1024
	denseBits  = 16 // spread of values up to which all of them are counted
	sampleBins = 4096
	leastUnit  = 4 // values of a sample: a bin of fewer takes more than it saves
	// binPrice is what a bin itself takes, in 1/16 bits: its low and its widths.
	binPrice = 18 * 16
)

// Choose finds bins for values, which flip brings into the order of unsigned words; Lows is nil if there is no use in
// it, and Widths if the streams are expected to be too long, by their bytes. The bins lie in the arena.
func Choose[U word.Uint](a *word.Arena, values []U, flip U, tooLong func(size int) bool) (b Bins[U]) {
	if len(values) == 0 {
		return b
	}
	low, high := word.Span(values, flip)
	if low == high {
		return b
	}
	var u units[U]
	dense := bits.Len64(uint64(high-low)) <= denseBits
	if dense {
		u = countUnits(a, values, flip, low, high)
	} else {
		u = sampleUnits(a, values, flip, low)
	}
	var size, counted int64
	if b.Lows, size, counted = cutBins(a, u); tooLong(int(size / 16 * 15 / 128 * int64(len(values)) / counted)) {
		return b
	}
	b.assign(a, values, flip, dense, high)
	return b
}

// countUnits counts every value.
func countUnits[U word.Uint](a *word.Arena, values []U, flip, low, high U) units[U] {
	counts := word.Take[uint32](a, int(high-low)+1)
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
	u := takeUnits[U](a)
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
func sampleUnits[U word.Uint](a *word.Arena, values []U, flip, low U) units[U] {
	n := min(len(values), sampleBins)
	sample := word.Take[U](a, n)
	for i := range sample {
		sample[i] = values[int(int64(len(values))*int64(i)/int64(n))] ^ flip
	}
	sample[0] = low
	slices.Sort(sample)
	u := takeUnits[U](a)
	for i := 0; i < n; {
		j := min(i+max(n/maxUnits, leastUnit), n)
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
// dynamic programming over where bins end, and returns where they begin, and about how many 1/16 bits the
// values of all units take in them, and their number.
func cutBins[U word.Uint](a *word.Arena, u units[U]) (_ []U, size, count int64) {
	k := len(u.counts)
	before := word.Take[uint64](a, k+1) // number of values below each unit
	least := word.Take[int64](a, k+1)   // cost of the units below
	from := word.Take[int32](a, k+1)    // where the last bin of those begins
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
	lows := word.Take[U](a, k)
	at := k
	for j := k; j > 0; j = int(from[j]) {
		at--
		lows[at] = u.lows[from[j]]
	}
	return lows[at:], least[k] - int64(k-at)*binPrice, int64(before[k])
}

// codePrice is what a prefix code takes for a bin whose share of the values has
// some logarithm: a whole bit at least, unless it holds all.
func codePrice(share int64) int64 {
	if share == 0 {
		return 0
	}
	return max(share, 16)
}

// logs are the logarithms of the numbers of values in samples.
var logs = func() (t [sampleBins + 1]uint8) {
	for x := range t {
		t[x] = uint8(exactLog2(uint64(x)))
	}
	return t
}()

// log2 is the binary logarithm in 1/16, the same on every machine.
func log2(x uint64) int64 {
	if x < uint64(len(logs)) {
		return int64(logs[x])
	}
	return exactLog2(x)
}

func exactLog2(x uint64) int64 {
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
func (b *Bins[U]) assign(a *word.Arena, values []U, flip U, dense bool, high U) {
	b.index = word.Take[uint16](a, len(values))
	counts := word.Take[uint32](a, len(b.Lows))
	b.counts = counts
	highs := word.Take[U](a, len(b.Lows))
	clear(counts)
	clear(highs)
	low := b.Lows[0]
	if dense {
		places := word.Take[uint16](a, int(high-low)+1)
		for i, first := range b.Lows {
			end := len(places)
			if i+1 < len(b.Lows) {
				end = int(b.Lows[i+1] - low)
			}
			word.Fill(places[first-low:end], uint16(i))
		}
		for i, v := range values {
			b.index[i] = places[(v^flip)-low]
		}
	} else {
		for i, v := range values {
			b.index[i] = uint16(search(b.Lows, v^flip))
		}
	}
	for i, k := range b.index {
		counts[k]++
		highs[k] = max(highs[k], values[i]^flip)
	}
	n := len(b.Lows)
	b.Widths = word.Take[uint8](a, 2*n)
	codeLengths(a, b.Widths[:n], counts)
	for i := range n {
		b.Widths[n+i] = uint8(bits.Len64(uint64(highs[i] - b.Lows[i])))
	}
}

// search is the last of ascending lows that is not above v, which is not below all.
func search[U word.Uint](lows []U, v U) int {
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
func codeLengths(a *word.Arena, lengths []uint8, counts []uint32) {
	n := len(counts)
	if n == 1 {
		lengths[0] = 0
		return
	}
	order := word.Take[uint32](a, n)
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
	weights := word.Take[uint64](a, 2*n)
	parents := word.Take[uint32](a, 2*n)
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
