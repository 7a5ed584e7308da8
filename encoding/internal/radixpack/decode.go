package radixpack

import (
	"bytes"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	stepChars = 4    // characters of a table's entry at most
	oneTable  = 8192 // entries of the table of a layout with one alphabet at most
	oneOfMany = 1024 // and of one with several
	batch     = 256  // periods that are unpacked at a time
)

// Decoder unpacks characters. It keeps the tables of its last layout. The zero value is ready.
type Decoder struct {
	same []byte // the layout of the tables, appended
	next []byte

	period, bits int
	groups       []group
	steps        []step
	tables       []uint32
	known        []table

	record [MaxPeriod + Slack]byte // of which a part is wanted
	tail   [MaxPeriod + 16]byte    // the end of packed bytes, and zeros

	fractions [2 * batch]uint64 // parts of numbers

	fields fields
	digits [fieldRoom + 8]byte
}

// group is how a group is unpacked: as one number or, if it is wider than maxPart, as two.
type group struct {
	width   uint8
	shift   uint8
	last    uint64 // the largest number
	divisor uint64 // of the number; 0 if it is one
	recip   uint64 // 2^(64+shift) / divisor, rounded up
	parts   [2]part
}

// part is a number that is unpacked as a fraction.
type part struct {
	inverse  uint64 // 2^64 / kinds, rounded up
	from, to uint32 // steps
}

// step is some characters, which are one digit to a larger base.
type step struct {
	base  uint64
	table uint32 // where it begins
	chars uint32
	exact bool // no byte more may be written: it is of the next period
}

// table is the characters of some positions, by the number that they make.
type table struct {
	alphabets [stepChars]byte
	chars     uint32
	start     uint32
}

// Reset makes the decoder one of a layout, which it copies.
func (d *Decoder) Reset(l *Layout) {
	d.next = l.Append(append(d.next[:0], byte(len(l.Alphabets))))
	if bytes.Equal(d.next, d.same) && d.period == len(l.Positions) {
		return
	}
	d.same = append(d.same[:0], d.next...)
	d.period, d.bits = len(l.Positions), l.Bits()
	d.groups, d.steps, d.tables, d.known = d.groups[:0], d.steps[:0], d.tables[:0], d.known[:0]
	d.fields.reset(l)
	if d.fields.chunks > 0 {
		return
	}
	at := 0
	for _, n := range l.Groups {
		d.addGroup(l, at, at+int(n)+1)
		at += int(n) + 1
	}
}

func (d *Decoder) addGroup(l *Layout, from, to int) {
	kinds, width := l.kinds(from, to)
	g := group{width: uint8(width), last: kinds - 1}
	if width <= maxPart {
		g.parts[0] = d.addPart(l, from, to)
	} else {
		mid := split(l, from, to)
		g.divisor, _ = l.kinds(mid, to)
		g.shift = uint8(bits.Len64(g.divisor-1) - 1)
		g.recip = reciprocal(g.divisor, g.shift)
		g.parts[0], g.parts[1] = d.addPart(l, from, mid), d.addPart(l, mid, to)
	}
	d.groups = append(d.groups, g)
}

// split is where a group is cut into two parts, so that they take as few steps as they can. There is such a place: no
// character takes more than 8 bits, and maxWidth is as much less than two parts.
func split(l *Layout, from, to int) (mid int) {
	best := MaxPeriod
	for i := from + 1; i < to; i++ {
		_, first := l.kinds(from, i)
		_, second := l.kinds(i, to)
		if first > maxPart || second > maxPart {
			continue
		}
		if n := countSteps(l, from, i) + countSteps(l, i, to); n < best {
			mid, best = i, n
		}
	}
	return mid
}

// reciprocal is 2^(64+shift) / n, rounded up, for n from 2^shift + 1 to 2^(shift+1).
func reciprocal(n uint64, shift uint8) uint64 {
	if n == 1 {
		return 0
	}
	q, r := bits.Div64(1<<shift, 0, n)
	if r > 0 {
		q++
	}
	return q
}

// addPart appends the steps of a part.
func (d *Decoder) addPart(l *Layout, from, to int) part {
	p := part{from: uint32(len(d.steps))}
	kinds, _ := l.kinds(from, to)
	p.inverse = reciprocal(kinds, 0)
	for from < to {
		chars, base := nextStep(l, from, to)
		d.steps = append(d.steps, step{base, d.tableOf(l, from, chars, base), uint32(chars), from+stepChars > d.period})
		from += chars
	}
	p.to = uint32(len(d.steps))
	return p
}

func countSteps(l *Layout, from, to int) (n int) {
	for from < to {
		chars, _ := nextStep(l, from, to)
		from += chars
		n++
	}
	return n
}

