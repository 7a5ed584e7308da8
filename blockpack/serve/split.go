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

// maxCopied bounds the work for a refused message: the bytes of all parts that are tried.
const maxCopied = 64 << 20

// splitter adds those spans of a refused message that can be stored. Its parts are tried one by one, with the resource and the
// scope of each, down to single spans.
type splitter struct {
	put      func(message []byte) error
	copied   int64 // bytes of the parts so far
	rejected int64 // spans that cannot be stored
}

// add tries the parts of a message of a level. wrap makes a whole message of one of its own fields. An error of put that is not
// blockpack.ErrRefused is returned.
func (s *splitter) add(message []byte, level int, wrap func(part []byte) []byte) error {
	shared, items := divide(message, repeated[level])
	whole := func(item []byte) []byte {
		part := append(make([]byte, 0, len(shared)+len(item)+16), shared...)
		part = protowire.AppendTag(part, repeated[level], protowire.BytesType)
		return wrap(protowire.AppendBytes(part, item))
	}
	for _, item := range items {
		if s.copied > maxCopied { // the rest counts as refused
			s.rejected += spansIn(item, level+1)
			continue
		}
		part := whole(item)
		s.copied += int64(len(part))
		err := s.put(part)
		switch {
		case err == nil:
		case !errors.Is(err, blockpack.ErrRefused):
			return err
		case level == len(repeated)-1:
			s.rejected++
		default:
			if err := s.add(item, level+1, whole); err != nil {
				return err
			}
		}
	}
	return nil
}

// spansIn counts the spans of a message of a level.
func spansIn(message []byte, level int) int64 {
	if level == len(repeated) {
		return 1
	}
	_, items := divide(message, repeated[level])
	n := int64(0)
	for _, item := range items {
		n += spansIn(item, level+1)
	}
	return n
}

// divide separates the values of a field from the other fields, up to the first byte that does not parse.
func divide(message []byte, field protowire.Number) (shared []byte, items [][]byte) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message)
		if n < 0 {
			break
		}
		if number == field && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(message)
			item, _ := protowire.ConsumeBytes(message[tag:])
			items = append(items, item)
		} else {
			shared = append(shared, message[:n]...)
		}
		message = message[n:]
	}
	return shared, items
}
