package sbbf

import "math"

// Defaults of [Options], those of the reference.
const (
	DefaultMaxValues = 1024 // distinct values
	DefaultFPP       = 0.01 // one false answer in a hundred
)

// Options are those of a [Builder]. The zero value is the default.
type Options struct {
	// MaxValues is how many distinct values a filter holds at most, by default
	// 1024. A column with more has none. Larger filters are read by the
	// reference too; 10 bits a value at the default rate.
	MaxValues int
	// FPP is the rate of false positives that the size is made for, by default
	// 0.01. As the bits of a value share one block, the real rate is higher.
	FPP float64
}

// Builder collects the distinct hashes of a column and makes a filter of them.
// It belongs to one goroutine. Its memory grows with the hashes, up to 16 to 32
// bytes for each of MaxValues.
type Builder struct {
	o         Options
	table     []uint64 // open addressing; 0 is a free place
	n         int      // distinct hashes, that of zero included
	zero      bool     // the hash 0 was seen
	abandoned bool
}

// NewBuilder is an empty builder.
func NewBuilder(o Options) *Builder {
	if o.MaxValues <= 0 {
		o.MaxValues = DefaultMaxValues
	}
	if !(o.FPP > 0 && o.FPP < 1) {
		o.FPP = DefaultFPP
	}
	return &Builder{o: o}
}

// Abandoned tells that there are too many distinct values: more hashes are not
// needed.
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

// put is false if the hash is there already.
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

// Finish is the filter's bytes, nil if there is none: no value, or too many.
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

// size is the number of bytes for n values: the bits of a classic Bloom filter,
// rounded up to whole bits a value, rounded up to whole blocks.
func size(n int, fpp float64) int {
	bits := math.Ceil(-float64(n) * math.Log(fpp) / (math.Ln2 * math.Ln2))
	perValue := int(math.Ceil(bits / float64(n)))
	bytes := n * perValue / 8
	return max((bytes+blockSize-1)/blockSize, 1) * blockSize
}