// nextStep takes as many positions as one table holds.
func nextStep(l *Layout, from, to int) (chars int, base uint64) {
	limit := uint64(oneOfMany)
	if len(l.Alphabets) == 1 {
		limit = oneTable
	}
	base = 1
	for _, a := range l.Positions[from:min(to, from+stepChars)] {
		size := uint64(len(l.Alphabets[a]))
		if chars > 0 && base*size > limit {
			break
		}
		base *= size
		chars++
	}
	return chars, base
}

// tableOf is where the table of some positions begins, which may be that of others.
func (d *Decoder) tableOf(l *Layout, from, chars int, entries uint64) uint32 {
	t := table{chars: uint32(chars), start: uint32(len(d.tables))}
	copy(t.alphabets[:], l.Positions[from:from+chars])
	for _, k := range d.known {
		if k.chars == t.chars && k.alphabets == t.alphabets {
			return k.start
		}
	}
	d.known = append(d.known, t)
	d.fill(l, t, int(entries))
	return t.start
}

// fill appends the entries of a table.
func (d *Decoder) fill(l *Layout, t table, n int) {
	d.tables = slices.Grow(d.tables, n)[:len(d.tables)+n]
	out := d.tables[t.start:]
	out[0] = 0
	have := n // entries that begin alike
	for i, a := range t.alphabets[:t.chars] {
		chars := l.Alphabets[a]
		each := have / len(chars)
		for at := 0; at < n; at += have {
			before := out[at]
			for r, c := range chars {
				out[at+r*each] = before | uint32(c)<<(8*i)
			}
		}
		have = each
	}
}

// Decode writes as many characters as dst has, which begin at the from-th, of which packed must have all. Bytes of dst
// beyond its length, up to its capacity, may be overwritten with anything. An error wraps fault.ErrCorrupt.
func (d *Decoder) Decode(dst, packed []byte, from int) error {
	if d.bits == 0 {
		packed = d.tail[:] // a word to load
	}
	record, skip := from/d.period, from%d.period
	if skip > 0 {
		if err := d.one(packed, record); err != nil {
			return err
		}
		n := copy(dst, d.record[skip:d.period])
		dst, record = dst[n:], record+1
	}
	whole := len(dst) / d.period
	if n := (cap(dst) - Slack) / d.period; n < whole {
		whole = max(n, 0)
	}
	if n := d.readable(len(packed)) - record; n < whole {
		whole = max(n, 0)
	}
	if err := d.run(dst, packed, record*d.bits, whole); err != nil {
		return err
	}
	dst, record = dst[whole*d.period:], record+whole
	for len(dst) > 0 {
		if err := d.one(packed, record); err != nil {
			return err
		}
		dst, record = dst[copy(dst, d.record[:d.period]):], record+1
	}
	return nil
}

// readable is how many periods there are before those for which too few bytes follow to load a word.
func (d *Decoder) readable(packed int) int {
	if d.bits == 0 {
		return math.MaxInt
	}
	return max(8*(packed-8), 0) / d.bits
}

// one unpacks one period to d.record.
func (d *Decoder) one(packed []byte, record int) error {
	bit := record * d.bits
	clear(d.tail[copy(d.tail[:], packed[min(bit/8, len(packed)):]):])
	return d.run(d.record[:], d.tail[:], bit%8, 1)
}

// run unpacks periods, some at a time: group by group their numbers become fractions, and these give characters. No branch
// in a loop depends on the layout and is not the same every time.
func (d *Decoder) run(dst, packed []byte, bit, n int) error {
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(packed))
	if d.fields.chunks > 0 { // any bits are digits
		for done := 0; done < n; {
			some := min(n-done, fieldRoom/(chunkLen*d.fields.chunks))
			d.unpackFields(unsafe.Add(out, done*d.period), in, uint64(bit+done*d.bits), some)
			done += some
		}
		return nil
	}
	var bad uint64
	for done := 0; done < n; {
		some := min(n-done, batch)
		bad |= d.runBatch(unsafe.Add(out, done*d.period), in, uint64(bit+done*d.bits), some)
		done += some
	}
	if bad>>63 != 0 {
		return fault.Corruptf("number without characters in %d periods from bit %d on", n, bit)
	}
	return nil
}

func (d *Decoder) runBatch(out, in unsafe.Pointer, bit uint64, n int) (bad uint64) {
	for i := range d.groups {
		g := &d.groups[i]
		parts := 1
		if g.divisor != 0 {
			parts = 2
		}
		fractions := d.fractions[:parts*n]
		bad |= g.split(fractions, in, bit, uint64(d.bits))
		bit += uint64(g.width)
		first := d.steps[g.parts[0].from:g.parts[0].to]
		second := d.steps[g.parts[parts-1].from:g.parts[parts-1].to]
		if len(d.groups) == 1 && len(d.known) == 1 {
			putAll(out, fractions, unsafe.Pointer(&d.tables[0]), first[0].base, uintptr(first[0].chars), len(first), len(second))
			return bad
		}
		out = d.put(out, fractions, parts, first)
		if parts == 2 {
			out = d.put(out, fractions[1:], parts, second)
		}
	}
	return bad
}

