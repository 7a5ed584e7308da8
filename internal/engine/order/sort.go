package order

import (
	"bytes"
	"cmp"
	"encoding/binary"
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
	for len(items) > fewItems && depth < 8*mostWindows {
		for i := range items {
			items[i].window = window(k.Key(int(items[i].row)), depth)
		}
		sortByWindow(items, scratch)
		depth += 8
		if items[0].window == items[len(items)-1].window { // all of them
			if len(k.Key(int(items[0].row))) <= depth {
				return
			}
			continue
		}
		for len(items) > 0 {
			n := 1
			for n < len(items) && items[n].window == items[0].window {
				n++
			}
			if n > 1 && len(k.Key(int(items[0].row))) > depth {
				k.sort(items[:n], scratch, depth)
			}
			items = items[n:]
		}
		return
	}
	for i := range items {
		items[i].window = window(k.Key(int(items[i].row)), depth)
	}
	slices.SortFunc(items, func(a, b item) int {
		if a.window != b.window {
			return cmp.Compare(a.window, b.window)
		}
		if c := bytes.Compare(k.Key(int(a.row))[depth:], k.Key(int(b.row))[depth:]); c != 0 {
			return c
		}
		return cmp.Compare(a.row, b.row)
	})
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

// sortByWindow sorts items by radix, the lowest byte first, and skips bytes in which all items agree. It is stable.
func sortByWindow(items, scratch []item) {
	var counts [8][256]uint32
	for _, it := range items {
		for b := range counts {
			counts[b][byte(it.window>>(8*b))]++
		}
	}
	from, to := items, scratch[:len(items)]
	for b := range counts {
		count := &counts[b]
		if int(count[byte(items[0].window>>(8*b))]) == len(items) {
			continue
		}
		sum := uint32(0)
		for i, n := range count {
			count[i], sum = sum, sum+n
		}
		for _, it := range from {
			at := &count[byte(it.window>>(8*b))]
			to[*at] = it
			*at++
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
}
