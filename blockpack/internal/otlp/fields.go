package otlp

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/blockpack/internal/wire"
)

// messageType is a type of messages, with the columns of its fields. Spans are read and written by it.
type messageType struct {
	*wire.Message
	scope   int
	columns [wire.MaxField]int // by number of the field, in spans.Intrinsics. Attributes that are not plain have one, too
	unknown int                // the column of other fields, encoded; none: that of the message around this one
	inner   *messageType       // a field that is one message: its fields are stored as those of the message around it
	number  protowire.Number   // of inner
}

// none stands for no column: a place behind those of fields.
var none = len(spans.Intrinsics)

// The messages whose fields have columns.
var (
	resourceSpansMessage = around(ofResource, wire.ResourceSpans, spans.ResourceUnknown, [wire.MaxField]string{3: spans.ResourceSchemaURL}, 1,
		newMessage(ofResource, wire.Resource, "", [wire.MaxField]string{
			1: spans.ResourceAttrs, 2: spans.ResourceDroppedAttrs, 3: spans.ResourceEntityRefs,
		}))
	scopeSpansMessage = around(ofScope, wire.ScopeSpans, spans.ScopeUnknown, [wire.MaxField]string{3: spans.ScopeSchemaURL}, 1,
		newMessage(ofScope, wire.Scope, "", [wire.MaxField]string{
			1: spans.ScopeName, 2: spans.ScopeVersion, 3: spans.ScopeAttrs, 4: spans.ScopeDroppedAttrs,
		}))
	spanMessage = around(ofSpan, wire.Span, spans.Unknown, [wire.MaxField]string{
		1: spans.TraceID, 2: spans.SpanID, 3: spans.TraceState, 4: spans.ParentID, 5: spans.Name, 6: spans.Kind, 7: spans.Start, 8: spans.End,
		9: spans.Attrs, 10: spans.DroppedAttrs, 11: spans.Events, 12: spans.DroppedEvents, 13: spans.Links, 14: spans.DroppedLinks,
		15: spans.Status, // which is 0 for a Status without fields
		16: spans.Flags,
	}, 15, newMessage(ofSpan, wire.Status, "", [wire.MaxField]string{2: spans.StatusMessage, 3: spans.Status}))
)

func newMessage(scope int, of *wire.Message, unknown string, columns [wire.MaxField]string) *messageType {
	m := &messageType{Message: of, scope: scope, unknown: indexOf(unknown)}
	for num, name := range columns {
		m.columns[num] = indexOf(name)
	}
	return m
}

func around(scope int, of *wire.Message, unknown string, columns [wire.MaxField]string, number protowire.Number, inner *messageType) *messageType {
	m := newMessage(scope, of, unknown, columns)
	m.inner, m.number = inner, number
	return m
}

// indexOf is the place of a column in spans.Intrinsics, none without a name.
func indexOf(name string) int {
	if i, ok := spans.Index(name); ok {
		return i
	}
	return none
}

// ofScopes are the columns of the fields of each scope.
var ofScopes = func() (list [3][]int) {
	for i, f := range spans.Intrinsics {
		scope, _, _ := scopeOf(f.Name)
		list[scope] = append(list[scope], i)
	}
	return list
}()

var startColumn, endColumn, durationColumn = indexOf(spans.Start), indexOf(spans.End), indexOf(spans.Duration)
