package dictionary

import (
	"math/bits"
	"sync"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/base/lz4"
)

const (
	sampleLen     = 64 << 10  // bytes of the sample of values for the compression ratio
	blockBytes    = 128 << 10 // approximate bytes of values in a block without dictionary
	blockMost     = 64 << 10  // values in such a block
	blockOverhead = 64
)

var compressors = sync.Pool{New: func() any { return new(lz4.Encoder) }}

// BriefRows is up to how many rows a dictionary and its codes may be brief, see [Builder.Brief]: twice as many as a block has. Trials would take
// longer than writing them.
const BriefRows = 2 * blockMost

// FirstLook is the number of rows after which [Builder.Stay] may first return false.
const FirstLook = 16 << 10

// longLook is the bytes of a dictionary of fewer rows that is given up unless a quarter of the values repeat.
const longLook = 2 << 20

// Stay reports whether to continue to add values after a number of rows, nulls included. Early on it nearly always is
// true, later only while most values repeat. all is how many rows there will be, 0 if that is not known: of those that [Builder.Keep] refuses in the end, it
// is false early.
func (b *Builder) Stay(rows, all int64) bool {
	distinct := int64(b.Distinct())
	switch {
	case b.Full():
		return false
	case b.Brief && all > 0 && all <= BriefRows && rows >= FirstLook:
		return 8*distinct < 5*rows
	case rows < FirstLook:
		return !b.Packed || b.Size() < longLook || 4*distinct < 3*rows
	case rows < 64<<10:
		return distinct < rows-rows/16
	case rows < 128<<10:
		return distinct < rows-rows/8
	}
	return distinct < rows/2
}

// Keep reports whether a dictionary pays: whether it and the codes of rows values, nulls included, take hardly more
// space than the values without it. total is the size of all values, repeated ones each time. It needs all values.
// Before that, use [Builder.Stay].
//
// Without a dictionary, each block either has a dictionary of its own, with codes that are no longer than these, or
// is compressed. A dictionary therefore pays if blocks repeat many values, and hardly in a single block. It may be
// larger by a tenth, because readers find values in it without decoding.
func (b *Builder) Keep(rows, total int64) bool {
	if rows == 0 || b.Full() || b.Brief && rows <= BriefRows && b.Unequal(rows) {
		return false // a single block repeats what a compressor finds in less time
	}
	native := b.withoutDictionary(rows, total)
	return b.KeepAgainst(rows, native+native/10)
}

// Unequal reports whether more than half of so many values are distinct.
func (b *Builder) Unequal(rows int64) bool { return 2*int64(b.Distinct()) > rows }

// Repeats reports whether [Builder.Keep] may be true for the values of a brief column, by runs of them: without it, no more than half of
// all are distinct, so that each of a sample has an equal one in it with half of the share that the sample has. expected is about how many are distinct,
// for [Builder.Expect].
func Repeats(v bytestring.Values, valid encoding.Bits) (repeat bool, expected int) {
	const runs, run = 32, 64
	seen := newSet(min(v.N, runs*run))
	defer releaseSet(seen)
	looked := 0
	for from := 0; from < v.N && looked < runs*run; from += max(v.N/runs, run) {
		for i := from; i < min(from+run, v.N); i++ {
			if looked++; valid.At(i) {
				seen.Add(v.At(i))
			}
		}
	}
	if expected = 2 * seen.Len(); 2*expected > looked {
		expected = v.N * seen.Len() / looked
	}
	return 2*(looked-seen.Len())*v.N >= looked*looked, expected
}

// KeepAgainst is [Builder.Keep] with the size of the rows without dictionary, for example from trials on a sample.
func (b *Builder) KeepAgainst(rows, native int64) bool {
	native -= b.CodesSize(rows)
	if !b.Packed {
		return int64(b.Size()) < native
	}
	b.sample()
	return b.packedSize(1) < native || b.packedSize(b.ratio()) < native // a ratio is measured if it matters
}

