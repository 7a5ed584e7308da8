package arrowmap

import (
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
)

// textType is the text form of one kind of Arrow type, as annotations use it:
// a name and its arguments. The types of children are not part of it.
type textType struct {
	id   arrow.Type
	name string
	args func(arrow.DataType) []string // nil: none
	make func(args []string, kids []arrow.Field) (arrow.DataType, error)
}

// textTypes lists every Arrow type but unions and the three wraps.
var textTypes = []textType{
	fixed(arrow.Null, "null"),
	fixed(arrow.FixedWidthTypes.Boolean, "bool"),
	fixed(arrow.PrimitiveTypes.Int8, "int8"),
	fixed(arrow.PrimitiveTypes.Int16, "int16"),
	fixed(arrow.PrimitiveTypes.Int32, "int32"),
	fixed(arrow.PrimitiveTypes.Int64, "int64"),
	fixed(arrow.PrimitiveTypes.Uint8, "uint8"),
	fixed(arrow.PrimitiveTypes.Uint16, "uint16"),
	fixed(arrow.PrimitiveTypes.Uint32, "uint32"),
	fixed(arrow.PrimitiveTypes.Uint64, "uint64"),
	fixed(arrow.FixedWidthTypes.Float16, "float16"),
	fixed(arrow.PrimitiveTypes.Float32, "float32"),
	fixed(arrow.PrimitiveTypes.Float64, "float64"),
	decimalType(arrow.DECIMAL32, "decimal32", 9),
	decimalType(arrow.DECIMAL64, "decimal64", 18),
	decimalType(arrow.DECIMAL128, "decimal128", 38),
	decimalType(arrow.DECIMAL256, "decimal256", 76),
	fixed(arrow.BinaryTypes.String, "utf8"),
	fixed(arrow.BinaryTypes.LargeString, "large_utf8"),
	fixed(arrow.BinaryTypes.StringView, "utf8_view"),
	fixed(arrow.BinaryTypes.Binary, "binary"),
	fixed(arrow.BinaryTypes.LargeBinary, "large_binary"),
	fixed(arrow.BinaryTypes.BinaryView, "binary_view"),
	{arrow.FIXED_SIZE_BINARY, "fixed_size_binary",
		func(t arrow.DataType) []string {
			return []string{strconv.Itoa(t.(*arrow.FixedSizeBinaryType).ByteWidth)}
		},
		func(args []string, _ []arrow.Field) (arrow.DataType, error) {
			n, err := number(args, 0, math.MaxInt32)
			return &arrow.FixedSizeBinaryType{ByteWidth: n}, err
		}},
	fixed(arrow.FixedWidthTypes.Date32, "date32"),
	fixed(arrow.FixedWidthTypes.Date64, "date64"),
	unitType(arrow.TIME32, "time32", func(u arrow.TimeUnit) arrow.DataType { return &arrow.Time32Type{Unit: u} }, arrow.Second, arrow.Millisecond),
	unitType(arrow.TIME64, "time64", func(u arrow.TimeUnit) arrow.DataType { return &arrow.Time64Type{Unit: u} }, arrow.Microsecond, arrow.Nanosecond),
	{arrow.TIMESTAMP, "timestamp",
		func(t arrow.DataType) []string {
			ts := t.(*arrow.TimestampType)
			if ts.TimeZone == "" {
				return []string{ts.Unit.String()}
			}
			return []string{ts.Unit.String(), ts.TimeZone}
		},
		func(args []string, _ []arrow.Field) (arrow.DataType, error) {
			zone := ""
			if len(args) == 2 {
				args, zone = args[:1], args[1]
			}
			u, err := unit(args, arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond)
			return &arrow.TimestampType{Unit: u, TimeZone: zone}, err
		}},
	unitType(arrow.DURATION, "duration", func(u arrow.TimeUnit) arrow.DataType { return &arrow.DurationType{Unit: u} },
		arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond),
	fixed(arrow.FixedWidthTypes.MonthInterval, "interval_months"),
	fixed(arrow.FixedWidthTypes.DayTimeInterval, "interval_day_time"),
	fixed(arrow.FixedWidthTypes.MonthDayNanoInterval, "interval_month_day_nano"),
	listType(arrow.LIST, "list", func(f arrow.Field) arrow.DataType { return arrow.ListOfField(f) }),
	listType(arrow.LARGE_LIST, "large_list", func(f arrow.Field) arrow.DataType { return arrow.LargeListOfField(f) }),
	listType(arrow.LIST_VIEW, "list_view", func(f arrow.Field) arrow.DataType { return arrow.ListViewOfField(f) }),
	listType(arrow.LARGE_LIST_VIEW, "large_list_view", func(f arrow.Field) arrow.DataType { return arrow.LargeListViewOfField(f) }),
	{arrow.FIXED_SIZE_LIST, "fixed_size_list",
		func(t arrow.DataType) []string {
			return []string{strconv.Itoa(int(t.(*arrow.FixedSizeListType).Len()))}
		},
		func(args []string, kids []arrow.Field) (arrow.DataType, error) {
			n, err := number(args, 1, math.MaxInt32)
			if err != nil || len(kids) != 1 {
				return nil, badArgs("fixed_size_list", args)
			}
			return arrow.FixedSizeListOfField(int32(n), kids[0]), nil
		}},
	{arrow.STRUCT, "struct", nil, func(args []string, kids []arrow.Field) (arrow.DataType, error) {
		return arrow.StructOf(kids...), none(args)
	}},
	{arrow.MAP, "map",
		func(t arrow.DataType) []string {
			if t.(*arrow.MapType).KeysSorted {
				return []string{"sorted"}
			}
			return nil
		},
		makeMap},
}

