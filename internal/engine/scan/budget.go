package scan

import "sync/atomic"

// budget counts the bytes that a scan holds in addition to the batch that its caller has.
type budget struct {
	limit   int64
	batches atomic.Int64 // of decoded batches in the queue
	ahead   atomic.Int64 // that were read ahead of decoding
}

// used is the number of bytes that are held.
func (b *budget) used() int64 { return b.batches.Load() + b.ahead.Load() }

// allows reports whether a number of further bytes stays within the limit.
func (b *budget) allows(bytes int64) bool { return b.used()+bytes <= b.limit }
