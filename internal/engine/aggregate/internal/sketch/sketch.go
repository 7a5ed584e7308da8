// Package sketch estimates the number of distinct values, and quantiles, in little memory.
package sketch

import (
	"math"
	"slices"

	"github.com/amudai/amudai-go/internal/format/hll"
)

// Distinct estimates the number of distinct hashes. It is exact up to MostHashes.
type Distinct struct {
	hashes []uint64 // a set: open addressing, 0 for a free slot
	used   int
	large  *hll.Sketch // replaces hashes
}

const (
	sketchBits = 12  // 4096 counters: a standard error of 1.6 %
	MostHashes = 256 // up to which [Distinct] is exact
)

// Add adds a hash. grown is the number of bytes by which the memory has grown.
func (d *Distinct) Add(h uint64) (grown int64) {
	if d.large != nil {
		d.large.AddHash(h)
		return 0
	}
	h = max(h, 1)
	if 2*d.used >= len(d.hashes) {
		grown = d.enlarge()
		if d.large != nil {
			d.large.AddHash(h)
			return grown
		}
	}
	mask := uint64(len(d.hashes) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		switch d.hashes[at] {
		case h:
			return grown
		case 0:
			d.hashes[at] = h
			d.used++
			return grown
		}
	}
}

// enlarge makes room for another hash.
func (d *Distinct) enlarge() (grown int64) {
	old := d.hashes
	if d.used >= MostHashes {
		d.large, d.hashes = hll.New(sketchBits), nil
		for _, h := range old {
			if h != 0 {
				d.large.AddHash(h)
			}
		}
		return 1<<sketchBits - int64(8*len(old))
	}
	d.hashes = make([]uint64, max(4, 2*len(old)))
	mask := uint64(len(d.hashes) - 1)
	for _, h := range old {
		if h == 0 {
			continue
		}
		at := h & mask
		for d.hashes[at] != 0 {
			at = (at + 1) & mask
		}
		d.hashes[at] = h
	}
	return int64(8 * (len(d.hashes) - len(old)))
}

// Estimate is the number of distinct hashes.
func (d *Distinct) Estimate() int64 {
	if d.large == nil {
		return int64(d.used)
	}
	return int64(d.large.Estimate())
}

// Digest estimates quantiles: a t-digest (Dunning 2019), which is exact up to digestBuffer values. It has centroids in order, and values
// that are not merged into them yet.
type Digest struct {
	centroids []centroid
	buffer    []float64
}

type centroid struct{ mean, weight float64 }

const (
	digestBuffer  = 512
	digestDensity = 200 // about the number of centroids
)

// Add adds a number other than NaN. grown is the number of bytes by which the memory has grown.
func (d *Digest) Add(x float64) (grown int64) {
	if len(d.buffer) == cap(d.buffer) {
		grown = d.makeRoom()
	}
	d.buffer = append(d.buffer, x)
	return grown
}

// makeRoom makes a place in the buffer.
func (d *Digest) makeRoom() (grown int64) {
	if n := cap(d.buffer); n < digestBuffer {
		larger := make([]float64, len(d.buffer), max(4, 2*n))
		copy(larger, d.buffer)
		d.buffer = larger
		return int64(8 * (cap(larger) - n))
	}
	before := cap(d.centroids)
	d.merge()
	return int64(16 * (cap(d.centroids) - before))
}

// merge merges the buffer into the centroids. Those in the middle get more weight than those at the ends.
func (d *Digest) merge() {
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

// Quantile is the value at a quantile, interpolated between the middles of centroids. ok is false without values.
func (d *Digest) Quantile(q float64) (v float64, ok bool) {
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
