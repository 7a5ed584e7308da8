package encode

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/amudai/amudai-go/internal/base/frontcode"
)

// prefixParts is kind 10.
type prefixParts struct {
	done           bool
	plain          []byte // suffixes before compression
	dict, suffixes []byte
}

// prefixSize is the size of kinds 10 and 11.
func (e *Encoder) prefixSize() (int, error) {
	p := &e.prefixes
	if !p.done {
		chosen, err := e.prefixesThatPay()
		if err != nil {
			return 0, err
		}
		if err := e.makePrefixes(chosen, e.count); err != nil {
			return 0, err
		}
		p.done = true
	}
	return 2 + e.rowsSize() + 4 + len(p.dict) + 4 + len(p.suffixes), nil
}

// prefixesThatPay gives the prefixes with which the column is smaller, by real size, or that of a sample.
func (e *Encoder) prefixesThatPay() (*prefixSet, error) {
	chosen := e.choosePrefixes()
	if chosen == nil {
		return nil, nil
	}
	n, scale := e.count, 1
	if len(e.c.Values.Data) >= sampleMin {
		n, scale = e.count/sampleParts, sampleParts
	}
	p := &e.prefixes
	if err := e.makePrefixes(nil, n); err != nil {
		return nil, err
	}
	without := len(p.dict) + scale*len(p.suffixes)
	if err := e.makePrefixes(chosen, n); err != nil {
		return nil, err
	}
	if len(p.dict)+scale*len(p.suffixes) >= without {
		return nil, nil
	}
	return chosen, nil
}

// makePrefixes compresses prefixes, and the suffixes of the first n values. Entry 0 of the prefixes is empty, and stands
// for no prefix.
func (e *Encoder) makePrefixes(chosen *prefixSet, n int) (err error) {
	p := &e.prefixes
	p.plain = binary.LittleEndian.AppendUint32(p.plain[:0], uint32(1+chosen.len()))
	p.plain = appendSection(p.plain, nil)
	for i := range chosen.len() {
		p.plain = appendSection(p.plain, chosen.sorted[i])
	}
	if p.dict, err = e.compress(p.dict[:0], p.plain, ofSuffixes); err != nil {
		return err
	}
	p.plain = append(p.plain[:0], 1) // width of an index
	for i := range n {
		value := e.bytes(i)
		k := chosen.longest(value)
		p.plain = append(p.plain, byte(k+1))
		if k >= 0 {
			value = value[len(chosen.sorted[k]):]
		}
		p.plain = appendSection(p.plain, value)
	}
	p.suffixes, err = e.compress(p.suffixes[:0], p.plain, ofSuffixes)
	return err
}

const (
	prefixSample = 256 // values in which prefixes are looked for
	prefixMin    = 4   // bytes that a prefix has more than the one it begins with
	prefixUses   = 4   // values of the sample with a prefix
	maxPrefixes  = 254 // with the empty one, and without the index that means none, a byte is enough
)

// prefixSet is some prefixes. nil has none.
type prefixSet struct {
	sorted [][]byte
	parent []int // the longest other prefix that each begins with, or -1
}

func (s *prefixSet) len() int {
	if s == nil {
		return 0
	}
	return len(s.sorted)
}

// longest gives the longest prefix of a value, or -1.
func (s *prefixSet) longest(value []byte) int {
	if s == nil {
		return -1
	}
	k, found := slices.BinarySearchFunc(s.sorted, value, bytes.Compare)
	if !found {
		k--
	}
	for k >= 0 && !bytes.HasPrefix(value, s.sorted[k]) {
		k = s.parent[k]
	}
	return k
}

// sharedPrefix is what n values that are neighbours in sorted order begin with.
type sharedPrefix struct {
	bytes []byte
	from  int // the first of the values
	gain  int
}

// choosePrefixes finds prefixes that values of a sample share. It gives nil if there are none.
func (e *Encoder) choosePrefixes() *prefixSet {
	n := min(e.count, prefixSample)
	sample := make([][]byte, n)
	for i := range sample {
		sample[i] = e.bytes(i * e.count / n)
	}
	slices.SortFunc(sample, bytes.Compare)
	sample = slices.CompactFunc(sample, bytes.Equal) // values that are there twice are for dictionaries
	found := sharedPrefixes(sample)
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b sharedPrefix) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), bytes.Compare(a.bytes, b.bytes))
	})
	s := &prefixSet{}
	for _, f := range found[:min(len(found), maxPrefixes)] {
		s.sorted = append(s.sorted, f.bytes)
	}
	slices.SortFunc(s.sorted, bytes.Compare)
	for i, prefix := range s.sorted {
		parent := i - 1
		for parent >= 0 && !bytes.HasPrefix(prefix, s.sorted[parent]) {
			parent = s.parent[parent]
		}
		s.parent = append(s.parent, parent)
	}
	return s
}

// sharedPrefixes walks sorted values, and the tree of what neighbours have in common.
func sharedPrefixes(sorted [][]byte) (found []sharedPrefix) {
	open := []sharedPrefix{{}} // from the root, the empty prefix, downwards
	for i := 1; i <= len(sorted); i++ {
		common := 0
		if i < len(sorted) {
			common = frontcode.CommonPrefix(sorted[i-1], sorted[i])
		}
		from := i - 1
		for len(open[len(open)-1].bytes) > common {
			p := open[len(open)-1]
			open = open[:len(open)-1]
			from = p.from
			above := max(len(open[len(open)-1].bytes), common)
			if uses := i - from; uses >= prefixUses && len(p.bytes)-above >= prefixMin {
				p.gain = (uses - 1) * (len(p.bytes) - above)
				found = append(found, p)
			}
		}
		if common > len(open[len(open)-1].bytes) {
			open = append(open, sharedPrefix{bytes: sorted[i-1][:common], from: from})
		}
	}
	return found
}
