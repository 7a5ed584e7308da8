// Package value has the values of TraceQL: what attributes and intrinsics of spans hold, and how they are compared and computed with.
package value

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind is the type of a [Value].
type Kind uint8

// The kinds of values.
const (
	Nil      Kind = iota // missing
	String               // text, also ids as lower-case hexadecimal digits
	Int                  // a 64-bit integer
	Float                // a 64-bit float
	Duration             // nanoseconds
	Bool
	Status // unset, ok or error
	SpanKind
	Array // the elements of an array
	Any   // the values of an attribute in the events or links of a span
	Other // bytes or a map, which equals nothing
)

var kindNames = [...]string{"nil", "string", "int", "float", "duration", "bool", "status", "kind", "array", "values", "other"}

// String is the name of the kind: "int".
func (k Kind) String() string { return kindNames[k] }

// IsNumber reports whether values of the kind are compared as numbers.
func (k Kind) IsNumber() bool { return k == Int || k == Float || k == Duration }

// Value is the value of an attribute or intrinsic. The zero value is nil: a missing one. Values are immutable.
type Value struct {
	kind Kind
	bits uint64 // Int, Duration, Bool, Status, SpanKind: the number; Float: its bits
	text string // String, Other
	list []Value
}

// OfString is a string.
func OfString(s string) Value { return Value{kind: String, text: s} }

// OfInt is an integer.
func OfInt(v int64) Value { return Value{kind: Int, bits: uint64(v)} }

// OfFloat is a float.
func OfFloat(v float64) Value { return Value{kind: Float, bits: math.Float64bits(v)} }

// OfDuration is a duration.
func OfDuration(d time.Duration) Value { return Value{kind: Duration, bits: uint64(d)} }

// OfBool is a Boolean.
func OfBool(b bool) Value {
	if b {
		return Value{kind: Bool, bits: 1}
	}
	return Value{kind: Bool}
}

// OfStatus is a status by its number in OTLP: 0 unset, 1 ok, 2 error.
func OfStatus(code int64) Value { return Value{kind: Status, bits: uint64(code)} }

// OfSpanKind is a kind of spans by its number in OTLP.
func OfSpanKind(code int64) Value { return Value{kind: SpanKind, bits: uint64(code)} }

// OfArray is an array. The list becomes the value's.
func OfArray(list []Value) Value { return Value{kind: Array, list: list} }

// OfAny is the values of an attribute in several events or links; nil if there is none. The list becomes the value's.
func OfAny(list []Value) Value {
	if len(list) == 0 {
		return Value{}
	}
	return Value{kind: Any, list: list}
}

// OfOther is a value that equals nothing, with a text that shows it.
func OfOther(text string) Value { return Value{kind: Other, text: text} }

// Kind is the type of the value.
func (v Value) Kind() Kind { return v.kind }

// IsNil reports whether the value is missing.
func (v Value) IsNil() bool { return v.kind == Nil }

// Text is the content of a String or Other.
func (v Value) Text() string { return v.text }

// Int64 is the number of an Int, a Duration in nanoseconds, a Status or a SpanKind, and 1 for true.
func (v Value) Int64() int64 { return int64(v.bits) }

// Bool is the content of a Bool.
func (v Value) Bool() bool { return v.kind == Bool && v.bits != 0 }

// Float64 is the number of an Int, a Float or a Duration, in nanoseconds.
func (v Value) Float64() float64 {
	if v.kind == Float {
		return math.Float64frombits(v.bits)
	}
	return float64(int64(v.bits))
}

// List is the elements of an Array or Any. The caller must not change it.
func (v Value) List() []Value { return v.list }

// Names of the enumerated values, by their numbers in OTLP.
var (
	StatusNames   = []string{"unset", "ok", "error"}
	SpanKindNames = []string{"unspecified", "internal", "server", "client", "producer", "consumer"}
)

func enumName(names []string, code int64) string {
	if code >= 0 && code < int64(len(names)) {
		return names[code]
	}
	return strconv.FormatInt(code, 10)
}

// String is the value as a literal of the language; strings have quotes.
func (v Value) String() string {
	if v.kind == String {
		return strconv.Quote(v.text)
	}
	return v.Plain()
}

// Plain is String without quotes around a string.
func (v Value) Plain() string {
	switch v.kind {
	case String, Other:
		return v.text
	case Int:
		return strconv.FormatInt(int64(v.bits), 10)
	case Float:
		return FormatFloat(v.Float64())
	case Duration:
		return FormatDuration(time.Duration(v.bits))
	case Bool:
		return strconv.FormatBool(v.bits != 0)
	case Status:
		return enumName(StatusNames, int64(v.bits))
	case SpanKind:
		return enumName(SpanKindNames, int64(v.bits))
	case Array, Any:
		parts := make([]string, len(v.list))
		for i, e := range v.list {
			parts[i] = e.String()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "nil"
}

// FormatFloat is the shortest text with a point or an exponent that is the same float.
func FormatFloat(f float64) string {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".eIN") {
		text += ".0"
	}
	return text
}

// FormatDuration is a duration in the largest unit that needs no fraction: 1500ms, 2h.
func FormatDuration(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d != 0 && d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + "ns"
}

// Clone is the value with memory of its own.
func (v Value) Clone() Value {
	v.text = strings.Clone(v.text)
	if v.list != nil {
		list := make([]Value, len(v.list))
		for i, e := range v.list {
			list[i] = e.Clone()
		}
		v.list = list
	}
	return v
}
