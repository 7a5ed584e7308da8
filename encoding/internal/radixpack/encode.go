package radixpack

import (
	"math"
	"math/bits"
	"slices"
)

// Encoder finds layouts and packs characters. The zero value is ready.
type Encoder struct {
	Layout Layout

	store   []byte // of the layout
	ranks   [][256]uint8
	digits  []digit
	widths  []uint8              // of groups
	seen    [MaxPeriod][4]uint64 // by position
	costs   [MaxPeriod + 1]float32
	choices [MaxPeriod + 1]byte
}

// Plan finds the best layout for values of so many bytes each, or with each = 0 of any lengths, which lie back to back in
// data, and the bytes that it takes and packs them to. The layout is that of the Encoder until the next call.
func (e *Encoder) Plan(data []byte, each int) (size int) {
	all := setOf(data)
	most := max(1, min(len(data), maxWidth))
	e.uniform(all, most)
	size = e.size(len(data))
	if each > 1 && each <= MaxPeriod && len(data)%each == 0 {
		if e.positions(data, each) && e.size(len(data)) <= size+size/500 { // values that begin where periods do are found sooner
			return e.size(len(data))
		}
		e.uniform(all, most)
	}
	return size
}

func (e *Encoder) size(chars int) int {
	return e.Layout.len() + int(e.Layout.PackedLen(uint64(chars)))
}

type set = [4]uint64

func count(s *set) int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

func setOf(data []byte) (s set) {
	var seen [256]bool
	for _, c := range data {
		seen[c] = true
	}
	for c, is := range seen {
		if is {
			s[c/64] |= 1 << (c % 64)
		}
	}
	if len(data) == 0 {
		s[0] = 1
	}
	return s
}

// uniform makes the layout one of a single alphabet, and at most so many positions. Numbers should waste little of their bits, and come in many
// characters at a time.
func (e *Encoder) uniform(s set, most int) {
	l := &e.Layout
	e.begin()
	if k := count(&s); k <= mostField && most >= maxWidth && fieldsPay(float32(math.Log2(float64(k))), float32(bits.Len(uint(k-1)))) {
		pad(&s)
		e.alphabet(&s)
		l.Positions = append(l.Positions[:0], make([]byte, chunkLen)...)
		e.groupFields()
		return
	}
	e.alphabet(&s)
	best, score := 1, float32(1e9)
	l.Positions = l.Positions[:0]
	for n := 1; n <= most; n++ {
		l.Positions = append(l.Positions, 0)
		_, width := l.kinds(0, n)
		if width > maxWidth {
			break
		}
		steps := countSteps(l, 0, n)
		const overhead, stepBits = 2, 0.06 // steps that a group takes longer; bits that are as much worth as a step
		if c := (float32(width) + stepBits*float32(steps+overhead)) / float32(n); c < score {
			best, score = n, c
		}
	}
	l.Positions = append(l.Positions[:0], make([]byte, best)...)
	l.Groups = append(l.Groups[:0], byte(best-1))
}

func (e *Encoder) begin() {
	e.store, e.Layout.Alphabets = slices.Grow(e.store[:0], 256*256), e.Layout.Alphabets[:0]
	e.Layout.Positions = slices.Grow(e.Layout.Positions[:0], MaxPeriod)
}

// alphabet appends the alphabet of a set.
func (e *Encoder) alphabet(s *set) {
	from := len(e.store)
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			e.store = append(e.store, byte(64*i+bits.TrailingZeros64(w)))
		}
	}
	e.Layout.Alphabets = append(e.Layout.Alphabets, e.store[from:len(e.store):len(e.store)])
}

// positions makes the layout one of an alphabet for each position of the values; false if they differ too much.
func (e *Encoder) positions(data []byte, each int) bool {
	seen, n := e.seen[:each], len(data)/each
	clear(seen)
	for ; len(data) > 0; data = data[each:] {
		for i, c := range data[:each] {
			seen[i][c>>6] |= 1 << (c & 63)
		}
	}
	l := &e.Layout
	exact, whole, largest := float32(0), float32(0), 0
	for i := range seen {
		k := count(&seen[i])
		if fill(k, n) {
			seen[i], k = full, 256
		}
		largest = max(largest, k)
		exact, whole = exact+float32(math.Log2(float64(k))), whole+float32(bits.Len(uint(k-1)))
	}
	asFields := largest <= mostField && fieldsPay(exact, whole)
	if asFields {
		for i := range seen {
			pad(&seen[i])
		}
	}
	e.begin()
	l.Positions = l.Positions[:each]
	for i := range seen {
		k := slices.Index(seen[:i], seen[i])
		if k >= 0 {
			l.Positions[i] = l.Positions[k]
			continue
		}
		if len(l.Alphabets) == 255 {
			return false
		}
		l.Positions[i] = byte(len(l.Alphabets))
		e.alphabet(&seen[i])
	}
	if asFields {
		e.groupFields()
	} else {
		e.group()
	}
	return true
}