// split loads numbers, each so many bits behind the one before, as one fraction each or, if they have two parts, as two.
func (g *group) split(dst []uint64, in unsafe.Pointer, bit, every uint64) (bad uint64) {
	mask := uint64(1)<<(g.width&63) - 1
	last, inverse := g.last, g.parts[0].inverse
	if g.divisor == 0 {
		for i := range dst {
			x := load(in, bit) & mask
			bit += every
			bad |= last - x
			dst[i] = x * inverse
		}
		return bad
	}
	recip, shift, divisor, inverse2 := g.recip, g.shift&63, g.divisor, g.parts[1].inverse
	for ; len(dst) >= 2; dst = dst[2:] {
		x := load(in, bit) & mask
		bit += every
		bad |= last - x
		q, _ := bits.Mul64(x, recip)
		q >>= shift
		dst[0] = q * inverse
		dst[1] = (x - q*divisor) * inverse2
	}
	return bad
}

// putAll writes the characters of fractions one after the other, by one table. Those at even places have n digits, the
// others m. It calls nothing, so that its loop stays in registers.
//
//go:noinline
func putAll(out unsafe.Pointer, fractions []uint64, table unsafe.Pointer, base uint64, chars uintptr, n, m int) {
	for _, f := range fractions {
		digit, f := bits.Mul64(f, base) // digits are less than the base, whatever the fraction is
		*(*uint32)(out) = *(*uint32)(unsafe.Add(table, 4*digit))
		out = unsafe.Add(out, chars)
		if n > 1 {
			digit, f = bits.Mul64(f, base)
			*(*uint32)(out) = *(*uint32)(unsafe.Add(table, 4*digit))
			out = unsafe.Add(out, chars)
		}
		if n > 2 {
			digit, f = bits.Mul64(f, base)
			*(*uint32)(out) = *(*uint32)(unsafe.Add(table, 4*digit))
			out = unsafe.Add(out, chars)
		}
		for i := 3; i < n; i++ {
			digit, f = bits.Mul64(f, base)
			*(*uint32)(out) = *(*uint32)(unsafe.Add(table, 4*digit))
			out = unsafe.Add(out, chars)
		}
		n, m = m, n
	}
}

// put writes the characters of the steps of a part of all periods, step by step, from a place in the first period on, and
// returns the place behind them. Every so many fractions are of this part.
func (d *Decoder) put(at unsafe.Pointer, fractions []uint64, every int, steps []step) unsafe.Pointer {
	for i := range steps {
		s := &steps[i]
		table, period := unsafe.Pointer(&d.tables[s.table]), uintptr(d.period)
		switch {
		case !s.exact || s.chars == stepChars:
			put[uint32](at, fractions, every, table, s.base, period)
		case s.chars == 1:
			put[uint8](at, fractions, every, table, s.base, period)
		case s.chars == 2:
			put[uint16](at, fractions, every, table, s.base, period)
		default:
			put3(at, fractions, every, table, s.base, period)
		}
		at = unsafe.Add(at, s.chars)
	}
	return at
}

// put takes a digit off some fractions, and writes its characters.
func put[T uint8 | uint16 | uint32](at unsafe.Pointer, fractions []uint64, every int, table unsafe.Pointer, base uint64, period uintptr) {
	for i := 0; i < len(fractions); i += every {
		digit, rest := bits.Mul64(fractions[i], base)
		fractions[i] = rest
		*(*T)(at) = *(*T)(unsafe.Add(table, 4*digit))
		at = unsafe.Add(at, period)
	}
}

// put3 is put of three bytes.
func put3(at unsafe.Pointer, fractions []uint64, every int, table unsafe.Pointer, base uint64, period uintptr) {
	for i := 0; i < len(fractions); i += every {
		digit, rest := bits.Mul64(fractions[i], base)
		fractions[i] = rest
		entry := unsafe.Add(table, 4*digit)
		*(*uint16)(at) = *(*uint16)(entry)
		*(*uint8)(unsafe.Add(at, 2)) = *(*uint8)(unsafe.Add(entry, 2))
		at = unsafe.Add(at, period)
	}
}

// load is at least maxWidth bits from one on.
func load(in unsafe.Pointer, bit uint64) uint64 {
	b := (*[8]byte)(unsafe.Add(in, bit/8))
	return le.Uint64(b[:]) >> (bit & 7)
}
