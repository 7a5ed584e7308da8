package structs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/amudai/amudai-go/internal/arrow/extension"
)

// node is a field of a struct, an item of a list, or a key or value of a map.
type node struct {
	name     string // of the column or the part of one
	goName   string // of the field, such as Order.Address.City
	goType   reflect.Type
	pointer  bool // the field is a *goType; nil is null
	nullable bool // pointers, slices and maps; nil is null
	shape    shape
	dt       arrow.DataType
	offset   uintptr // of the field in its struct
	kids     []*node
}

// shape is the way in which values of a Go type are stored.
type shape int

const (
	shapeFixed  shape = iota // numbers, times, decimals
	shapeBool                //
	shapeString              //
	shapeBytes               // []byte
	shapeArray               // [N]byte
	shapeStruct              // kids: the fields
	shapeList                // []V; kids: the items
	shapeTuple               // [N]V; kids: the items
	shapeMap                 // kids: the keys and the values
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	dec32Type    = reflect.TypeFor[decimal.Decimal32]()
	dec64Type    = reflect.TypeFor[decimal.Decimal64]()
	dec128Type   = reflect.TypeFor[decimal128.Num]()
	dec256Type   = reflect.TypeFor[decimal256.Num]()
)

// known are types that are values, whatever they are made of.
var known = map[reflect.Type]bool{timeType: true, durationType: true, dec32Type: true, dec64Type: true, dec128Type: true, dec256Type: true}

// scope is the place of a type: the name of the field, and the structs around it.
type scope struct {
	name  string
	above []reflect.Type
}

func (s scope) errorf(format string, args ...any) error {
	return fmt.Errorf("field %s: %w", s.name, fmt.Errorf(format, args...))
}

// maxDepth is more than anyone nests, and less than what exhausts a stack.
const maxDepth = 64

func newNode(t reflect.Type, o tag, at scope) (*node, error) {
	n := &node{goName: at.name, goType: t}
	if t.Kind() == reflect.Pointer {
		n.goType, n.pointer, n.nullable = t.Elem(), true, true
	}
	switch n.goType.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if n.pointer {
			return nil, at.errorf("%s can be nil in two ways, but there is one null", t)
		}
	}
	if slices.Contains(at.above, n.goType) {
		return nil, at.errorf("%s contains itself", n.goType)
	}
	if n.goType.Kind() == reflect.Array && n.goType.Len() == 0 {
		return nil, at.errorf("%s has no items", n.goType)
	}
	if len(at.above) == maxDepth {
		return nil, at.errorf("types are nested more than %d levels deep", maxDepth)
	}
	at.above = append(at.above[:len(at.above):len(at.above)], n.goType)
	var err error
	if n.dt, n.shape, err = typeOf(n.goType, o); n.dt == nil && err == nil {
		err = n.nest(o, at)
	} else if err != nil {
		err = at.errorf("%w", err)
	}
	n.nullable = n.nullable || n.shape == shapeBytes
	if err != nil {
		return nil, err
	}
	return n, nil
}

// typeOf returns the Arrow type of values without parts, and nil for nested types.
func typeOf(t reflect.Type, o tag) (arrow.DataType, shape, error) {
	switch {
	case t == timeType || t == durationType:
		dt, err := temporal(t, o)
		return dt, shapeFixed, err
	case known[t]:
		dt, err := decimalType(t, o)
		return dt, shapeFixed, err
	case isByte(t):
		dt, err := bytesType(t, o)
		return dt, shapeOfBytes(t), err
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return nil, 0, nil // an option is for the items
	case o.option != "":
		return nil, 0, fmt.Errorf("a %s has no option %q", t, o)
	}
	switch t.Kind() {
	case reflect.Bool:
		return arrow.FixedWidthTypes.Boolean, shapeBool, nil
	case reflect.String:
		return arrow.BinaryTypes.String, shapeString, nil
	case reflect.Struct, reflect.Map:
		return nil, 0, nil
	}
	if dt := numberTypes[t.Kind()]; dt != nil {
		return dt, shapeFixed, nil
	}
	return nil, 0, fmt.Errorf("there is no Arrow type for %s", t)
}

var numberTypes = map[reflect.Kind]arrow.DataType{
	reflect.Int: arrow.PrimitiveTypes.Int64, reflect.Int8: arrow.PrimitiveTypes.Int8, reflect.Int16: arrow.PrimitiveTypes.Int16,
	reflect.Int32: arrow.PrimitiveTypes.Int32, reflect.Int64: arrow.PrimitiveTypes.Int64,
	reflect.Uint: arrow.PrimitiveTypes.Uint64, reflect.Uint8: arrow.PrimitiveTypes.Uint8, reflect.Uint16: arrow.PrimitiveTypes.Uint16,
	reflect.Uint32: arrow.PrimitiveTypes.Uint32, reflect.Uint64: arrow.PrimitiveTypes.Uint64,
	reflect.Float32: arrow.PrimitiveTypes.Float32, reflect.Float64: arrow.PrimitiveTypes.Float64,
}

