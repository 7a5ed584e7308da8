package spans

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Batch is rows of a table, with some of its columns.
type Batch struct {
	Schema *Schema
	Record arrow.RecordBatch
	arrays []arrow.Array // by index in the schema; nil for columns that were not read

	// Verdicts are what filters on the batch as a whole have found, by the number of the spanset filter.
	Verdicts []Verdict
	// Places are those of the spans in the trees of their traces, by row; nil if they are not known.
	Places []Place

	traces, ids, parents          arrow.Array
	starts, ends, lengths, kindOf numbers
}

// Place is the place of a span in the tree of its trace: it is below another span if its Left is greater than that of the other one, and at most Right.
type Place struct {
	Left   uint32 // a number of its own in the trace; 0 if the tree is not known
	Right  uint32 // the greatest number below it
	Parent uint32 // number of its parent, which may be missing; 0 for a root span
}

// Verdict is the result of a filter on the rows of a batch.
type Verdict struct {
	Bits  []byte // a bit for each row, false for spans that do not meet the condition; nil if the filter excludes none
	Exact bool   // the spans that the filter does not exclude meet the condition
}

// NewBatch makes a Batch of a record batch that has the columns of the indexes in need, in this order. Other columns are an error of
// the source.
func NewBatch(s *Schema, rec arrow.RecordBatch, need []int) (*Batch, error) {
	if int(rec.NumCols()) != len(need) {
		return nil, fmt.Errorf("the source returned %d %s instead of %d", rec.NumCols(), text.Plural(rec.NumCols(), "column"), len(need))
	}
	b := &Batch{Schema: s, Record: rec, arrays: make([]arrow.Array, len(s.columns))}
	for k, i := range need {
		b.arrays[i] = rec.Column(k)
		if got := b.arrays[i].DataType(); !arrow.TypeEqual(got, s.types[i]) {
			return nil, fmt.Errorf("the source returned column %s as %s instead of %s", s.columns[i].Path, got, s.types[i])
		}
	}
	b.traces, b.ids, b.parents = b.array(TraceID), b.array(SpanID), b.array(ParentID)
	b.starts, b.ends, b.lengths, b.kindOf = numbersOf(b.array(Start)), numbersOf(b.array(End)), numbersOf(b.array(Duration)), numbersOf(b.array(KindName))
	return b, nil
}

// array is the first column with a name; nil if it is missing.
func (b *Batch) array(name string) arrow.Array {
	if c, ok := b.Schema.One(name); ok {
		return b.arrays[c.Index]
	}
	return nil
}

// numbers are those of a column of numbers or times.
type numbers struct {
	arr  arrow.Array
	ints []int64 // those of arr, if it is of 64 bits
	unit int64   // of times, in nanoseconds
}

func numbersOf(arr arrow.Array) numbers {
	n := numbers{arr: arr, unit: 1}
	switch a := arr.(type) {
	case *array.Timestamp:
		n.unit = int64(a.DataType().(*arrow.TimestampType).Unit.Multiplier())
	case *array.Duration:
		n.unit = int64(a.DataType().(*arrow.DurationType).Unit.Multiplier())
	case *array.Int64:
	default:
		return n
	}
	d := arr.Data()
	if d.Len() > 0 {
		n.ints = arrow.Int64Traits.CastFromBytes(d.Buffers()[1].Bytes())[d.Offset() : d.Offset()+d.Len()]
	}
	return n
}

// at is the number of a row; ok is false if it is null or missing.
func (n *numbers) at(row int) (v int64, ok bool) {
	switch {
	case n.arr == nil || n.arr.IsNull(row):
		return 0, false
	case n.ints != nil:
		return n.ints[row] * n.unit, true
	}
	arr, i, ok := kinds.Inside(n.arr, row)
	if !ok {
		return 0, false
	}
	if t, timestamp := arr.(*array.Timestamp); timestamp {
		return int64(t.Value(i)) * int64(t.DataType().(*arrow.TimestampType).Unit.Multiplier()), true
	}
	x := scalar(arr, i)
	return x.Int64(), x.Kind() == value.Int || x.Kind() == value.Duration
}

// contentOf is a value of a column of bytes; nil if it is null or missing.
func contentOf(arr arrow.Array, row int) []byte {
	if fixed, ok := arr.(*array.FixedSizeBinary); ok && !fixed.IsNull(row) {
		return fixed.Value(row)
	}
	if arr == nil {
		return nil
	}
	arr, i, ok := kinds.Inside(arr, row)
	if !ok {
		return nil
	}
	content, _ := bytesAt(arr, i)
	return content
}

// TraceID is the id of the trace of a span; nil if it is null.
func (b *Batch) TraceID(row int) []byte { return contentOf(b.traces, row) }

