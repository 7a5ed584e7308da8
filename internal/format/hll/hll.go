// Package hll estimates how many distinct values a column holds, from a sketch
// of 128 bytes: HyperLogLog (Flajolet et al. 2007) with the bias correction of
// HyperLogLog++ (Heule et al. 2013). See docs/format.md §10.5.
//
// A value's hash chooses one of 2^p counters by its upper p bits; the counter
// keeps the greatest rank seen, the place of the first 1 bit in the rest.
//
//	p = 7   hash 29ec303170129658 = 0010100 | 1111011…    counter 20, rank 1
package hll

import (
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// The parameters of sketches.
const (
	Algorithm   = "xxh3_64"          // hash function
	Seed        = 0x416D7564484C4C31 // of the hash
	DefaultBits = 7                  // p of the reference
	MinBits     = 4                  // least p that is read
	MaxBits     = 18                 // greatest p that is read
)

// Hash is the hash of a value for sketches with [Seed].
func Hash(value []byte) uint64 { return xxh3.HashSeed(value, Seed) }

// Sketch is a set of counters. It belongs to one goroutine while it grows.
type Sketch struct {
	bits     int
	counters []byte
}

// New is an empty sketch of 2^bits counters. It panics if bits is not in
// [MinBits, MaxBits].
func New(bits int) *Sketch {
	if bits < MinBits || bits > MaxBits {
		panic("hll: bits out of range")
	}
	return &Sketch{bits, make([]byte, 1<<bits)}
}

// Parse is a sketch with a copy of the counters that a file holds.
func Parse(bits uint32, counters []byte) (*Sketch, error) {
	if bits < MinBits || bits > MaxBits {
		return nil, fault.Unsupportedf("HyperLogLog sketch of %d bits per index", bits)
	}
	if len(counters) != 1<<bits {
		return nil, fault.Corruptf("HyperLogLog sketch of %d bits per index has %d counters", bits, len(counters))
	}
	for _, c := range counters {
		if int(c) > 65-int(bits) {
			return nil, fault.Corruptf("HyperLogLog counter %d of %d hash bits", c, 64-bits)
		}
	}
	return &Sketch{int(bits), append([]byte(nil), counters...)}, nil
}

// Bits is p: the sketch has 2^p counters.
func (s *Sketch) Bits() int { return s.bits }

// Counters are the counters, one byte each. They still belong to the sketch.
func (s *Sketch) Counters() []byte { return s.counters }

// AddHash adds a value by its hash.
func (s *Sketch) AddHash(h uint64) {
	rest := h << s.bits
	rank := byte(min(bits.LeadingZeros64(rest), 64-s.bits) + 1)
	if c := &s.counters[h>>(64-s.bits)]; *c < rank {
		*c = rank
	}
}

// Merge adds the values of other. If the sketches differ in size, it returns false and changes
// nothing.
func (s *Sketch) Merge(other *Sketch) bool {
	if s.bits != other.bits {
		return false
	}
	for i, c := range other.counters {
		s.counters[i] = max(s.counters[i], c)
	}
	return true
}

// Estimate is the estimated number of distinct values.
func (s *Sketch) Estimate() uint64 {
	m := float64(len(s.counters))
	sum, zeros := 0.0, 0
	for _, c := range s.counters {
		sum += math.Ldexp(1, -int(c))
		if c == 0 {
			zeros++
		}
	}
	e := alpha(len(s.counters)) * m * m / sum
	if e <= 5*m {
		e = max(e-bias(s.bits, e), 0)
	}
	h := e
	if zeros > 0 { // linear counting
		h = m * math.Log(m/float64(zeros))
	}
	if h <= threshold[s.bits-MinBits] {
		return uint64(math.Round(h))
	}
	return uint64(math.Round(e))
}

func alpha(m int) float64 {
	switch m {
	case 16:
		return 0.673
	case 32:
		return 0.697
	case 64:
		return 0.709
	}
	return 0.7213 / (1 + 1.079/float64(m))
}

// threshold is the largest estimate for which linear counting is better, for each precision
// from 4.
var threshold = [...]float64{10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 11500, 20000, 50000, 120000, 350000}
