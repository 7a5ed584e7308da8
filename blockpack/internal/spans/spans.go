// Package spans has the names and types of columns of spans, and converts columns to Arrow arrays and back.
package spans

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/base/advice"
)

// Field describes a column in all blocks of a file.
type Field = column.Field

// Options are those of the Arrow types of columns. The zero value is the default.
type Options struct {
	BinaryText bool // strings are binary, for columns whose strings may not be UTF-8
	UintTimes  bool // span:start, span:end and span:duration are uint64
	Events     bool // events and links are lists of structs instead of protobuf
}

var typeNames = [...]string{
	column.String: "string", column.Int64: "int64", column.Uint64: "uint64", column.Float64: "float64", column.Bool: "bool", column.Bytes: "bytes",
}

// rank is the place of an intrinsic in Arrow schemas; others come after them.
var rank = func() map[string]int {
	m := map[string]int{}
	for i, f := range Intrinsics {
		m[f.Name] = i
	}
	return m
}()

// Index is the place in [Intrinsics] of the column of a field of OTLP.
func Index(name string) (int, bool) {
	i, ok := rank[name]
	return i, ok
}

// Intrinsic is the column of a field of OTLP by its name.
func Intrinsic(name string) (Field, bool) {
	i, ok := rank[name]
	if !ok {
		return Field{}, false
	}
	return Intrinsics[i], true
}

// Order sorts fields in the order of an Arrow schema: intrinsics, extensions, then the other columns by name, those of
// one name by type.
func Order(fields []Field) {
	place := func(f Field) int {
		if i, ok := rank[f.Name]; ok {
			return i
		}
		return len(Intrinsics)
	}
	slices.SortFunc(fields, func(a, b Field) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type))
	})
}

// Schema is the Arrow schema of fields. Its field i is that of fields[i]. Of several columns of one name the first keeps
// it; the others have their type behind it, as in "span.code#int64".
func Schema(fields []Field, o Options) *arrow.Schema {
	used := map[string]bool{}
	for _, f := range fields {
		used[f.Name] = true
	}
	out := make([]arrow.Field, len(fields))
	seen := map[string]bool{}
	for i, f := range fields {
		name := f.Name
		if seen[name] {
			for name += "#" + typeNames[f.Type]; used[name]; name += "#" {
			}
			used[name] = true
		}
		seen[f.Name] = true
		keys, values := []string{arrowutil.ColumnType}, []string{typeNames[f.Type]}
		if base, _ := cutType(name); name != f.Name || base != name {
			keys, values = append(keys, arrowutil.ColumnName), append(values, f.Name)
		}
		out[i] = arrow.Field{
			Name: name, Type: arrowType(f, o), Nullable: f.Flags&column.Always == 0 || !required[f.Name],
			Metadata: arrow.NewMetadata(keys, values),
		}
	}
	return arrow.NewSchema(out, nil)
}

// IsRequired tells whether every span of a file of our own has a column.
func IsRequired(name string) bool { return required[name] }

// required are the columns that every span of a file of our own has.
var required = map[string]bool{TraceID: true, SpanID: true, Start: true, End: true, Name: true, Kind: true, Duration: true}

var nanos = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}

// arrowType is the Arrow type of a column.
func arrowType(f Field, o Options) arrow.DataType {
	switch f.Type {
	case column.String:
		if o.BinaryText || f.Flags&column.NotUTF8 != 0 {
			return arrow.BinaryTypes.Binary
		}
		return arrow.BinaryTypes.String
	case column.Int64:
		return arrow.PrimitiveTypes.Int64
	case column.Uint64:
		switch {
		case o.UintTimes || f.Flags&column.Large != 0:
		case f.Name == Start || f.Name == End:
			return nanos
		case f.Name == Duration:
			return arrow.FixedWidthTypes.Duration_ns
		}
		return arrow.PrimitiveTypes.Uint64
	case column.Float64:
		return arrow.PrimitiveTypes.Float64
	case column.Bool:
		return arrow.FixedWidthTypes.Boolean
	}
	switch {
	case f.Flags&column.IDs != 0 && f.Name == TraceID:
		return &arrow.FixedSizeBinaryType{ByteWidth: TraceIDLen}
	case f.Flags&column.IDs != 0 && (f.Name == SpanID || f.Name == ParentID):
		return &arrow.FixedSizeBinaryType{ByteWidth: SpanIDLen}
	case o.Events && lists[f.Name] != nil:
		return lists[f.Name].arrowType()
	}
	return arrow.BinaryTypes.Binary
}

