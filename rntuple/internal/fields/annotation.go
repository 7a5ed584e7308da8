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

// An annotation keeps values of one kind. The beginning of its text tells which kind that is.
type annotation[V any] struct {
	start string
	parse func(text string) (v V, ok bool)
	equal func(a, b V) bool
}

// Annotations are those at the end of a description, as they are.
func Annotations(description string) string {
	if at := strings.Index(description, annotationStart); at >= 0 && strings.HasSuffix(description, annotationEnd) {
		return description[at:]
	}
	return ""
}

func annotated(description, text string) string {
	if description == "" {
		return text + annotationEnd
	}
	return description + " " + text + annotationEnd
}

// cut splits a description that ends in such an annotation.
func (a *annotation[V]) cut(description string) (rest string, v V, ok bool) {
	at := strings.LastIndex(description, a.start)
	if at < 0 || !strings.HasSuffix(description, annotationEnd) || at > 0 && description[at-1] != ' ' {
		return description, v, false
	}
	found, ok := a.parse(description[at+len(a.start) : len(description)-len(annotationEnd)])
	if !ok {
		return description, v, false
	}
	return description[:max(at-1, 0)], found, true
}

// add adds the annotation of a value. One that could not be read back is an error, which names it.
func (a *annotation[V]) add(description, text string, v V, name string) (string, error) {
	out := annotated(description, a.start+text)
	if rest, back, ok := a.cut(out); !ok || rest != description || !a.equal(back, v) {
		return "", fault.Unsupportedf("%s cannot be kept in a description", name)
	}
	return out, nil
}

// none is a description without such an annotation, even if it ends like one by itself.
func (a *annotation[V]) none(description string) string {
	if _, _, ok := a.cut(description); ok {
		return annotated(description, annotationStart+annotationNone)
	}
	return description
}

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

var extensions = annotation[Extension]{annotationStart + "extension ", parseExtension, func(a, b Extension) bool { return a == b }}

// AnnotateExtension adds an extension type to a description with the annotation of its storage type, if there is one.
func AnnotateExtension(description string, e Extension) (string, error) {
	if e.Name == "" {
		return extensions.none(description), nil
	}
	return extensions.add(description, strconv.Quote(e.Name)+" "+strconv.Quote(e.Data), e, fmt.Sprintf("the extension type %q", e.Name))
}

func parseExtension(text string) (e Extension, ok bool) {
	name, err := strconv.QuotedPrefix(text)
	if err != nil || !strings.HasPrefix(text[len(name):], " ") {
		return e, false
	}
	data, err := strconv.Unquote(text[len(name)+1:])
	if err != nil {
		return e, false
	}
	name, err = strconv.Unquote(name)
	return Extension{name, data}, err == nil && name != ""
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

// types keeps what [Storage] knows. The type is nil for the annotation "none".
var types = annotation[arrow.DataType]{annotationStart, func(text string) (arrow.DataType, bool) {
	dt := parseType(text)
	return dt, dt != nil || text == annotationNone
}, func(a, b arrow.DataType) bool { return a != nil && arrow.TypeEqual(a, b) }}

// Annotate is a description with the annotation of an Arrow type, if it needs one. A type that could
// not be read back is an error.
func Annotate(description string, dt arrow.DataType) (string, error) {
	if kind, bytes := Storage(dt); kind == 0 && bytes == 0 {
		return types.none(description), nil
	}
	return types.add(description, typeText(dt), dt, fmt.Sprintf("Arrow type %v", dt))
}

// restore gives a field the Arrow type of its annotations, if its values are stored as these say. The
// result is the description without them.
func (b *builder) restore(f *envelope.Field, out *Field) string {
	if b.o.NoArrowTypes {
		return f.Description
	}
	description, e, _ := extensions.cut(f.Description)
	rest := b.storedAs(b.typed(description, out), out)
	if rest == description && out.IsUnion() {
		if cut, names, _ := unions.cut(rest); len(names) == len(out.Children) {
			rest, out.names = cut, names
		}
	}
	if e.Name != "" {
		out.extend(e)
	}
	return rest
}

func (b *builder) storedAs(description string, out *Field) string {
	rest, dt, found := types.cut(description)
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
