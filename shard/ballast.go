package shard

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// ballast is memory that a large scan holds and never touches, so that it takes
// addresses only. The garbage collector runs whenever the heap has doubled; in
// a process that does little but scan, that is after every other batch, and
// costs up to a quarter of the scan. With the ballast it runs after some more
// megabytes.
//
// The next scan takes over the ballast of the last one: else the heap would shrink in
// between, and the pages that the runtime then gives back would have to be fetched again.
type ballast struct {
	rows    int64 // that come in all, 0 if nobody knows
	threads int   // that decode
	given   int64 // bytes of batches so far
	held    *[]byte
	fits    bool // held is what this scan should hold
}

const (
	heldTogether = 24 << 20 // bytes of a batch and the ballast
	mostBallast  = 12 << 20 // more makes scans of small batches need over 64 MiB at times
	ballastFrom  = 8 << 20  // bytes of batches that make a scan large
	ballastStep  = 4 << 20  // sizes of ballasts, so that scans can use each other's
	mostBallasts = 4        // threads that hold one each, as a scan of their own would
)

// ballasts are those that no scan holds; the garbage collector drops them after a while.
var ballasts sync.Pool

// begin takes the ballast of an earlier scan, if there is one.
func (b *ballast) begin() { b.held, _ = ballasts.Get().(*[]byte) }

// end leaves the ballast to a later scan.
func (b *ballast) end() {
	if b.held != nil {
		ballasts.Put(b.held)
	}
	*b = ballast{}
}

// add counts the bytes of a batch of n rows.
func (b *ballast) add(batch []arrow.Array, n int64) {
	if b.fits {
		return
	}
	size := int64(0)
	for _, a := range batch {
		size += int64(a.Data().SizeInBytes())
	}
	b.given += size
	likely := max(float64(b.given), float64(size)/float64(n)*float64(b.rows))
	if likely >= ballastFrom {
		b.fits = true
		one := min(int(heldTogether-size+ballastStep/2)/ballastStep*ballastStep, mostBallast)
		b.hold(one * min(b.threads, mostBallasts))
	}
}

// hold makes the ballast one of size bytes.
func (b *ballast) hold(size int) {
	if b.held != nil && len(*b.held) == size {
		return
	}
	if b.held = nil; size > 0 {
		held := arrowutil.Arbitrary(size)
		b.held = &held
	}
}