// Lengths of ids in bytes.
const (
	TraceIDLen = 16
	SpanIDLen  = 8
)

// cutType cuts the type off a name such as "span.code#int64". Without one it returns the name.
func cutType(name string) (string, string) {
	i := strings.LastIndexByte(name, '#')
	if i < 0 || !slices.Contains(typeNames[:], name[i+1:]) {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// Of is the column that an Arrow field of any table of spans stands for. The error names the field, and the rule that it
// breaks.
func Of(f arrow.Field) (Field, error) {
	name, given := f.Name, ""
	if v, ok := f.Metadata.GetValue(arrowutil.ColumnType); ok {
		given = v
		if v, ok := f.Metadata.GetValue(arrowutil.ColumnName); ok {
			name = v
		}
	} else {
		name, given = cutType(f.Name)
	}
	natural, ok := typeOf(f.Type)
	if in, known := Intrinsic(name); known {
		if _, isList := f.Type.(arrow.ListLikeType); !ok && (!isList || lists[name] == nil) && (!isTime(f.Type) || in.Type != column.Uint64) {
			return in, fmt.Errorf("column %q of type %s: %s cannot be read from it", f.Name, f.Type, name)
		}
		return in, nil
	}
	if !strings.HasPrefix(name, SpanPrefix) && !strings.HasPrefix(name, ResourcePrefix) && !strings.HasPrefix(name, ScopePrefix) {
		err := fmt.Errorf("column %q is none of spans: their names are span:name, trace:id and the like, or have span, resource or scope and a dot in front", f.Name)
		if f.Name == "resourceSpans" {
			err = advice.WithHint(err, "it looks like OTLP/JSON: --from otlp-json")
		}
		return Field{}, err
	}
	if !ok {
		return Field{}, fmt.Errorf("column %q of type %s: attributes are strings, integers, floats, bools or bytes", f.Name, f.Type)
	}
	if i := slices.Index(typeNames[:], given); i >= 0 {
		switch t := column.Type(i); {
		case t == natural, t == column.Uint64 && natural == column.Int64, t == column.String && natural == column.Bytes:
			return Field{Name: name, Type: t}, nil
		case f.Metadata.FindKey(arrowutil.ColumnType) < 0:
			name = f.Name // the key of an attribute just looks like it
		}
	}
	return Field{Name: name, Type: natural}, nil
}

func isTime(dt arrow.DataType) bool {
	dt, _ = extension.Unwrap(dt)
	return dt.ID() == arrow.TIMESTAMP || dt.ID() == arrow.DURATION
}

// typeOf is the type of attributes with values of an Arrow type.
func typeOf(dt arrow.DataType) (column.Type, bool) {
	dt, name := extension.Unwrap(dt)
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.NULL:
		return column.String, true
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return column.Bytes, true
	case arrow.BOOL:
		return column.Bool, true
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return column.Float64, true
	}
	if name == extension.NameBool8 {
		return column.Bool, true
	}
	return column.Int64, arrow.IsInteger(dt.ID())
}

// LengthOfIDs is the length of the ids of a column, 0 if it has none.
func LengthOfIDs(name string) int {
	switch name {
	case TraceID:
		return TraceIDLen
	case SpanID, ParentID:
		return SpanIDLen
	}
	return 0
}

// TraitsOf are those of the values of a column.
func TraitsOf(c *column.Column) (t column.Traits) {
	if c.PresentCount() == c.Rows {
		t |= column.Always
	}
	switch c.Type {
	case column.Uint64:
		for _, v := range c.Values.Numbers {
			if v > math.MaxInt64 {
				t |= column.Large
			}
		}
	case column.String:
		for k := range c.Values.Len() {
			if !utf8.Valid(c.Values.Bytes(k)) {
				t |= column.NotUTF8
			}
		}
	case column.Bytes:
		if n := LengthOfIDs(c.Name); n > 0 {
			t |= column.IDs
			for k := range c.Values.Len() {
				if len(c.Values.Bytes(k)) != n {
					t &^= column.IDs
				}
			}
		}
	}
	return t
}
