package aggregate

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/format/hll"
)

// sketches estimate the number of distinct values of each group. They are exact up to mostHashes values.
type sketches struct {
	n       []sketch
	encoder *order.Encoder
	code    []byte
	bytes   int64

	dictionary arrow.ArrayData // the last one
	entries    []uint64        // hashes of its values
}

type sketch struct {
	hashes []uint64 // a set: open addressing, 0 for a free slot
	used   int
	large  *hll.Sketch // replaces hashes
}

const (
	sketchBits = 12 // 4096 counters: a standard error of 1.6 %
	mostHashes = 256
)

func newSketches(dt arrow.DataType) (*sketches, error) {
	e, err := order.NewEncoder([]order.Key{{Type: kinds.Unwrapped(dt)}})
	return &sketches{encoder: e}, err
}

func (s *sketches) grow(groups int) { s.n = extended(s.n, groups+1, sketch{}) }
func (s *sketches) size() int64     { return s.bytes + int64(40*cap(s.n)) }
func (s *sketches) release()        {}

func (s *sketches) add(groups []uint32, arg *argument) error {
	if d, ok := arg.arr.(*array.Dictionary); ok && d.Dictionary().Len() <= max(1<<16, 2*d.Len()) {
		if arg.column.arr == nil || d.Dictionary().Len() < d.Len() {
			return s.addCoded(groups, d)
		}
	}
	if v, ok := arg.column.ordinals(); ok && hasOrdinals(arg.column.arr.DataType()) {
		for i, g := range groups {
			if g != none {
				s.addHash(g, mix(mix(uint64(v[i]))))
			}
		}
		return nil
	}
	row := s.encoder.Rows(arg.column.arr)
	for i, g := range groups {
		if g != none {
			s.code = row(s.code[:0], i)
			s.addHash(g, xxh3.Hash(s.code))
		}
	}
	return nil
}

// addCoded hashes each value of a dictionary once.
func (s *sketches) addCoded(groups []uint32, arr *array.Dictionary) error {
	values := arr.Dictionary()
	if s.dictionary != values.Data() {
		s.dictionary, s.entries = values.Data(), s.entries[:0]
		row := s.encoder.Rows(values)
		for i := range values.Len() {
			s.code = row(s.code[:0], i)
			s.entries = append(s.entries, xxh3.Hash(s.code))
		}
	}
	for i, g := range groups {
		if g == none {
			continue
		}
		if k := arr.GetValueIndex(i); k >= 0 && k < len(s.entries) {
			s.addHash(g, s.entries[k])
		}
	}
	return nil
}

func (s *sketches) addHash(group uint32, h uint64) {
	to := &s.n[group]
	if to.large != nil {
		to.large.AddHash(h)
		return
	}
	h = max(h, 1)
	if 2*to.used >= len(to.hashes) {
		s.enlarge(to)
		if to.large != nil {
			to.large.AddHash(h)
			return
		}
	}
	mask := uint64(len(to.hashes) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		switch to.hashes[at] {
		case h:
			return
		case 0:
			to.hashes[at] = h
			to.used++
			return
		}
	}
}

// enlarge makes room for another hash.
func (s *sketches) enlarge(to *sketch) {
	old := to.hashes
	if to.used >= mostHashes {
		to.large, to.hashes = hll.New(sketchBits), nil
		for _, h := range old {
			if h != 0 {
				to.large.AddHash(h)
			}
		}
		s.bytes += 1<<sketchBits - int64(8*len(old))
		return
	}
	to.hashes = make([]uint64, max(4, 2*len(old)))
	s.bytes += int64(8 * (len(to.hashes) - len(old)))
	mask := uint64(len(to.hashes) - 1)
	for _, h := range old {
		if h == 0 {
			continue
		}
		at := h & mask
		for to.hashes[at] != 0 {
			at = (at + 1) & mask
		}
		to.hashes[at] = h
	}
}

// estimate is the number of distinct values of a group.
func (s *sketch) estimate() int64 {
	if s.large == nil {
		return int64(s.used)
	}
	return int64(s.large.Estimate())
}

