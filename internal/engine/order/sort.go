package order

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// item is a row being sorted, with eight bytes of its key: a window that moves along the keys.
type item struct {
	window uint64
	row    uint32
}

const (
	fewItems    = 512 // below, comparing takes less time than distributing
	mostWindows = 512 // beyond, keys are compared: their common beginnings are long
)

// sorted returns the rows in the order of their keys. Rows of equal keys keep their order.
func (k *Keys) sorted() []item {
	items := make([]item, k.Len())
	for i := range items {
		items[i].row = uint32(i)
	}
	if k.areSorted() {
		return items
	}
	k.sort(items, make([]item, len(items)), 0)
	return items
}

func rowsOfItems(items []item) []int64 {
	rows := make([]int64, len(items))
	for i, it := range items {
		rows[i] = int64(it.row)
	}
	return rows
}

// areSorted reports whether the keys ascend already.
func (k *Keys) areSorted() bool {
	for i := 1; i < k.Len(); i++ {
		if bytes.Compare(k.Key(i-1), k.Key(i)) > 0 {
			return false
		}
	}
	return true
}

// sort sorts items, whose keys are equal up to a depth, by the next window. Those with equal windows are then sorted by the
// next one. As no key is the beginning of another one, keys that end within equal windows are equal.
func (k *Keys) sort(items, scratch []item, depth int) {
	if len(items) <= fewItems || depth >= 8*mostWindows {
		k.load(items, depth)
		slices.SortFunc(items, func(a, b item) int {
			if a.window != b.window {
				return cmp.Compare(a.window, b.window)
			}
			if c := bytes.Compare(k.Key(int(a.row))[depth:], k.Key(int(b.row))[depth:]); c != 0 {
				return c
			}
			return cmp.Compare(a.row, b.row)
		})
		return
	}
	depth, differ := k.skip(items, depth)
	if !differ {
		return
	}
	sortByWindow(items, scratch)
	eachTie(items, 0, func(tie []item) {
		if len(k.Key(int(tie[0].row))) > depth+8 {
			k.sort(tie, scratch, depth+8)
		}
	})
}

// eachTie calls f for each run of several sorted items whose windows have the same bits from one on.
func eachTie(items []item, bottom int, f func(tie []item)) {
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].window>>bottom == items[0].window>>bottom {
			n++
		}
		if n > 1 {
			f(items[:n])
		}
		items = items[n:]
	}
}

// load finds the windows of items from a depth on, and the bits in which they differ.
func (k *Keys) load(items []item, depth int) (differs uint64) {
	for i := range items {
		items[i].window = window(k.Key(int(items[i].row)), depth)
		differs |= items[i].window ^ items[0].window
	}
	return differs
}

// skip finds the windows of items behind the bytes that all keys have in common, from a depth on, and where they begin. It reports false if all
// keys are equal.
func (k *Keys) skip(items []item, depth int) (at int, differ bool) {
	for {
		switch differs := k.load(items, depth); {
		case differs>>56 != 0:
			return depth, true
		case differs == 0 && len(k.Key(int(items[0].row))) <= depth+8:
			return depth, false
		default:
			depth += bits.LeadingZeros64(differs) / 8
		}
	}
}

// window is the eight bytes of a key from a depth on, with zeros after its end.
func window(key []byte, depth int) uint64 {
	if len(key) >= depth+8 {
		return binary.BigEndian.Uint64(key[depth:])
	}
	var b [8]byte
	if len(key) > depth {
		copy(b[:], key[depth:])
	}
	return binary.BigEndian.Uint64(b[:])
}

// digit is the number of bits that items are distributed by at a time. Two digits tell most of 65,536 windows apart, which three do of all others.
const digit = 11

// sortByWindow sorts items by the highest bits in which they differ, by radix, the lowest digit first, then the few whose bits are equal on their
// own. It is stable for items in the order of their rows.
func sortByWindow(items, scratch []item) {
	if len(items) <= fewItems {
		slices.SortFunc(items, func(a, b item) int {
			if a.window != b.window {
				return cmp.Compare(a.window, b.window)
			}
			return cmp.Compare(a.row, b.row)
		})
		return
	}
	differs := uint64(0)
	for _, it := range items {
		differs |= it.window ^ items[0].window
	}
	digits := 2
	if len(items) > 1<<16 {
		digits = 3
	}
	bottom := max(bits.Len64(differs)-digits*digit, 0)
	var counts [3][1 << digit]uint32
	for _, it := range items {
		for d := range digits {
			counts[d][it.window>>(bottom+d*digit)%(1<<digit)]++
		}
	}
	from, to := items, scratch[:len(items)]
	for d := range digits {
		count, shift := &counts[d], bottom+d*digit
		if int(count[items[0].window>>shift%(1<<digit)]) == len(items) {
			continue
		}
		sum := uint32(0)
		for i, n := range count {
			count[i], sum = sum, sum+n
		}
		for _, it := range from {
			at := &count[it.window>>shift%(1<<digit)]
			to[*at] = it
			*at++
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
	if bottom > 0 {
		eachTie(items, bottom, func(tie []item) { sortByWindow(tie, scratch) })
	}
}