func makeMap(args []string, kids []arrow.Field) (arrow.DataType, error) {
	sorted := len(args) == 1 && args[0] == "sorted"
	if len(args) > 0 && !sorted || len(kids) != 2 {
		return nil, badArgs("map", args)
	}
	kids[0].Nullable = false
	m := arrow.MapOfFields(kids[0], kids[1])
	m.KeysSorted = sorted
	return m, nil
}

// fixed is a type without parameters.
func fixed(dt arrow.DataType, name string) textType {
	return textType{id: dt.ID(), name: name, make: func(args []string, _ []arrow.Field) (arrow.DataType, error) {
		return dt, none(args)
	}}
}

func decimalType(id arrow.Type, name string, most int) textType {
	return textType{id, name,
		func(t arrow.DataType) []string {
			d := t.(arrow.DecimalType)
			return []string{strconv.Itoa(int(d.GetPrecision())), strconv.Itoa(int(d.GetScale()))}
		},
		func(args []string, _ []arrow.Field) (arrow.DataType, error) {
			if len(args) != 2 {
				return nil, badArgs(name, args)
			}
			p, err := number(args[:1], 1, most)
			if err != nil {
				return nil, err
			}
			s, err := number(args[1:], -maxScale, maxScale)
			if err != nil {
				return nil, err
			}
			return arrow.NewDecimalType(id, int32(p), int32(s))
		}}
}

// maxScale bounds the scale of decimals: that of decimal128's exponents,
// less the digits that a coefficient may add.
const maxScale = 6000

func unitType(id arrow.Type, name string, of func(arrow.TimeUnit) arrow.DataType, units ...arrow.TimeUnit) textType {
	return textType{id, name,
		func(t arrow.DataType) []string { return []string{t.(arrow.TemporalWithUnit).TimeUnit().String()} },
		func(args []string, _ []arrow.Field) (arrow.DataType, error) {
			u, err := unit(args, units...)
			return of(u), err
		}}
}

func listType(id arrow.Type, name string, of func(arrow.Field) arrow.DataType) textType {
	return textType{id, name, nil, func(args []string, kids []arrow.Field) (arrow.DataType, error) {
		if len(kids) != 1 {
			return nil, badArgs(name, args)
		}
		return of(kids[0]), none(args)
	}}
}

func badArgs(name string, args []string) error {
	return fmt.Errorf("arguments %q do not suit %s", args, name)
}

func none(args []string) error {
	if len(args) != 0 {
		return fmt.Errorf("arguments %q where none belong", args)
	}
	return nil
}

// number is the only argument.
func number(args []string, least, most int) (int, error) {
	if len(args) != 1 {
		return least, fmt.Errorf("%d arguments instead of 1", len(args))
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < least || n > most {
		return least, fmt.Errorf("number %q is not from %d to %d", args[0], least, most)
	}
	return n, nil
}

func unit(args []string, allowed ...arrow.TimeUnit) (arrow.TimeUnit, error) {
	for _, u := range allowed {
		if len(args) == 1 && args[0] == u.String() {
			return u, nil
		}
	}
	return allowed[0], fmt.Errorf("unit %q unknown here", args)
}

var (
	textByID   = map[arrow.Type]*textType{}
	textByName = map[string]*textType{}
)

func init() {
	for i := range textTypes {
		t := &textTypes[i]
		textByID[t.id], textByName[t.name] = t, t
	}
}

// unitOf is the unit that the rules Ticks and Span convert by.
func unitOf(dt arrow.DataType) convert.Unit {
	switch t := dt.(type) {
	case *arrow.Date32Type:
		return convert.Day
	case *arrow.Date64Type:
		return convert.Millisecond
	case arrow.TemporalWithUnit:
		switch t.TimeUnit() {
		case arrow.Second:
			return convert.Second
		case arrow.Millisecond:
			return convert.Millisecond
		case arrow.Microsecond:
			return convert.Microsecond
		}
	}
	return convert.Nanosecond
}
