package arrowmap

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// AnnotationProperty is the name of the extended-type property (kind String) that records the
// properties of a node's Arrow field that its stored type does not determine. AnnotationLabel
// is the label of the extended type with this property, on nodes without an extended type of
// their own. The reference ignores both, and reads a node with an unknown label as its basic
// type.
//
// docs/arrow-types.md has the form of the text. Examples: "dictionary[int32,ordered]/utf8", ";required", "date32;required",
// ";name=;meta=PARQUET:field_id,7", "extension[arrow.opaque,{\"type_name\":\"a\"%2C...}]/int64".
//
// A reader that does not understand an annotation, because a newer version wrote it, uses the
// default mapping instead, and sets [Column.AnnotationIgnored].
const (
	AnnotationProperty = "arrow" // name of the property, docs/format.md §4.5
	AnnotationLabel    = "Arrow" // label of nodes that have no other
)

// annotation is the parsed text.
type annotation struct {
	wraps    []term // outermost first
	base     term   // name "" for the default
	required bool
	name     string
	hasName  bool
	meta     arrow.Metadata
}

// annotationAt is the place of the annotation among the properties of the extended type of a node; -1 if it has none.
func annotationAt(f *schema.Field) int {
	if f.Extended == nil {
		return -1
	}
	return slices.IndexFunc(f.Extended.Properties, func(p schema.Property) bool { return p.Name == AnnotationProperty && p.Kind == schema.PropertyString })
}

// ArrowName is the name of the Arrow field of a named node.
func ArrowName(f *schema.Field) string {
	if k, _, err := split(f.Extended); err == nil && k.hasName {
		return k.name
	}
	return f.Name
}

// Named is a node with another name, and that of its Arrow field. An annotation that is not understood stays as it is.
func Named(f schema.Field, name, arrowName string) schema.Field {
	f.Name = name
	k, rest, err := split(f.Extended)
	if err != nil || !k.hasName && name == arrowName {
		return f
	}
	k.name, k.hasName = arrowName, name != arrowName
	f.Extended = joined(k, rest)
	return f
}

// Metadata are those of the Arrow field of a node, as far as they are understood.
func Metadata(f *schema.Field) arrow.Metadata {
	k, _, _ := split(f.Extended)
	return k.meta
}

// WithMetadata is a node with other metadata of its Arrow field. An annotation that is not understood stays as it is.
func WithMetadata(f schema.Field, m arrow.Metadata) schema.Field {
	k, rest, err := split(f.Extended)
	if err == nil {
		k.meta = m
		f.Extended = joined(k, rest)
	}
	return f
}

// Retyped is an Arrow field with another type, without the labels of an extension type.
func Retyped(f arrow.Field, dt arrow.DataType) arrow.Field {
	f.Type = dt
	var keys, values []string
	for i, key := range f.Metadata.Keys() {
		if key != extNameKey && key != extDataKey {
			keys, values = append(keys, key), append(values, f.Metadata.Values()[i])
		}
	}
	f.Metadata = arrow.NewMetadata(keys, values)
	return f
}

// MadeOfParts reports whether the Arrow type of a nested node follows from its children, so that these may change.
func MadeOfParts(f *schema.Field) bool {
	k, _, err := split(f.Extended)
	label := f.Label()
	return err == nil && (label == "" || label == AnnotationLabel) && len(k.wraps) == 0 && (f.Type != schema.Struct || k.base.name == "")
}

// term is a name with arguments.
type term struct {
	name string
	args []string
}

// runs is the name of run-end encoded columns in annotations.
const runs = "ree"

// termOf describes a type without its parts, with an empty name if it has none.
func termOf(dt arrow.DataType) (t term) {
	if t.name, t.args = kinds.Describe(dt); dt.ID() == arrow.RUN_END_ENCODED {
		t.name = runs
	}
	return t
}

// maxWraps bounds the number of wraps of a column.
const maxWraps = 8

func (t term) appendTo(b []byte) []byte {
	b = append(b, t.name...)
	for i, a := range t.args {
		b = append(b, "[,"[min(i, 1)])
		b = appendEscaped(b, a)
	}
	if len(t.args) > 0 {
		b = append(b, ']')
	}
	return b
}

// typeText is the part of the text before the items.
func (k *annotation) typeText() string {
	var b []byte
	for _, w := range k.wraps {
		b = append(w.appendTo(b), '/')
	}
	return string(k.base.appendTo(b))
}

