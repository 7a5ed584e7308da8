package fields

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// An annotation at the end of the description of a field keeps an Arrow type that RNTuple lacks.
// Other readers show it as a part of the description. It stands at the field that has the values,
// which is the item of a std::optional.
//
//	std::int64_t              "time of the trigger [arrow: timestamp[us, UTC]]"
//	std::array<std::byte,16>  "[arrow: decimal128(38, 10)]"
//
// A description that ends like one by itself is followed by the annotation "none". That of an extension type comes last,
// with its name and its serialized parameters:
//
//	std::array<std::byte,16>  "[arrow: fixed_size_binary[16]] [arrow: extension "arrow.uuid" ""]"
//
// That of a dictionary, of runs and of a view is in wraps.go.
const (
	annotationStart = "[arrow: "
	annotationEnd   = "]"
	annotationNone  = "none"
)

// Storage is the fundamental C++ type that keeps the values of an Arrow type which RNTuple lacks, or
// the number of bytes of an array that does. Both are zero for other types.
func Storage(dt arrow.DataType) (kind column.Kind, bytes int) {
	switch dt := dt.(type) {
	case *arrow.Date32Type, *arrow.Time32Type, *arrow.Decimal32Type, *arrow.MonthIntervalType:
		return column.KindInt32, 0
	case *arrow.Date64Type, *arrow.Time64Type, *arrow.TimestampType, *arrow.DurationType, *arrow.Decimal64Type:
		return column.KindInt64, 0
	case *arrow.Float16Type:
		return column.KindFloat32, 0 // in a column of halves
	case *arrow.Decimal128Type, *arrow.Decimal256Type, *arrow.DayTimeIntervalType, *arrow.MonthDayNanoIntervalType:
		return 0, dt.(arrow.FixedWidthDataType).Bytes()
	case *arrow.FixedSizeBinaryType:
		return 0, dt.ByteWidth
	}
	return 0, 0
}

// Extension is an Arrow extension type: its name and its serialized parameters. A field has none without a name.
type Extension struct{ Name, Data string }

// Metadata keys of Arrow fields whose extension type is not known to the program.
const (
	KeyExtensionName = "ARROW:extension:name"
	KeyExtensionData = "ARROW:extension:metadata"
)

const extensionStart = annotationStart + "extension "

// AnnotateExtension adds an extension type to a description with the annotation of its storage type, if there is one.
func AnnotateExtension(description string, e Extension) (string, error) {
	if e.Name == "" {
		if _, found := cutExtension(description); found.Name != "" { // as it was by itself
			return description + " " + annotationStart + annotationNone + annotationEnd, nil
		}
		return description, nil
	}
	out := extensionStart + strconv.Quote(e.Name) + " " + strconv.Quote(e.Data) + annotationEnd
	if description != "" {
		out = description + " " + out
	}
	if rest, back := cutExtension(out); rest != description || back != e {
		return "", fault.Unsupportedf("the extension type %q cannot be kept in a description", e.Name)
	}
	return out, nil
}

// cutExtension splits a description that ends in the annotation of an extension type.
func cutExtension(description string) (rest string, e Extension) {
	at := strings.LastIndex(description, extensionStart)
	if at < 0 || !strings.HasSuffix(description, annotationEnd) || at > 0 && description[at-1] != ' ' {
		return description, e
	}
	text := description[at+len(extensionStart) : len(description)-len(annotationEnd)]
	name, err := strconv.QuotedPrefix(text)
	if err != nil || !strings.HasPrefix(text[len(name):], " ") {
		return description, e
	}
	data, err := strconv.Unquote(text[len(name)+1:])
	if err != nil {
		return description, e
	}
	if name, err = strconv.Unquote(name); err != nil || name == "" {
		return description, e
	}
	return description[:max(at-1, 0)], Extension{name, data}
}

// extend gives a field an extension type. Without one that the program knows for these values, metadata of the field name
// it, as in Arrow's files.
func (f *Field) extend(e Extension) {
	if f.Layout.leaf() && len(f.Wraps) < maxWraps {
		storage, _ := wrapped(f.Plain, f.Wraps)
		if dt := arrowmap.ExtensionType(e.Name, e.Data, storage); dt != nil {
			f.Wraps = append([]arrow.DataType{dt}, f.Wraps...)
			return
		}
	}
	f.unknown = e
}

// Annotate is a description with the annotation of an Arrow type, if it needs one. A type that could
// not be read back is an error.
func Annotate(description string, dt arrow.DataType) (string, error) {
	text := annotationNone
	if kind, bytes := Storage(dt); kind != 0 || bytes != 0 {
		text = typeText(dt)
	} else if _, cut, _ := cutAnnotation(description); !cut {
		return description, nil
	} else {
		dt = nil
	}
	out := annotationStart + text + annotationEnd
	if description != "" {
		out = description + " " + out
	}
	rest, _, back := cutAnnotation(out)
	if rest != description || (dt == nil) != (back == nil) || dt != nil && !arrow.TypeEqual(dt, back) {
		return "", fault.Unsupportedf("Arrow type %v cannot be kept in a description", dt)
	}
	return out, nil
}