// SpanID is the id of a span; nil if it is null.
func (b *Batch) SpanID(row int) []byte { return contentOf(b.ids, row) }

// Start is the start of a span in nanoseconds; 0 if it is missing.
func (b *Batch) Start(row int) int64 {
	start, _ := b.starts.at(row)
	return start
}

// Kind is the number of the kind of a span in OTLP.
func (b *Batch) Kind(row int) int64 {
	kind, _ := b.kindOf.at(row)
	return kind
}

// Bytes is the content of a column of bytes; nil if it is null or missing.
func (b *Batch) Bytes(name string, row int) []byte { return contentOf(b.array(name), row) }

func bytesAt(arr arrow.Array, row int) ([]byte, bool) {
	if a, ok := arr.(interface{ Value(int) []byte }); ok { // binary of all layouts
		return a.Value(row), true
	}
	return nil, false
}

// scalar is the value in an array that [kinds.Inside] has returned.
func scalar(arr arrow.Array, row int) value.Value {
	switch a := arr.(type) {
	case array.StringLike:
		return value.OfString(a.Value(row))
	case *array.Int64:
		return value.OfInt(a.Value(row))
	case *array.Int32:
		return value.OfInt(int64(a.Value(row)))
	case *array.Int16:
		return value.OfInt(int64(a.Value(row)))
	case *array.Int8:
		return value.OfInt(int64(a.Value(row)))
	case *array.Uint64:
		return ofUint(a.Value(row))
	case *array.Uint32:
		return value.OfInt(int64(a.Value(row)))
	case *array.Uint16:
		return value.OfInt(int64(a.Value(row)))
	case *array.Uint8:
		return value.OfInt(int64(a.Value(row)))
	case *array.Float64:
		return value.OfFloat(a.Value(row))
	case *array.Float32:
		return value.OfFloat(float64(a.Value(row)))
	case *array.Float16:
		return value.OfFloat(float64(a.Value(row).Float32()))
	case *array.Boolean:
		return value.OfBool(a.Value(row))
	case *array.Duration:
		return value.OfDuration(time.Duration(a.Value(row)) * a.DataType().(*arrow.DurationType).Unit.Multiplier())
	case *array.Map:
		return value.OfOther(a.ValueStr(row))
	case array.ListLike:
		return listAt(a, row)
	}
	if content, ok := bytesAt(arr, row); ok {
		return otherBytes(content)
	}
	return value.OfOther(arr.ValueStr(row))
}

func listAt(a array.ListLike, row int) value.Value {
	from, to := a.ValueOffsets(row)
	list := make([]value.Value, 0, to-from)
	for i := from; i < to; i++ {
		if arr, at, ok := kinds.Inside(a.ListValues(), int(i)); ok {
			list = append(list, scalar(arr, at))
		}
	}
	return value.OfArray(list)
}

func ofUint(v uint64) value.Value {
	if v > math.MaxInt64 {
		return value.OfFloat(float64(v))
	}
	return value.OfInt(int64(v))
}

// column is the value of a column, with text for binary columns of strings.
func (b *Batch) column(c Column, row int) value.Value {
	if b.arrays[c.Index] == nil {
		return value.Value{}
	}
	return ValueAt(c, b.arrays[c.Index], row)
}

// ValueAt is a value in an array of a column.
func ValueAt(c Column, arr arrow.Array, row int) value.Value {
	arr, i, ok := kinds.Inside(arr, row)
	if !ok {
		return value.Value{}
	}
	if c.Class == Text {
		if content, ok := bytesAt(arr, i); ok {
			return value.OfString(string(content))
		}
	}
	return scalar(arr, i)
}

// Encoded is the number of bytes of messages in which Value looks for a field.
func (b *Batch) Encoded(f *lang.Field, row int) (n int64) {
	switch f.Intrinsic {
	case lang.NoIntrinsic:
		for _, scope := range ScopesOf(f) {
			n += int64(len(b.Bytes(messagesOf(scope), row)))
		}
	case lang.EventName, lang.EventTime:
		return int64(len(b.Bytes(Events, row)))
	case lang.LinkTraceID, lang.LinkSpanID:
		return int64(len(b.Bytes(Links, row)))
	}
	return n
}

// messagesOf is the column of messages that have attributes of a scope.
func messagesOf(scope lang.Scope) string {
	switch scope {
	case lang.EventScope:
		return Events
	case lang.LinkScope:
		return Links
	}
	return scopes[scope].rest
}

// Value is the value of an attribute, or of an intrinsic of the span alone: those of traces and parents are nil.
func (b *Batch) Value(f *lang.Field, row int) (value.Value, error) {
	if f.Intrinsic != lang.NoIntrinsic {
		return b.intrinsic(f.Intrinsic, row)
	}
	for _, scope := range ScopesOf(f) {
		v, err := b.attribute(scope, f.Name, row)
		if err != nil || !v.IsNil() {
			return v, err
		}
	}
	return value.Value{}, nil
}