// text is the whole property, with typ in place of wraps and base.
func (k *annotation) text(typ string) string {
	b := []byte(typ)
	if k.required {
		b = append(b, ";required"...)
	}
	if k.hasName {
		b = appendEscaped(append(b, ";name="...), k.name)
	}
	for i, key := range k.meta.Keys() {
		b = appendEscaped(append(b, ";meta="...), key)
		b = appendEscaped(append(b, ','), k.meta.Values()[i])
	}
	return string(b)
}

func appendEscaped(b []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r < 0x20 || r == 0x7F || strings.ContainsRune("%[],;=", r) || r == utf8.RuneError && n == 1 {
			b = fmt.Appendf(b, "%%%02X", s[0])
		} else {
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return b
}

// parseAnnotation reads the text of the property.
func parseAnnotation(s string) (k annotation, err error) {
	typ, items, more := strings.Cut(s, ";")
	if typ != "" {
		if err := k.parseType(typ); err != nil {
			return annotation{}, err
		}
	}
	var keys, values []string
	for more {
		var item string
		item, items, more = strings.Cut(items, ";")
		what, text, _ := strings.Cut(item, "=")
		switch what {
		case "required":
			k.required = true
		case "name":
			k.hasName = true
			k.name, err = url.PathUnescape(text)
		case "meta":
			var key, value string
			key, value, _ = strings.Cut(text, ",")
			if key, err = url.PathUnescape(key); err == nil {
				value, err = url.PathUnescape(value)
			}
			keys, values = append(keys, key), append(values, value)
		default:
			return annotation{}, fmt.Errorf("item %q is not known", what)
		}
		if err != nil {
			return annotation{}, err
		}
	}
	k.meta = arrow.NewMetadata(keys, values)
	return k, nil
}

func (k *annotation) parseType(s string) error {
	for {
		t, rest, err := parseTerm(s)
		if err != nil {
			return err
		}
		if rest == "" {
			k.base = t
			return nil
		}
		if k.wraps = append(k.wraps, t); len(k.wraps) > maxWraps {
			return fmt.Errorf("more than %d wraps", maxWraps)
		}
		if rest[0] != '/' {
			return fmt.Errorf("%q after %s", rest, t.name)
		}
		s = rest[1:]
	}
}

// parseTerm reads a name and its arguments; rest is what follows.
func parseTerm(s string) (t term, rest string, err error) {
	end := strings.IndexAny(s, "[/")
	switch {
	case s == "" || end == 0:
		return term{}, "", fmt.Errorf("a name is missing before %q", s)
	case end < 0:
		return term{name: s}, "", nil
	}
	t.name, rest = s[:end], s[end:]
	if rest[0] == '/' {
		return t, rest, nil
	}
	inside, rest, closed := strings.Cut(rest[1:], "]")
	if !closed {
		return term{}, "", fmt.Errorf("no ] after %s", t.name)
	}
	for arg := range strings.SplitSeq(inside, ",") {
		if arg, err = url.PathUnescape(arg); err != nil {
			return term{}, "", err
		}
		t.args = append(t.args, arg)
	}
	return t, rest, nil
}

// TypeText is the text of an Arrow type as annotations have it, without the types of children:
// "dictionary[int32,ordered]/utf8_view".
func TypeText(dt arrow.DataType) (string, error) {
	k, _, _, err := describe(arrow.Field{Type: dt}, named, "")
	return k.typeText(), err
}

// ParseType makes the type of a text by [TypeText] and the fields of its children. An extension type that the program
// does not know is an error.
func ParseType(text string, kids []arrow.Field) (arrow.DataType, error) {
	var k annotation
	if err := k.parseType(text); err != nil {
		return nil, err
	}
	dt, err := makeBase(k.base, kids)
	for i := len(k.wraps) - 1; i >= 0 && err == nil; i-- {
		if dt, err = makeWrap(k.wraps[i], dt); err == nil && dt == nil {
			err = fmt.Errorf("extension type %q is not known", k.wraps[i].args[0])
		}
	}
	return dt, err
}

// ExtensionType is a registered extension type for a storage type, or nil if there is none that takes it.
func ExtensionType(name, data string, storage arrow.DataType) arrow.DataType {
	dt, _ := extensionType(name, data, storage)
	return dt
}
