package shard

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrowutil"
)

// ballast is memory that a large scan holds and never touches, so that it takes
// addresses only. The garbage collector runs whenever the heap has doubled; in
// a process that does little but scan, that is after every other batch, and
// costs up to a quarter of the scan. With the ballast it runs after some more
// megabytes.
type ballast struct {
	rows  int64 // that come in all, 0 if nobody knows
	given int64 // bytes of batches so far
	held  []byte
}

const (
	heldTogether = 20 << 20 // bytes of a batch and the ballast
	ballastFrom  = 8 << 20  // bytes of batches that make a scan large
)

// add counts the bytes of a batch of n rows.
func (b *ballast) add(batch []arrow.Array, n int64) {
	if b.held != nil {
		return
	}
	size := int64(0)
	for _, a := range batch {
		size += int64(a.Data().SizeInBytes())
	}
	b.given += size
	likely := max(float64(b.given), float64(size)/float64(n)*float64(b.rows))
	if likely >= ballastFrom && size < heldTogether {
		b.held = arrowutil.Arbitrary(int(heldTogether - size))
	}
}