// attribute is an attribute in a scope. Several values of a span are an array.
func (b *Batch) attribute(scope lang.Scope, name string, row int) (value.Value, error) {
	prefix := scopes[scope].prefix
	if prefix == "" {
		return b.inLists(scope, row, func(m *message) value.Value { return m.attribute(name) })
	}
	var found []value.Value
	for _, i := range b.Schema.byName[prefix+name] {
		if v := b.column(b.Schema.columns[i], row); !v.IsNil() {
			found = append(found, v)
		}
	}
	if rest := b.Bytes(scopes[scope].rest, row); len(rest) > 0 {
		more, err := attributes(rest, scopes[scope].attrs, name)
		if err != nil {
			return value.Value{}, err
		}
		found = append(found, more...)
	}
	return oneOf(found), nil
}

func (b *Batch) intrinsic(i lang.Intrinsic, row int) (value.Value, error) {
	switch i {
	case lang.SpanID, lang.TraceID:
		return value.OfString(hex.EncodeToString(b.Bytes(ColumnOf(i), row))), nil
	case lang.SpanParentID:
		return value.OfString(hex.EncodeToString(b.Parent(row))), nil
	case lang.HasParent:
		if parent := b.Parent(row); parent != nil {
			return value.OfOther(hex.EncodeToString(parent)), nil
		}
		return value.Value{}, nil
	case lang.SpanDuration:
		return value.OfDuration(b.Duration(row)), nil
	case lang.SpanStatus:
		status := numbersOf(b.array(Status))
		code, _ := status.at(row)
		return value.OfStatus(code), nil
	case lang.SpanKindOf:
		return value.OfSpanKind(b.Kind(row)), nil
	case lang.EventName, lang.EventTime, lang.LinkSpanID, lang.LinkTraceID:
		return b.listIntrinsic(i, row)
	}
	if name := ColumnOf(i); name != "" {
		return value.OfString(b.Text(name, row)), nil
	}
	return value.Value{}, nil
}

func (b *Batch) listIntrinsic(i lang.Intrinsic, row int) (value.Value, error) {
	scope := lang.LinkScope
	if i == lang.EventName || i == lang.EventTime {
		scope = lang.EventScope
	}
	start := b.Start(row)
	return b.inLists(scope, row, func(m *message) value.Value {
		switch i {
		case lang.EventName:
			return value.OfString(string(m.name))
		case lang.EventTime:
			return value.OfDuration(time.Duration(int64(m.time) - start))
		case lang.LinkTraceID:
			return value.OfString(hex.EncodeToString(m.traceID))
		}
		return value.OfString(hex.EncodeToString(m.spanID))
	})
}

// Text is the content of a column of strings, "" if it is null or missing.
func (b *Batch) Text(name string, row int) string {
	c, ok := b.Schema.One(name)
	if !ok {
		return ""
	}
	return b.column(c, row).Text()
}

// Parent is the id of the parent of a span; nil for a root span, whose id of the parent is missing, empty or zero.
func (b *Batch) Parent(row int) []byte {
	id := contentOf(b.parents, row)
	if len(id) == 0 || len(id) == 8 && binary.NativeEndian.Uint64(id) == 0 {
		return nil
	}
	return id
}

// Duration is the time from the start of a span to its end.
func (b *Batch) Duration(row int) time.Duration {
	if d, ok := b.lengths.at(row); ok {
		return time.Duration(d)
	}
	start := b.Start(row)
	if end, ok := b.ends.at(row); ok && end > start {
		return time.Duration(end - start)
	}
	return 0
}

// End is the end of a span in nanoseconds.
func (b *Batch) End(row int) int64 {
	if end, ok := b.ends.at(row); ok {
		return end
	}
	return b.Start(row) + int64(b.Duration(row))
}

// Size is the number of bytes that the values of the batch take, roughly.
func (b *Batch) Size() int64 {
	var n int64
	for _, arr := range b.arrays {
		if arr != nil {
			n += size(arr)
		}
	}
	return n
}

func size(arr arrow.Array) int64 {
	rows := int64(arr.Len())
	switch a := arr.(type) {
	case array.BinaryLike:
		return 5*rows + int64(len(a.ValueBytes()))
	case array.ExtensionArray:
		return size(a.Storage())
	case *array.Dictionary:
		return 4*rows + min(size(a.Dictionary()), 64*rows)
	}
	if fixed, ok := arr.DataType().(arrow.FixedWidthDataType); ok {
		return rows * int64(fixed.BitWidth()/8+1)
	}
	return 64 * rows
}