func isByte(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() == reflect.Uint8
}

func shapeOfBytes(t reflect.Type) shape {
	if t.Kind() == reflect.Slice {
		return shapeBytes
	}
	return shapeArray
}

func bytesType(t reflect.Type, o tag) (arrow.DataType, error) {
	switch {
	case o.option == "uuid" && t.Kind() == reflect.Array && t.Len() == 16:
		return extension.UUID(), nil
	case o.option != "":
		return nil, fmt.Errorf("a %s has no option %q", t, o)
	case t.Kind() == reflect.Slice:
		return arrow.BinaryTypes.Binary, nil
	}
	return &arrow.FixedSizeBinaryType{ByteWidth: t.Len()}, nil
}

// temporal is the type of times and durations: nanoseconds, or what the tag says.
func temporal(t reflect.Type, o tag) (arrow.DataType, error) {
	ofTime := t == timeType
	unit, err := o.unit()
	switch {
	case ofTime && o.String() == "date32":
		return arrow.FixedWidthTypes.Date32, nil
	case ofTime && o.String() == "date64":
		return arrow.FixedWidthTypes.Date64, nil
	case ofTime && (o.option == "timestamp" || o.option == ""):
		return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}, err
	case !ofTime && o.String() == "time32":
		return arrow.FixedWidthTypes.Time32ms, nil
	case !ofTime && o.String() == "time64":
		return arrow.FixedWidthTypes.Time64ns, nil
	case !ofTime && (o.option == "duration" || o.option == ""):
		return &arrow.DurationType{Unit: unit}, err
	case ofTime && (o.option == "time32" || o.option == "time64"):
		return nil, errors.New("the time of a day is a time.Duration since midnight")
	}
	return nil, fmt.Errorf("a %s has no option %q", t, o)
}

func decimalType(t reflect.Type, o tag) (arrow.DataType, error) {
	ids := map[reflect.Type]arrow.Type{dec32Type: arrow.DECIMAL32, dec64Type: arrow.DECIMAL64, dec128Type: arrow.DECIMAL128, dec256Type: arrow.DECIMAL256}
	most := map[reflect.Type]int32{dec32Type: 9, dec64Type: 18, dec128Type: 38, dec256Type: 76}[t]
	precision, scale := most, int32(0)
	switch o.option {
	case "":
	case "decimal":
		var err error
		if precision, scale, err = o.decimal(); err != nil {
			return nil, err
		}
		if precision < 1 || precision > most {
			return nil, fmt.Errorf("option %s: a %s has 1 to %d digits", o, t, most)
		}
	default:
		return nil, fmt.Errorf("a %s has no option %q", t, o)
	}
	return arrow.NewDecimalType(ids[t], precision, scale)
}

// tag is what the tag of a field says.
//
//	arrow:"-"                   no column
//	arrow:"price"               the name of the column
//	arrow:"price,decimal(9,2)"  its name and Arrow type
//	arrow:",date32"             the type alone
type tag struct {
	skip   bool
	name   string
	option string // such as timestamp, or "" for the usual type
	args   []string
}

func parseTag(text string) (tag, error) {
	if text == "-" {
		return tag{skip: true}, nil
	}
	name, option, _ := strings.Cut(text, ",")
	t := tag{name: name, option: strings.TrimSpace(option)}
	if word, args, ok := strings.Cut(t.option, "("); ok {
		args, ok = strings.CutSuffix(args, ")")
		if !ok {
			return tag{}, fmt.Errorf("tag %q: a parenthesis is not closed", text)
		}
		t.option = strings.TrimSpace(word)
		for arg := range strings.SplitSeq(args, ",") {
			t.args = append(t.args, strings.TrimSpace(arg))
		}
	}
	return t, nil
}

func (t tag) String() string {
	if len(t.args) == 0 {
		return t.option
	}
	return t.option + "(" + strings.Join(t.args, ",") + ")"
}

// unit is the argument of timestamp(us), nanoseconds by default.
func (t tag) unit() (arrow.TimeUnit, error) {
	if len(t.args) == 0 {
		return arrow.Nanosecond, nil
	}
	for u := arrow.Second; u <= arrow.Nanosecond; u++ {
		if len(t.args) == 1 && t.args[0] == u.String() {
			return u, nil
		}
	}
	return 0, fmt.Errorf("option %s: the unit is s, ms, us or ns", t)
}

// decimal is the arguments of decimal(9,2).
func (t tag) decimal() (precision, scale int32, err error) {
	if len(t.args) == 2 {
		p, bad := strconv.ParseInt(t.args[0], 10, 32)
		s, wrong := strconv.ParseInt(t.args[1], 10, 32)
		if bad == nil && wrong == nil {
			return int32(p), int32(s), nil
		}
	}
	return 0, 0, fmt.Errorf("option %s: a decimal has a precision and a scale, as in decimal(9,2)", t)
}
