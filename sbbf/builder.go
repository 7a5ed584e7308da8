package sbbf

import "math"

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
// memory grows with the hashes, up to 16 to 32 bytes for each of MaxValues.
type Builder struct {
	o         Options
	table     []uint64 // open addressing; 0 is a free slot
	n         int      // distinct hashes, that of zero included
	zero      bool     // the hash 0 occurred
	abandoned bool
}

// NewBuilder returns an empty builder.
func NewBuilder(o Options) *Builder {
	if o.MaxValues <= 0 {
		o.MaxValues = DefaultMaxValues
	}
	if !(o.FPP > 0 && o.FPP < 1) {
		o.FPP = DefaultFPP
	}
	return &Builder{o: o}
}

// Abandoned reports whether there are too many distinct values. Further hashes are then not needed.
func (b *Builder) Abandoned() bool { return b.abandoned }

// AddHash adds a value by its [Hash].
func (b *Builder) AddHash(h uint64) {
	if b.abandoned {
		return
	}
	if h == 0 {
		if !b.zero {
			b.zero = true
			b.added()
		}
		return
	}
	if 2*(b.n+1) > len(b.table) {
		b.grow()
	}
	if b.put(h) {
		b.added()
	}
}

func (b *Builder) added() {
	b.n++
	if b.n > b.o.MaxValues {
		b.abandoned = true
		b.table = nil
	}
}

// put inserts a hash. It returns false if the hash is there already.
func (b *Builder) put(h uint64) bool {
	mask := uint64(len(b.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch b.table[i] {
		case h:
			return false
		case 0:
			b.table[i] = h
			return true
		}
	}
}

func (b *Builder) grow() {
	old := b.table
	b.table = make([]uint64, max(2*len(old), 16))
	for _, h := range old {
		if h != 0 {
			b.put(h)
		}
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
	for _, h := range b.table {
		if h != 0 {
			set(data, h)
		}
	}
	if b.zero {
		set(data, 0)
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
