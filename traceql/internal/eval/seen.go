package eval

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// SpanSet is the spans that were counted, by hashes of their ids: of 128 bits, as two spans with one hash would count once, and with a seed that nobody
// who sends spans knows.
type SpanSet struct {
	seed uint64
	ids  map[xxh3.Uint128]struct{}
	buf  []byte
}

// NewSpanSet is an empty set.
func NewSpanSet() *SpanSet {
	return &SpanSet{seed: rand.Uint64(), ids: map[xxh3.Uint128]struct{}{}}
}

// Len is the number of spans with ids.
func (s *SpanSet) Len() int { return len(s.ids) }

// BytesPerSeen is about the memory of a span in a SpanSet.
const BytesPerSeen = 32

// Fresh are the spans of a batch that belong to a trace, and were not there before.
func (s *SpanSet) Fresh(batch *spans.Batch) []Span {
	list := make([]Span, 0, batch.Record.NumRows())
	for row := range int(batch.Record.NumRows()) {
		trace, id := batch.TraceID(row), batch.SpanID(row)
		if len(trace) == 0 {
			continue
		}
		if len(id) > 0 {
			// Both sides of a call may share an id.
			s.buf = append(binary.AppendVarint(binary.AppendUvarint(s.buf[:0], uint64(len(trace))), batch.Kind(row)), trace...)
			s.buf = append(s.buf, id...)
			key := xxh3.Hash128Seed(s.buf, s.seed)
			if _, known := s.ids[key]; known {
				continue
			}
			s.ids[key] = struct{}{}
		}
		list = append(list, Span{Batch: batch, Row: int32(row), Start: batch.Start(row)})
	}
	return list
}
