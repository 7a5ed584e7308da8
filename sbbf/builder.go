package sbbf

import (
	"cmp"
	"math"
)

// Defaults of [Options], those of the reference.
const (
	DefaultMaxValues = 1024 // distinct values
	DefaultFPP       = 0.01 // one false positive in a hundred
)

// Options are the options of a [Builder]. The zero value is the default.
type Options struct {
	// MaxValues is the maximum number of distinct values in a filter, by default 1024. A column with more has no
	// filter. The reference also reads larger filters. At the default rate, a value takes 10 bits.
	MaxValues int
	// FPP is the rate of false positives that determines the size, by default 0.01. The real rate is higher, because
	// the bits of a value are in one block.
	FPP float64
}

// Builder collects the distinct hashes of a column and makes a filter of them. It must not be used concurrently. Its
// memory grows with the hashes, to some 20 to 40 bytes for each of MaxValues.
type Builder struct {
	o         Options
	hashes    map[uint64]struct{}
	n         int // distinct hashes
	abandoned bool
}

// NewBuilder returns an empty builder.
func NewBuilder(o Options) *Builder {
	o.MaxValues = cmp.Or(max(o.MaxValues, 0), DefaultMaxValues)
	if !(o.FPP > 0 && o.FPP < 1) {
		o.FPP = DefaultFPP
	}
	return &Builder{o: o, hashes: map[uint64]struct{}{}}
}

// Abandoned reports whether there are too many distinct values. Further hashes are then not needed.
func (b *Builder) Abandoned() bool { return b.abandoned }

// AddHash adds a value by its [Hash].
func (b *Builder) AddHash(h uint64) {
	if b.abandoned {
		return
	}
	b.hashes[h] = struct{}{}
	if b.n = len(b.hashes); b.n > b.o.MaxValues {
		b.abandoned = true
		b.hashes = nil
	}
}

// Len is the number of distinct hashes.
func (b *Builder) Len() int { return b.n }

// FPP is the rate of false positives that the filter is made for.
func (b *Builder) FPP() float64 { return b.o.FPP }

// Finish returns the bytes of the filter. It returns nil if there are no values, or too many.
func (b *Builder) Finish() []byte {
	if b.abandoned || b.n == 0 {
		return nil
	}
	data := make([]byte, size(b.n, b.o.FPP))
	for h := range b.hashes {
		set(data, h)
	}
	return data
}

// size returns the number of bytes for n values: the bits of a classic Bloom filter, rounded up to whole bits for
// each value, and to whole blocks.
func size(n int, fpp float64) int {
	bits := math.Ceil(-float64(n) * math.Log(fpp) / (math.Ln2 * math.Ln2))
	perValue := int(math.Ceil(bits / float64(n)))
	bytes := n * perValue / 8
	return max((bytes+blockSize-1)/blockSize, 1) * blockSize
}
