package verify

import (
	"fmt"
	"sort"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// rangeCheck is a column of the range index, to look up many values.
type rangeCheck struct {
	of    *ranges.Column
	keys  []column.Value // ascending, each once
	words int            // of a set of blocks
	sets  []uint64       // blocks of each key, a bit for each
}

// maxSets bounds the memory of the sets of a column.
const maxSets = 1 << 24

func (c *checker) loadRanges() error {
	c.ranges = map[string]*rangeCheck{}
	for col := range c.meta.Ranges.All() {
		if col.Keys == 0 || c.meta.Ranges.Column(col.Name) == nil {
			continue
		}
		entries, err := col.Entries()
		if err != nil {
			if err := c.contradiction(err); err != nil { // such as keys of another type than the column, which nobody looks up
				return err
			}
			continue
		}
		r := &rangeCheck{of: col, words: (len(c.meta.Blocks) + 63) / 64}
		if int64(r.words)*int64(col.Keys) > maxSets {
			c.unchecked(fmt.Errorf("column %s of the range index, which is too large", col.Name))
			continue
		}
		for key, blocks := range entries {
			if n := len(r.keys); n == 0 || r.keys[n-1].Compare(key) != 0 {
				r.keys = append(r.keys, key)
				r.sets = append(r.sets, make([]uint64, r.words)...)
			}
			set := r.sets[len(r.sets)-r.words:]
			for _, id := range blocks {
				set[id/64] |= 1 << (id % 64)
			}
		}
		c.ranges[col.Name] = r
	}
	return nil
}

// has reports whether a lookup of a value gives a block.
func (r *rangeCheck) has(v column.Value, block int) bool {
	i := sort.Search(len(r.keys), func(i int) bool { return r.keys[i].Compare(v) > 0 }) - 1
	return i >= 0 && r.sets[i*r.words+block/64]>>(block%64)&1 == 1
}

// checkRanges looks up each value of a column of the block.
func (b *blockCheck) checkRanges(c *layout.BlockColumn, d *digested) error {
	r := b.ranges[c.Name]
	if r == nil || r.of.Type.Base() != c.Type.Base() {
		return nil
	}
	b.Count("range lookup", int64(len(d.distinct)))
	lost := 0
	var example column.Value
	for _, v := range d.distinct {
		if v.Type.Textual() && len(v.Data) == 0 {
			continue
		}
		if !r.has(v, b.index) {
			lost++
			example = v
		}
	}
	if lost > 0 {
		return b.wrong("range index", "%d of %d values of %q do not lead to the block, such as %v", lost, len(d.distinct), c.Name, example)
	}
	if b.own && !c.Type.Textual() && len(d.distinct) > 0 {
		lo, hi := column.Value{Type: c.Type.Base(), Bits: uint64(r.of.Min)}, column.Value{Type: c.Type.Base(), Bits: uint64(r.of.Max)}
		if lo.Compare(d.distinct[0]) > 0 || hi.Compare(d.distinct[len(d.distinct)-1]) < 0 {
			return b.wrong("range index", "values of %q are %v to %v, there it says %v to %v", c.Name, d.distinct[0], d.distinct[len(d.distinct)-1], lo, hi)
		}
	}
	return nil
}

func (c *checker) loadColumns() error {
	list, ok := c.meta.Ranges.FileColumns()
	if !ok {
		if c.own && c.meta.Ranges.Column(ranges.ColumnsColumn) != nil {
			return c.problem(fault.In(fault.Corruptf("the list of the columns of the file cannot be read"), "range index", c.meta.Sections[1]))
		}
		return nil
	}
	c.listed = map[column.Key]column.Traits{}
	for _, f := range list {
		c.listed[f.Key()] = f.Flags
	}
	return nil
}

// compareColumns compares what blocks have of columns with the list of the columns of the file. It decides about types.
func (c *checker) compareColumns() error {
	if c.listed == nil || !c.Complete() {
		return nil
	}
	found := map[column.Key]column.Traits{}
	for _, f := range c.survey.Fields() {
		found[f.Key()] = f.Flags
	}
	for k, listed := range c.listed {
		have, ok := found[k]
		what := ""
		switch missing := listed &^ have; {
		case !ok:
			what = "that it exists"
		case missing&column.Always != 0:
			what = "that all spans have it"
		case missing&column.IDs != 0:
			what = "that all values are as wide as ids"
		case have&^listed&column.Large != 0:
			what = "that no value is 2^63 or more"
		default:
			continue
		}
		err := fault.Corruptf("of column %q the list of the columns of the file says %s", k.Name, what)
		if err := c.contradiction(fault.In(err, "range index", c.meta.Sections[1])); err != nil {
			return err
		}
	}
	return nil
}

// compareTraceCounts finds entries of the trace indexes that no block confirms: all that blocks have were found there.
func (c *checker) compareTraceCounts() error {
	if !c.meta.TracesComplete || !c.Complete() {
		return nil
	}
	names, indexes := []string{"trace index", "compact index"}, []*layout.TraceIndex{c.meta.Traces}
	if c.compact != nil {
		indexes = append(indexes, c.compact.Traces)
	}
	for i, x := range indexes {
		name := names[i]
		if x.Len() == 0 {
			continue
		}
		n := int64(0)
		for _, blocks := range x.All() {
			n += int64(len(blocks))
		}
		if want := c.Number("trace reference"); n != want {
			err := fault.In(fault.Corruptf("%d entries for traces in blocks, which have %d", n, want), name, -1)
			if err := c.contradiction(err); err != nil {
				return err
			}
		}
	}
	return nil
}
