package serve

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack"
)

// A message is a tree of three levels. The field that repeats has this number in each.
var repeated = [...]protowire.Number{
	1, // ExportTraceServiceRequest.resource_spans
	2, // ResourceSpans.scope_spans
	2, // ScopeSpans.spans
}

// pieces adds those spans of a refused message that can be stored.
type pieces struct {
	message []byte // what repeats at the level is to be divided
	level   int
	wrap    func(part []byte) []byte // a part as a whole message; nil: it is one
	put     func(message []byte) error
}

// add puts what can be stored, and counts the spans that cannot. A message that does not parse has none. An error of put is one of the
// disk.
func (p pieces) add() (rejected int64, err error) {
	shared, items, ok := divide(p.message, repeated[p.level])
	if !ok {
		return 1, nil
	}
	for _, item := range items {
		whole := p.whole(shared, item)
		err := p.put(whole)
		switch {
		case err == nil:
		case !errors.Is(err, blockpack.ErrRefused):
			return rejected, err
		case p.level == len(repeated)-1:
			rejected++
		default:
			inner := pieces{message: item, level: p.level + 1, put: p.put, wrap: func(part []byte) []byte { return p.whole(shared, part) }}
			n, err := inner.add()
			if rejected += n; err != nil {
				return rejected, err
			}
		}
	}
	return rejected, nil
}

// whole is a message that has only one of the items of this level.
func (p pieces) whole(shared, item []byte) []byte {
	part := append([]byte(nil), shared...)
	part = protowire.AppendTag(part, repeated[p.level], protowire.BytesType)
	part = protowire.AppendBytes(part, item)
	if p.wrap == nil {
		return part
	}
	return p.wrap(part)
}

// divide separates the values of a field from the other fields. ok is false if the message does not parse.
func divide(message []byte, field protowire.Number) (shared []byte, items [][]byte, ok bool) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, nil, false
		}
		m := protowire.ConsumeFieldValue(number, kind, message[n:])
		if m < 0 {
			return nil, nil, false
		}
		if number == field && kind == protowire.BytesType {
			item, _ := protowire.ConsumeBytes(message[n:])
			items = append(items, item)
		} else {
			shared = append(shared, message[:n+m]...)
		}
		message = message[n+m:]
	}
	return shared, items, true
}
