// Package arrowmap maps Arrow's types to those of a shard's schema and back. Properties that
// the stored type does not express (nullability, zones, units, widths, encodings, metadata) are
// recorded beside it. The table is in docs/arrow-types.md, and docs/format.md §4.5, §5.7.
//
// A writer calls [FromArrow] once, which returns the fields of the schema and a tree of
// [Column] of the same shape. A reader calls [ColumnOf] for each node that it projects, which
// reads only that node and its descendants. Both ends of a round trip have equal columns, so
// that one switch on [Column.Rule] suffices to convert values.
//
// From an array of the user to the stored values, and back:
//
//	Arrow.Type   dictionary<int8, extension<arrow.json, utf8>>
//	Wraps[0]     the dictionary: take its values by its indices
//	Wraps[1]     the extension: its storage array
//	Plain        utf8: buffers that the stripe layer knows
//	Rule         Text: bytes as they are
//	Stored.Type  Binary (label KustoDynamic)
package arrowmap

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Column maps one schema node to its Arrow arrays. It is immutable, and may be shared between
// goroutines.
type Column struct {
	// Arrow is the field that the writer takes and the reader gives back. For
	// the item of a list, or the key or value of a map, it is the field inside
	// that type.
	Arrow arrow.Field

	// Wraps leads from Arrow.Type to Plain, outermost first: each is a *arrow.DictionaryType, a
	// *arrow.RunEndEncodedType or an arrow.ExtensionType. A writer removes them in this order
	// (indices and dictionary, runs, storage), and a reader adds them in reverse. A value is null
	// if it is null at any level. Wraps is empty for most columns; then Plain is Arrow.Type.
	Wraps []arrow.DataType

	// Plain is the type of the array inside all wraps, never one of those. For strings, byte
	// strings and lists it has the offset width or view layout of the arrays of the user. The
	// stored form is the same for all of them.
	Plain arrow.DataType

	// Rule is the conversion between the values of a Plain array and the stored values.
	Rule Rule

	// Unit is that of the rules Ticks and Span, else zero.
	Unit convert.Unit

	// Scale is that of the rule Decimal: an integer v of the Arrow array is the
	// number v * 10^-Scale. Its width and precision are those of Plain.
	Scale int32

	// ID is the schema id of the stored node, and Parent that of its parent, as the stored schema has it.
	ID, Parent uint32

	// Ordinal is the number of an alternative among those of its union in the stored schema, of which the column may have some only.
	Ordinal int

	// Stored is the stored node itself. Its Children are nil: they are in the Stored of this
	// column's Children.
	Stored schema.Field

	// Children are the columns of the stored node's children, in their order:
	// the item of a list, key and value of a map, the fields of a struct, the
	// parts of an interval.
	Children []Column

	// AnnotationIgnored is the reason to use the default mapping instead of the recorded Arrow
	// type: a newer version wrote it, or it does not fit the stored type. It is "" if the recorded
	// type was used or there is none.
	AnnotationIgnored string
}

// Rule is a way of converting between the values of an Arrow array and those of a schema node.
// Position i of the node is slot i of the array under every rule, and nulls are the same on
// both sides unless said otherwise. A writer must ignore the values under nulls, and a reader
// may leave any values there.
type Rule uint8

// The rules. The functions for the scalar ones are in package convert; each
// gives an error with the row where a value cannot be held exactly.
const (
	// Same is the rule of most columns: stored values are those in the buffers of the Plain array,
	// bit for bit. Plain is bool for Boolean; an 8 to 64-bit integer, float, time, date,
	// timestamp, duration or interval_months type for a number of the same width; any utf8 or
	// binary type for String or Binary; fixed_size_binary for FixedSizeBinary, Guid and
	// KustoDecimal; struct, map and all lists for their counterparts (list offsets start at 0 in
	// each stripe, and have 64 bits for every Plain type).
	//
	// Strings are checked: a String node holds valid UTF-8 only.
	Same Rule = iota

	// Null: Plain is null. The node is a Boolean (a Unit in edition 2026) with
	// every position null.
	Null

	// Ticks: Plain is a timestamp or a date, the node is DateTime.
	// convert.ToTicks and convert.FromTicks, with Unit.
	Ticks

	// Span: Plain is a duration, the node is KustoTimeSpan (Int64).
	// convert.ToSpan and convert.FromSpan, with Unit.
	Span

	// Float16: Plain is float16, the node is Float32. convert.FromFloat16 and
	// convert.ToFloat16 keep every bit, NaN payloads too.
	Float16

	// Decimal: Plain is decimal32, 64, 128 or 256, the node is KustoDecimal (16
	// bytes). The number stored is v * 10^-Scale; at most 34 digits fit.
	Decimal

	// DecimalText: Plain is utf8, the node is KustoDecimal. Reading only.
	DecimalText

	// Text: Plain is a utf8 type, the node is Binary (KustoDynamic). The bytes are unchanged; the
	// reader checks that they are valid UTF-8.
	Text

	// DayTime: Plain is interval_day_time, the node is a Struct of two Int32
	// children, days and milliseconds, none of them null.
	DayTime

	// MonthDayNano: Plain is interval_month_day_nano, the node is a Struct of
	// three children, none of them null: months and days Int32, nanoseconds Int64.
	MonthDayNano

	// FixedList: Plain is fixed_size_list of n items, the node is a List in
	// which every list holds n items, null ones too: offset i is n*i. Items
	// under a null list are filler. A reader checks the offsets.
	FixedList

	// Empty: Plain is a struct without fields or fixed_size_binary[0], which
	// hold nothing but their nulls. The node is a Boolean that is true wherever
	// it is not null.
	Empty
)

var ruleNames = [...]string{"same", "null", "ticks", "span", "float16", "decimal", "decimal text", "text", "day-time parts",
	"month-day-nano parts", "fixed list", "empty"}

// String is a short name for messages and tables.
func (r Rule) String() string {
	if int(r) < len(ruleNames) {
		return ruleNames[r]
	}
	return "unknown rule"
}

// UniqueNames gives the fields of one parent names that the format allows: valid UTF-8, not
// empty and unique. Most fields keep their names, dots included. The rule for the others:
//
//  1. Bytes that are not valid UTF-8 are replaced by U+FFFD.
//  2. A field is stored under its name if that is not empty and no field before
//     it has the same name.
//  3. Every other field is stored as NAME#K, where K is the smallest number from
//     2 (from 1 if NAME is empty) that no field of this parent has or has got.
//
// So "a", "", "a", "a#2", "" become "a", "#1", "a#3", "a#2", "#2". A changed name is recorded
// with its node, and readers restore it.
func UniqueNames(fields []arrow.Field) []string {
	names := make([]string, len(fields))
	taken := make(map[string]bool, len(fields))
	for i, f := range fields {
		name := f.Name
		if !utf8.ValidString(name) {
			name = strings.ToValidUTF8(name, "\uFFFD")
		}
		if name != "" && !taken[name] {
			names[i] = name
			taken[name] = true
		}
	}
	next := map[string]int{}
	for i, f := range fields {
		if names[i] != "" {
			continue
		}
		base := strings.ToValidUTF8(f.Name, "\uFFFD")
		k := max(next[base], 2)
		if base == "" {
			k = max(next[base], 1)
		}
		for taken[base+"#"+strconv.Itoa(k)] {
			k++
		}
		next[base] = k + 1
		names[i] = base + "#" + strconv.Itoa(k)
		taken[names[i]] = true
	}
	return names
}