// digests estimate quantiles of each group: t-digests (Dunning 2019), which are exact up to digestBuffer values.
type digests struct {
	n     []digest
	bytes int64
}

// digest has centroids in order, and values that are not merged into them yet.
type digest struct {
	centroids []centroid
	buffer    []float64
}

type centroid struct{ mean, weight float64 }

const (
	digestBuffer  = 512
	digestDensity = 200 // about the number of centroids
)

func (d *digests) grow(groups int) { d.n = extended(d.n, groups+1, digest{}) }
func (d *digests) size() int64     { return d.bytes + int64(48*cap(d.n)) }
func (d *digests) release()        {}

func (d *digests) add(groups []uint32, arg *argument) error {
	for i, x := range arg.column.reals() {
		g := groups[i]
		if g == none || x != x {
			continue
		}
		to := &d.n[g]
		if len(to.buffer) == cap(to.buffer) {
			d.makeRoom(to)
		}
		to.buffer = append(to.buffer, x)
	}
	return nil
}

// makeRoom makes a place in the buffer.
func (d *digests) makeRoom(to *digest) {
	if n := cap(to.buffer); n < digestBuffer {
		grown := make([]float64, len(to.buffer), max(4, 2*n))
		copy(grown, to.buffer)
		to.buffer = grown
		d.bytes += int64(8 * (cap(grown) - n))
		return
	}
	before := cap(to.centroids)
	to.merge()
	d.bytes += int64(16 * (cap(to.centroids) - before))
}

// merge merges the buffer into the centroids. Those in the middle get more weight than those at the ends.
func (d *digest) merge() {
	slices.Sort(d.buffer)
	all := make([]centroid, 0, len(d.centroids)+len(d.buffer))
	total, old := float64(len(d.buffer)), d.centroids
	for _, c := range old {
		total += c.weight
	}
	for _, x := range d.buffer {
		for len(old) > 0 && old[0].mean <= x {
			all, old = append(all, old[0]), old[1:]
		}
		all = append(all, centroid{x, 1})
	}
	all = append(all, old...)
	out, before := all[:0], 0.0
	end := limitOf(0) * total
	for i, c := range all {
		if last := len(out) - 1; i > 0 && before+out[last].weight+c.weight <= end && !math.IsInf(c.mean, 0) && !math.IsInf(out[last].mean, 0) {
			o := &out[last]
			o.weight += c.weight
			o.mean += (c.mean - o.mean) * c.weight / o.weight
			continue
		}
		if i > 0 {
			before += out[len(out)-1].weight
			end = limitOf(before/total) * total
		}
		out = append(out, c)
	}
	d.centroids, d.buffer = slices.Clone(out), d.buffer[:0]
}

// limitOf is the quantile up to which a centroid that begins at one may extend: a step of the scale function k1.
func limitOf(q float64) float64 {
	k := math.Asin(2*q-1) + math.Pi*2/digestDensity
	if k >= math.Pi/2 {
		return 1
	}
	return (math.Sin(k) + 1) / 2
}

// quantile is the value at a quantile, interpolated between the middles of centroids. ok is false without values.
func (d *digest) quantile(q float64) (v float64, ok bool) {
	d.merge()
	c := d.centroids
	if len(c) == 0 {
		return 0, false
	}
	total := 0.0
	for _, x := range c {
		total += x.weight
	}
	at, middle := q*(total-1)+0.5, 0.0
	for i := range c {
		next := middle + c[i].weight/2
		if at < next || i == len(c)-1 && at >= next {
			if i == 0 || at >= next {
				return c[i].mean, true
			}
			from := middle - c[i-1].weight/2
			part := (at - from) / (next - from)
			if c[i-1].mean == c[i].mean || math.IsInf(c[i-1].mean, 0) || math.IsInf(c[i].mean, 0) {
				return c[i].mean, true
			}
			return c[i-1].mean + part*(c[i].mean-c[i-1].mean), true
		}
		middle += c[i].weight
	}
	return c[len(c)-1].mean, true
}