// Skewed reports whether codes that are shorter for frequent values would save a third of codes of one length. Those of a single block are
// not worth the search for them.
func (b *Builder) Skewed() bool {
	rows := uint64(b.rows())
	if b.Len() < 2 || rows <= blockMost {
		return false
	}
	own := uint64(0)     // the sum of count * log2 count
	var logs [512]uint64 // of small counts
	for _, n := range b.counts {
		switch {
		case n >= int64(len(logs)):
			own += uint64(n) * log2(uint64(n))
			continue
		case logs[n] == 0:
			logs[n] = log2(uint64(n))
		}
		own += uint64(n) * logs[n]
	}
	width := uint64(bits.Len(uint(b.Len()-1))) << logBits
	return 3*(rows*log2(rows)-own) < 2*rows*width
}

const logBits = 8

// log2 is the binary logarithm of n > 0 with logBits bits behind the point, the same on all machines.
func log2(n uint64) (log uint64) {
	log = uint64(bits.Len64(n)) - 1
	x := n << (63 - log) // from 2^63 on; it is squared for each bit
	for range logBits {
		hi, _ := bits.Mul64(x, x)
		if log <<= 1; hi >= 1<<63 {
			log++
			x = hi
		} else {
			x = hi << 1
		}
	}
	return log
}

// packedSize estimates the packed form of values that are compressed with a ratio.
func (b *Builder) packedSize(ratio float64) int64 {
	perEntry := int64(3) // bytes: its length, and its place among the sorted ids
	if b.Key != nil {
		perEntry = 0 // ids have the order of the values
	}
	return packedHeader + int64(float64(b.DataLen())*ratio) + perEntry*int64(b.Len())
}

// CodesSize estimates the buffer of codes.
func (b *Builder) CodesSize(rows int64) int64 {
	return rows*int64(bits.Len(uint(max(b.Len(), 1)-1)))/8 + blockOverhead
}

// withoutDictionary estimates the buffer of values.
func (b *Builder) withoutDictionary(rows, total int64) int64 {
	distinct := int64(b.Distinct())
	perBlock := min(max(blockBytes*rows/max(total, 1), 1024), blockMost)
	blocks := (rows + perBlock - 1) / perBlock
	inBlock := min(distinct, perBlock)
	own := min(int64(b.DataLen()), inBlock*int64(b.DataLen())/max(distinct, 1))
	perValue := int64(1)
	if b.fixed > 0 {
		perValue = 0 // no lengths
	}
	dictionaries := rows*int64(bits.Len(uint(inBlock)))/8 + blocks*(own+perValue*inBlock+blockOverhead)
	compressed := int64(float64(total)*b.ratio()) + perValue*rows*5/4 + blocks*blockOverhead
	if b.fixed > 0 {
		return min(compressed, total) // dictionary blocks are for values of any length
	}
	return min(dictionaries, compressed, total+2*rows)
}

// ratio is the compression ratio of LZ4 for a sample of the distinct values. Repetitions of whole values are part of
// the estimate of dictionaries in blocks.
func (b *Builder) ratio() float64 {
	b.sample()
	if b.sampledRatio == 0 {
		b.sampledRatio = measureRatio(b.set.Data()[:b.sampled])
	}
	return b.sampledRatio
}

// sample takes the values that there are now as the sample, unless the latest one has half of them.
func (b *Builder) sample() {
	if b.sampled == 0 || b.DataLen() >= 2*b.sampled {
		b.sampled, b.sampledRatio = b.DataLen(), 0
	}
}

func measureRatio(sample []byte) float64 {
	if len(sample) > sampleLen {
		at := (len(sample) - sampleLen) / 2
		sample = sample[at : at+sampleLen]
	}
	if len(sample) == 0 {
		return 1
	}
	z := compressors.Get().(*lz4.Encoder)
	n := len(z.Append(nil, sample))
	compressors.Put(z)
	return min(float64(n)/float64(len(sample)), 1)
}
