package spans_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// batchOf is a span whose protobuf columns all have the same bytes.
func batchOf(t testing.TB, content []byte) *spans.Batch {
	names := []string{"trace:id", "span:id", "span:events", "span:links", "span:attrs_ext", "resource:attrs_ext", "scope:attrs_ext"}
	fields := make([]arrow.Field, len(names))
	need := make([]int, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.Binary}
		need[i] = i
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range names {
		b.Field(i).(*array.BinaryBuilder).Append(content)
	}
	s, err := spans.NewSchema(schema)
	require.NoError(t, err)
	batch, err := spans.NewBatch(s, b.NewRecordBatch(), need)
	require.NoError(t, err)
	return batch
}

func message(n protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), content)
}

// Arrays in arrays end somewhere.
func TestNestedArrays(t *testing.T) {
	nested := func(depth int) *spans.Batch {
		v := message(1, []byte("x"))
		for range depth {
			v = message(5, message(1, v))
		}
		return batchOf(t, message(9, append(message(1, []byte("a")), message(2, v)...)))
	}
	f := &lang.Field{Scope: lang.SpanScope, Name: "a"}
	v, err := nested(60).Value(f, 0)
	require.NoError(t, err)
	require.Equal(t, value.Array, v.Kind())
	_, err = nested(70).Value(f, 0)
	require.ErrorIs(t, err, fault.ErrLimit)
}

// Values and names of any bytes are there, or an error.
func FuzzMessages(f *testing.F) {
	f.Add(message(9, append(message(1, []byte("a")), message(2, message(1, []byte("x")))...)))
	f.Add(message(11, append(message(2, []byte("a")), message(3, append(message(1, []byte("a")), message(2, protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 5))...))...)))
	f.Add(message(13, append(message(1, make([]byte, 16)), message(2, make([]byte, 8))...)))
	f.Add([]byte{0xff})
	fields := []*lang.Field{
		{Name: "a"}, {Scope: lang.EventScope, Name: "a"}, {Scope: lang.LinkScope, Name: "a"}, {Intrinsic: lang.EventName},
		{Intrinsic: lang.EventTime}, {Intrinsic: lang.LinkTraceID}, {Intrinsic: lang.LinkSpanID}, {Intrinsic: lang.TraceID},
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		b := batchOf(t, content)
		check := func(err error) {
			if err != nil && !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrLimit) {
				t.Fatal(err)
			}
		}
		for _, field := range fields {
			v, err := b.Value(field, 0)
			check(err)
			_ = v.String()
		}
		for _, scope := range lang.Scopes {
			check(b.AttributeNames(scope, 0, func([]byte) {}))
		}
	})
}
