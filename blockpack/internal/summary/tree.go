package summary

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// link is a span, with its id and that of its parent as numbers; 0 for none.
type link struct {
	id, parent uint64
	trace      uint32
	odd        bool // an id has another length
}

func linkOf(trace uint32, id, parent []byte) link {
	l := link{trace: trace, odd: len(id)%8 != 0 || len(parent)%8 != 0}
	if len(id) == 8 {
		l.id = binary.LittleEndian.Uint64(id)
	}
	if len(parent) == 8 {
		l.parent = binary.LittleEndian.Uint64(parent)
	}
	return l
}

// maxLinks bounds the memory for trees: a file of more spans says nothing of them.
const maxLinks = 4 << 20

// linksOf is room for those of rows of the file; nil if it has too many.
func (b *Builder) linksOf(first int64, n int) []link {
	b.rows = max(b.rows, first+int64(n))
	if b.rows > maxLinks {
		b.links = nil
		return nil
	}
	if more := int(b.rows) - len(b.links); more > 0 {
		b.links = slices.Grow(b.links, more)[:b.rows]
	}
	return b.links[first:][:n]
}

// Place is the place of a span in the tree of its trace: the span is below another one if its number is greater than Left of that, and at most Right.
type Place struct {
	Left   uint32 // number of the span in the order of the tree, each before those below it; 0: the tree is not known
	Right  uint32 // the greatest number below it, or its own
	Parent uint32 // number of its parent, 0 for a root span. A parent that is missing has a number that no span has.
}

// Places are those of some rows.
type Places []Place

// Size is about the memory of places in bytes.
func (p Places) Size() int64 { return 12 * int64(len(p)) }

// Len is the number of rows.
func (p Places) Len() int { return len(p) }

// At is the place of a row.
func (p Places) At(row int) Place { return p[row] }

// places are those of all rows. Nothing is said of traces with ids that several spans have, or with parents in a circle.
func (b *Builder) places() Places {
	if int64(len(b.links)) < b.rows {
		return nil
	}
	first := make([]uint32, len(b.traces)+1) // of each trace in rows
	for i := range b.links {
		first[b.links[i].trace+1]++
	}
	for n := range b.traces {
		first[n+1] += first[n]
	}
	rows, at := make([]uint32, len(b.links)), slices.Clone(first)
	for i := range b.links {
		n := b.links[i].trace
		rows[at[n]] = uint32(i)
		at[n]++
	}
	out := make(Places, len(b.links))
	var w walk
	for n := range b.traces {
		own := rows[first[n]:first[n+1]]
		if w.number(b.links, own) {
			for i, row := range own {
				out[row] = w.places[i]
			}
		}
	}
	return out
}

// walk is a walk around the tree of a trace, with memory for the next. Nodes are its spans, in their order, and behind them the parents that are missing.
type walk struct {
	node                []int32 // hash table by id: 1 + a node; 0 is free
	ids                 []uint64
	parent, child, next []int32 // node above, first node below, next one of the same parent; -1 for none
	places              []Place
}

var seed = maphash.MakeSeed()

// slot is the place of an id in the hash table.
func (w *walk) slot(id uint64) *int32 {
	for h := maphash.Comparable(seed, id); ; h++ {
		s := &w.node[h&uint64(len(w.node)-1)]
		if *s == 0 || w.ids[*s-1] == id {
			return s
		}
	}
}

// add adds a node.
func (w *walk) add(id uint64) int32 {
	w.ids, w.parent, w.child, w.next, w.places = append(w.ids, id), append(w.parent, -1), append(w.child, -1), append(w.next, -1), append(w.places, Place{})
	return int32(len(w.ids))
}

// number finds the places of the spans of a trace. It returns false if they have none.
func (w *walk) number(links []link, rows []uint32) bool {
	size := 8
	for size < 4*len(rows) {
		size *= 2
	}
	if len(w.node) < size {
		w.node = make([]int32, size)
	}
	whole := w.node
	defer func() { w.node = whole }()
	w.node = w.node[:size]
	clear(w.node)
	w.ids, w.parent, w.child, w.next, w.places = w.ids[:0], w.parent[:0], w.child[:0], w.next[:0], w.places[:0]
	for _, row := range rows {
		l := &links[row]
		n := w.add(l.id)
		if l.odd {
			return false
		}
		if l.id == 0 {
			continue
		}
		slot := w.slot(l.id)
		if *slot != 0 {
			return false
		}
		*slot = n
	}
	for i := len(rows) - 1; i >= 0; i-- { // children come in the order of rows
		id := links[rows[i]].parent
		if id == 0 {
			continue
		}
		slot := w.slot(id)
		if *slot == 0 {
			*slot = w.add(id)
		}
		p := *slot - 1
		w.parent[i], w.next[i], w.child[p] = p, w.child[p], int32(i)
	}
	last := uint32(0)
	for top := range w.parent {
		if w.parent[top] < 0 {
			last = w.from(int32(top), last)
		}
	}
	return int(last) == len(w.ids)
}

// from numbers a node without a parent, and all below it.
func (w *walk) from(node int32, last uint32) uint32 {
	for {
		last++
		w.places[node].Left = last
		if p := w.parent[node]; p >= 0 {
			w.places[node].Parent = w.places[p].Left
		}
		if w.child[node] >= 0 {
			node = w.child[node]
			continue
		}
		for w.places[node].Right = last; w.next[node] < 0; w.places[node].Right = last {
			if node = w.parent[node]; node < 0 {
				return last
			}
		}
		node = w.next[node]
	}
}

// Columns of a section of places: differences, which are small.
const (
	aboveColumn  = "tree:above" // number less that of the parent; 0 for a root span
	belowColumn  = "tree:below" // number of spans below it
	numberColumn = "tree:number"
)

func treeColumns(list Places) []*column.Column {
	return []*column.Column{
		numbersOf(aboveColumn, list, func(p Place) uint64 {
			if p.Parent == 0 {
				return 0
			}
			return uint64(p.Left - p.Parent)
		}),
		numbersOf(belowColumn, list, func(p Place) uint64 { return uint64(p.Right - p.Left) }),
		numbersOf(numberColumn, list, func(p Place) uint64 { return uint64(p.Left) }),
	}
}

// ParsePlaces decodes a section with places of the file that begins at an offset.
func ParsePlaces(data []byte, offset int64) (Places, error) {
	var above, below, number column.Column
	err := parse(data, offset, []wanted{{aboveColumn, column.Uint64, &above}, {belowColumn, column.Uint64, &below}, {numberColumn, column.Uint64, &number}})
	out := make(Places, number.Rows)
	for i := range out {
		if err != nil {
			break
		}
		n, up, down := numberAt(&number, i), numberAt(&above, i), numberAt(&below, i)
		if n > math.MaxUint32 || up > n || down > math.MaxUint32-n || up == n && n > 0 {
			err = fault.Corruptf("place %d of span %d, %d above and %d below it", n, i, up, down)
		}
		out[i] = Place{uint32(n), uint32(n + down), uint32(n - up)}
		if up == 0 {
			out[i].Parent = 0
		}
	}
	return out, err
}