// cutAnnotation splits a description. The type is nil if the annotation has none.
func cutAnnotation(description string) (rest string, found bool, dt arrow.DataType) {
	at := strings.LastIndex(description, annotationStart)
	if at < 0 || !strings.HasSuffix(description, annotationEnd) {
		return description, false, nil
	}
	if at > 0 && description[at-1] != ' ' {
		return description, false, nil
	}
	text := description[at+len(annotationStart) : len(description)-len(annotationEnd)]
	if dt = parseType(text); dt == nil && text != annotationNone {
		return description, false, nil
	}
	return description[:max(at-1, 0)], true, dt
}

// annotated gives a field the Arrow type of its annotations, if its values are stored as these say. The
// result is the description without them.
func (b *builder) annotated(f *envelope.Field, out *Field) string {
	if b.o.NoArrowTypes {
		return f.Description
	}
	description, e := cutExtension(f.Description)
	rest := b.storedAs(b.typed(description, out), out)
	if rest == description && out.IsUnion() {
		if cut, names := cutUnion(rest); len(names) == len(out.Children) {
			rest, out.names = cut, names
		}
	}
	if e.Name != "" {
		out.extend(e)
	}
	return rest
}

func (b *builder) storedAs(description string, out *Field) string {
	rest, found, dt := cutAnnotation(description)
	if found && (dt == nil || b.store(dt, out)) {
		return rest
	}
	return description
}

// store gives a field the type of an annotation, if [Storage] of that is what it has.
func (b *builder) store(dt arrow.DataType, out *Field) bool {
	kind, bytes := Storage(dt)
	switch {
	case out.Layout == Value && kind == out.Kind && dt.ID() != arrow.FLOAT16:
	case out.Layout == Value && kind == out.Kind && b.halves(out):
		out.Kind = column.KindFloat16
	case out.Layout == FixedList && bytes > 0 && out.N == int64(bytes) && out.Children[0].Layout == Value && out.Children[0].Kind == column.KindByte:
		out.Layout, out.Columns, out.Children = FixedBytes, out.Children[0].Columns, nil
	default:
		return false
	}
	out.Plain = dt
	return true
}

// halves tells whether a field has columns of halves only.
func (b *builder) halves(f *Field) bool {
	for _, columns := range f.Columns {
		if b.s.Columns[columns[0]].Type.Native() != column.KindFloat16 {
			return false
		}
	}
	return true
}

// plainTypes are those without parameters, by their text.
var plainTypes = map[string]arrow.DataType{
	"date32": arrow.FixedWidthTypes.Date32, "date64": arrow.FixedWidthTypes.Date64, "halffloat": arrow.FixedWidthTypes.Float16,
	"month_interval": arrow.FixedWidthTypes.MonthInterval, "day_time_interval": arrow.FixedWidthTypes.DayTimeInterval,
	"month_day_nano_interval": arrow.FixedWidthTypes.MonthDayNanoInterval,
}

func typeText(dt arrow.DataType) string {
	for text, t := range plainTypes {
		if t.ID() == dt.ID() {
			return text
		}
	}
	switch dt := dt.(type) {
	case *arrow.TimestampType:
		if dt.TimeZone != "" {
			return fmt.Sprintf("timestamp[%s, %s]", dt.Unit, dt.TimeZone)
		}
		return fmt.Sprintf("timestamp[%s]", dt.Unit)
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("fixed_size_binary[%d]", dt.ByteWidth)
	case arrow.DecimalType:
		return fmt.Sprintf("%s(%d, %d)", strings.ToLower(dt.ID().String()), dt.GetPrecision(), dt.GetScale())
	case arrow.TemporalWithUnit:
		return fmt.Sprintf("%s[%s]", dt.Name(), dt.TimeUnit())
	}
	return dt.String()
}

// parseType reads what typeText writes, and gives nil for anything else.
func parseType(text string) arrow.DataType {
	if dt := plainTypes[text]; dt != nil {
		return dt
	}
	at := strings.IndexAny(text, "[(")
	if at < 0 || len(text) < at+2 {
		return nil
	}
	name, args := text[:at], text[at+1:len(text)-1]
	if end := text[len(text)-1]; end != ']' && end != ')' {
		return nil
	}
	first, second, _ := strings.Cut(args, ", ")
	unit, timed := units[first]
	n, err := strconv.ParseInt(first, 10, 32)
	switch {
	case name == "timestamp" && timed:
		return &arrow.TimestampType{Unit: unit, TimeZone: second}
	case name == "time32" && timed && unit <= arrow.Millisecond:
		return &arrow.Time32Type{Unit: unit}
	case name == "time64" && timed && unit > arrow.Millisecond:
		return &arrow.Time64Type{Unit: unit}
	case name == "duration" && timed:
		return &arrow.DurationType{Unit: unit}
	case err != nil:
		return nil
	case name == "fixed_size_binary" && n > 0:
		return &arrow.FixedSizeBinaryType{ByteWidth: int(n)}
	}
	scale, err := strconv.ParseInt(second, 10, 32)
	if err != nil {
		return nil
	}
	for _, id := range []arrow.Type{arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256} {
		if name == strings.ToLower(id.String()) {
			dt, err := arrow.NewDecimalType(id, int32(n), int32(scale))
			if err == nil {
				return dt
			}
		}
	}
	return nil
}

var units = map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}
