package shard_test

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// columnDigest is a hash of the values of a column, bit by bit, which depends neither on batches nor on
// the layout: dictionaries, runs and views give the same as plain arrays.
func columnDigest(column []arrow.Array) string {
	h := xxh3.New()
	bits := arrowutil.Bits(func(b []byte, n int64) []byte { return binary.LittleEndian.AppendUint64(b, uint64(n)) })
	var slot []byte
	for _, arr := range column {
		appendBits := bits.Marked(arr)
		for i := range arr.Len() {
			slot = appendBits(slot[:0], i)
			_, _ = h.Write(slot)
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
