package fields

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// An annotation keeps dictionaries, runs, views, offsets of 64 bits and sorted keys: the text of the type as
// [arrowmap.TypeText] has it, without the types of children, which have annotations of their own.
//
//	std::string                      "[arrow: type dictionary[int32,ordered]/utf8_view]"
//	std::int64_t                     "[arrow: type ree[int32]/timestamp[us,UTC]]"
//	std::vector<float>               "[arrow: type list_view]"
var wholeTypes = annotation[string]{annotationStart + "type ", func(text string) (string, bool) { return text, text != "" },
	func(a, b string) bool { return a == b }}

// maxWraps bounds the wraps of a field.
const maxWraps = 16

// NeedsType tells whether a type needs the annotation of a whole type, which then has its storage type, too.
func NeedsType(dt arrow.DataType) bool {
	if e, ok := dt.(arrow.ExtensionType); ok { // has an annotation of its own
		dt = e.StorageType()
	}
	switch dt := dt.(type) {
	case nil: // of an optional value, whose item has a type
		return false
	case *arrow.LargeStringType, *arrow.LargeBinaryType, *arrow.LargeListType:
		return true
	case *arrow.MapType:
		return dt.KeysSorted
	}
	return kinds.Of(dt) == kinds.Wrap || arrowutil.WithoutView(dt) != dt
}

// AnnotateType adds the annotation of a whole type to a description, if the type needs it.
func AnnotateType(description string, dt arrow.DataType) (string, error) {
	if !NeedsType(dt) {
		return wholeTypes.none(description), nil
	}
	if e, ok := dt.(arrow.ExtensionType); ok {
		dt = e.StorageType()
	}
	text, err := arrowmap.TypeText(dt)
	if err != nil {
		return "", err
	}
	return wholeTypes.add(description, text, text, fmt.Sprintf("Arrow type %v", dt))
}

// typed gives a field the type of its annotation, if its values suit it. The result is the description without that.
func (b *builder) typed(description string, out *Field) string {
	rest, text, ok := wholeTypes.cut(description)
	if !ok {
		return description
	}
	dt, err := arrowmap.ParseType(text, out.childFields())
	if err != nil {
		return description
	}
	var wraps []arrow.DataType
	for inner := kinds.Inner(dt); inner != nil; inner = kinds.Inner(dt) {
		if _, extended := dt.(arrow.ExtensionType); extended && !out.Layout.leaf() {
			return description
		}
		wraps, dt = append(wraps, dt), inner
	}
	wraps = slices.Concat(wraps, out.Wraps)
	if len(wraps) > maxWraps || len(wraps) > 0 && out.hasUnion() || !b.suits(dt, out) {
		return description
	}
	out.Wraps = wraps
	return rest
}

// childFields are the fields that an annotated type has children of.
func (f *Field) childFields() []arrow.Field {
	switch f.Layout {
	case Map:
		f = f.Children[0]
	case List, FixedList, Struct:
	default:
		return nil
	}
	return f.fields(false, false)
}

// hasUnion tells whether values have unions at any depth: dictionaries and runs cannot be made of these.
func (f *Field) hasUnion() bool {
	return f.IsUnion() || slices.ContainsFunc(f.Children, (*Field).hasUnion)
}

// suits gives a field a type without wraps, if its values may have it. What an option says of strings and lists holds
// unless the type names another one than the default.
func (b *builder) suits(dt arrow.DataType, out *Field) bool {
	layout, id := out.Layout, dt.ID()
	switch id {
	case arrow.STRING, arrow.BINARY:
		return layout == Text || layout == Bytes && id == arrow.BINARY
	case arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		isText := id == arrow.LARGE_STRING || id == arrow.STRING_VIEW
		if layout == Text && isText != b.o.Binary || layout == Bytes && !isText {
			out.Plain = dt
		}
		return layout == Text || layout == Bytes && !isText
	case arrow.LIST, arrow.LARGE_LIST, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		if layout == List && id != arrow.LIST {
			out.large = id == arrow.LARGE_LIST || id == arrow.LARGE_LIST_VIEW
			out.view = id == arrow.LIST_VIEW || id == arrow.LARGE_LIST_VIEW
		}
		return layout == List
	case arrow.MAP:
		if layout == Map {
			out.sorted = dt.(*arrow.MapType).KeysSorted
		}
		return layout == Map
	case arrow.FIXED_SIZE_LIST:
		return layout == FixedList && int64(dt.(*arrow.FixedSizeListType).Len()) == out.N
	case arrow.STRUCT:
		return layout == Struct
	}
	if kind, bytes := Storage(dt); kind != 0 || bytes != 0 {
		return b.store(dt, out)
	}
	return out.Layout.leaf() && arrow.TypeEqual(dt, out.Plain)
}
