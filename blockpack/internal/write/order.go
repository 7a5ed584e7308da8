package write

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
)

// Order is the order of rows in a block. Equal rows stay in the order in which they came.
type Order uint8

// The orders.
const (
	Similar Order = iota // by service, set of columns with a value, trace, start
	Trace                // by trace, start
	Start                // by start
	Arrival
)

// rowKey is a row and what it is sorted by. A block has less than 2^16 rows, so that three ranks fit 64 bits.
type rowKey struct {
	ranks, start uint64
	row          uint32
}

const rankBits = 17

// permutation gives the rows of a block in an order: row i of the result is row p[i] of the block. It is nil if they are
// in this order.
func permutation(b otlp.Block, o Order) []uint32 {
	if o == Arrival || b.Rows < 2 {
		return nil
	}
	keys := make([]rowKey, b.Rows)
	for i := range keys {
		keys[i].row = uint32(i)
	}
	if o == Similar {
		addRanks(keys, b.Column(serviceName, column.String))
		addSets(keys, b.Columns)
	}
	if o != Start {
		addRanks(keys, b.Column(spans.TraceID, column.Bytes))
	}
	addStarts(keys, b.Column(spans.Start, column.Uint64))
	slices.SortFunc(keys, func(a, b rowKey) int {
		return cmp.Or(cmp.Compare(a.ranks, b.ranks), cmp.Compare(a.start, b.start), cmp.Compare(a.row, b.row))
	})
	p, sorted := make([]uint32, len(keys)), true
	for i, k := range keys {
		p[i] = k.row
		sorted = sorted && int(k.row) == i
	}
	if sorted {
		return nil
	}
	return p
}

const serviceName = spans.ResourcePrefix + "service.name"

// addRanks shifts the ranks of the values of a byte string column into the keys: 0 for rows without one.
func addRanks(keys []rowKey, c *column.Column) {
	for i := range keys {
		keys[i].ranks <<= rankBits
	}
	if c == nil {
		return
	}
	ranks := byteRanks(&c.Values)
	for row, k := range c.Each() {
		keys[row].ranks |= uint64(ranks[k])
	}
}

// byteRanks numbers values in their order, from 1. Equal values have one number.
func byteRanks(v *column.Values) []uint32 {
	order := make([]uint32, v.Len())
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(v.Bytes(int(a)), v.Bytes(int(b))) })
	ranks, rank := make([]uint32, len(order)), uint32(0)
	for i, k := range order {
		if i == 0 || !bytes.Equal(v.Bytes(int(k)), v.Bytes(int(order[i-1]))) {
			rank++
		}
		ranks[k] = rank
	}
	return ranks
}

func addStarts(keys []rowKey, c *column.Column) {
	if c == nil {
		return
	}
	for row, k := range c.Each() {
		keys[row].start = c.Values.Numbers[k]
	}
}

// addSets shifts the ranks of the sets of columns that have a value into the keys. Presence is stored as runs, of
// 8 bytes each. In the order of the sets, as strings of bits, the columns in front have few.
func addSets(keys []rowKey, columns []*column.Column) {
	var partial []*column.Column
	for _, c := range columns {
		if c.Present != nil {
			partial = append(partial, c)
		}
	}
	sets, id := distinctSets(len(keys), partial)
	ranks := rankSets(sets, partial)
	for i := range keys {
		keys[i].ranks = keys[i].ranks<<rankBits | uint64(ranks[id[i]])
	}
}

// distinctSets numbers the sets of columns that rows have, and gives a row of each set, and the set of each row.
func distinctSets(rows int, columns []*column.Column) (example []int, id []uint32) {
	hashes := make([]uint64, rows)
	for i, c := range columns {
		h := mix(uint64(i) + 1)
		for row := range c.Ranks() {
			hashes[row] += h
		}
	}
	known := map[uint64]uint32{}
	id = make([]uint32, rows)
	for row, h := range hashes {
		n, ok := known[h]
		if !ok {
			n = uint32(len(example))
			known[h] = n
			example = append(example, row)
		}
		id[row] = n
	}
	return example, id
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// rankedColumns bounds the memory of rankSets. Sets that differ in none of so many columns have one rank.
const rankedColumns = 512

// rankSets gives the ranks of the sets of some rows. Columns that divide rows most evenly come first.
func rankSets(rows []int, columns []*column.Column) []uint32 {
	type counted struct {
		c     *column.Column
		count int
	}
	sorted := make([]counted, len(columns))
	for i, c := range columns {
		n := c.PresentCount()
		sorted[i] = counted{c, min(n, c.Rows-n)}
	}
	slices.SortStableFunc(sorted, func(a, b counted) int { return cmp.Compare(b.count, a.count) })
	sorted = sorted[:min(len(sorted), rankedColumns)]
	width := (len(sorted) + 7) / 8
	v := column.Values{Offsets: make([]uint32, 1, len(rows)+1), Data: make([]byte, width*len(rows))}
	for i, row := range rows {
		set := v.Data[i*width : (i+1)*width]
		for k, s := range sorted {
			if s.c.Present[row/8]>>(row%8)&1 != 0 {
				set[k/8] |= 0x80 >> (k % 8)
			}
		}
		v.Offsets = append(v.Offsets, uint32((i+1)*width))
	}
	return byteRanks(&v)
}