// full is all characters.
var full = set{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// fill tells whether n characters of k different ones take less with all characters as their alphabet, which other positions share, than with
// one of their own.
func fill(k, n int) bool {
	return k > 128 && (8-math.Log2(float64(k)))*float64(n) < float64(8*k)
}

// fieldsPay tells whether digits should be fields of bits, which are unpacked several times as fast, if that takes so many
// bits instead of so many others.
func fieldsPay(exact, whole float32) bool { return whole <= exact*1.01 }

// pad adds characters until they are a power of two.
func pad(s *set) {
	k := count(s)
	for c := 0; k&(k-1) != 0; c++ {
		if s[c/64]>>(c%64)&1 == 0 {
			s[c/64] |= 1 << (c % 64)
			k++
		}
	}
}

// groupFields makes groups of as many positions as the kernel for fields has.
func (e *Encoder) groupFields() {
	l := &e.Layout
	l.Groups = l.Groups[:0]
	for left := len(l.Positions); left > 0; left -= fieldChars {
		l.Groups = append(l.Groups, byte(min(left, fieldChars)-1))
	}
}

// group finds the groups that take the fewest bits.
func (e *Encoder) group() {
	l := &e.Layout
	n := len(l.Positions)
	for end := 1; end <= n; end++ {
		e.costs[end] = 1e9
		for from := end - 1; from >= 0; from-- {
			_, width := l.kinds(from, end)
			if width > maxWidth {
				break
			}
			const groupBits = 0.1 // what is saved by a group less
			if c := e.costs[from] + float32(width) + groupBits; c < e.costs[end] {
				e.costs[end], e.choices[end] = c, byte(end-from-1)
			}
		}
	}
	l.Groups = l.Groups[:0]
	for end := n; end > 0; end -= int(e.choices[end]) + 1 {
		l.Groups = append(l.Groups, e.choices[end])
	}
	slices.Reverse(l.Groups)
}

// Append packs characters, which the layout has alphabets for.
func (e *Encoder) Append(dst, chars []byte) []byte {
	l := &e.Layout
	at := len(dst)
	size := int(l.PackedLen(uint64(len(chars))))
	dst = slices.Grow(dst, size+8)[:at+size+8]
	out := dst[at:]
	clear(out)
	e.prepare()
	period := len(l.Positions)
	whole := len(chars) / period * period
	bit := e.pack(out, chars[:whole], 0)
	if whole < len(chars) {
		var last [MaxPeriod]byte
		for i, a := range l.Positions {
			last[i] = l.Alphabets[a][0]
		}
		copy(last[:], chars[whole:])
		e.pack(out, last[:period], bit)
	}
	return dst[:at+size]
}

// digit is a position: the radix, and the rank of each character.
type digit struct {
	radix uint64
	ranks *[256]uint8
}

// prepare sets up what pack needs of the layout.
func (e *Encoder) prepare() {
	l := &e.Layout
	e.ranks = slices.Grow(e.ranks[:0], len(l.Alphabets))[:len(l.Alphabets)]
	for i, a := range l.Alphabets {
		for r, c := range a {
			e.ranks[i][c] = uint8(r)
		}
	}
	e.digits, e.widths = e.digits[:0], e.widths[:0]
	for _, a := range l.Positions {
		e.digits = append(e.digits, digit{uint64(len(l.Alphabets[a])), &e.ranks[a]})
	}
	at := 0
	for _, n := range l.Groups {
		_, width := l.kinds(at, at+int(n)+1)
		e.widths = append(e.widths, uint8(width))
		at += int(n) + 1
	}
}

// pack packs whole periods from a bit of out on, and returns the bit behind them.
func (e *Encoder) pack(out, chars []byte, bit uint64) uint64 {
	for len(chars) > 0 {
		digits := e.digits
		for g, n := range e.Layout.Groups {
			x := uint64(0)
			group := digits[:int(n)+1]
			these := chars[:len(group)]
			for i := range group {
				d := &group[i]
				x = x*d.radix + uint64(d.ranks[these[i]])
			}
			w := out[bit/8:]
			le.PutUint64(w, le.Uint64(w)|x<<(bit%8))
			bit += uint64(e.widths[g])
			digits, chars = digits[len(group):], chars[len(group):]
		}
	}
	return bit
}
