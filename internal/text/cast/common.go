package cast

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text"
)

// classes are sets of classes of types that have a type in common.
type classes uint32

const (
	isNull classes = 1 << iota
	isSigned
	isUnsigned
	isFloat
	isDecimal
	isDate
	isTimestamp // without a zone
	isInstant   // timestamps with a zone
	isTime
	isDuration
	isInterval
	isText
	isBytes
	isStruct
	isRepeated
	isMap
	isOther
)

// errNoType is the error of types that no type can hold.
type errNoType struct{ a, b arrow.DataType }

func (e errNoType) Error() string {
	return fmt.Sprintf("no type holds the values of %s and %s", text.Type(e.a), text.Type(e.b))
}

// Common returns the smallest type that holds the values of all types, in any order of these, apart from the names of the items of lists. It is utf8 for types that
// have nothing but a text in common, such as numbers and strings: mixed is then set. With exact, it is never such a text, and types of floats hold all numbers of the
// other types, such as float64 those of int32; without, a number that is none of their values is an error when it is converted. So is one of times
// that a finer unit cannot hold, in any case.
func Common(types []arrow.DataType, exact bool) (t arrow.DataType, mixed bool, err error) {
	types = distinct(types)
	if len(types) == 1 {
		return types[0], false, nil
	}
	all := classes(0)
	plain := make([]arrow.DataType, len(types))
	for i, t := range types {
		plain[i] = kinds.Decoded(t)
		all |= kindOf(plain[i])
	}
	all &^= isNull
	plain = distinct(plain)
	if len(plain) == 1 {
		return plain[0], false, nil
	}
	switch {
	case all&^(isSigned|isUnsigned|isFloat) == 0 && all&isFloat != 0:
		if t := floatFor(plain, all, exact); t != nil {
			return t, false, nil
		}
	case all&^(isSigned|isUnsigned) == 0:
		return integerFor(plain), false, nil
	case all&^(isSigned|isUnsigned|isDecimal) == 0:
		if d := decimalFor(plain); d != nil {
			return d, false, nil
		}
	case all == isDate:
		return arrow.FixedWidthTypes.Date64, false, nil
	case all&^(isDate|isTimestamp) == 0:
		return &arrow.TimestampType{Unit: finest(plain)}, false, nil
	case all == isInstant:
		return &arrow.TimestampType{Unit: finest(plain), TimeZone: zoneOf(plain)}, false, nil
	case all == isTime:
		if u := finest(plain); u >= arrow.Microsecond {
			return &arrow.Time64Type{Unit: u}, false, nil
		}
		return arrow.FixedWidthTypes.Time32ms, false, nil
	case all == isDuration:
		return &arrow.DurationType{Unit: finest(plain)}, false, nil
	case all == isInterval:
		return arrow.FixedWidthTypes.MonthDayNanoInterval, false, nil
	case all == isText:
		return textFor(plain, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString), false, nil
	case all&^(isText|isBytes) == 0:
		return textFor(plain, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary), false, nil
	case all == isStruct:
		return structFor(plain, exact)
	case all == isRepeated:
		return listFor(plain, exact)
	case all == isMap && exact:
		return mapFor(plain)
	}
	if exact || all&isBytes != 0 || all&isMap != 0 {
		return nil, false, errNoType{types[0], types[1]}
	}
	return arrow.BinaryTypes.String, true, nil
}

func distinct(types []arrow.DataType) (out []arrow.DataType) {
next:
	for _, t := range types {
		for _, o := range out {
			if arrow.TypeEqual(t, o) {
				continue next
			}
		}
		if t.ID() != arrow.NULL {
			out = append(out, t)
		}
	}
	if out == nil {
		return []arrow.DataType{arrow.Null}
	}
	return out
}

// classOf has the classes of types, but of timestamps with a zone. Others are isOther.
var classOf = map[arrow.Type]classes{
	arrow.NULL: isNull,
	arrow.INT8: isSigned, arrow.INT16: isSigned, arrow.INT32: isSigned, arrow.INT64: isSigned,
	arrow.UINT8: isUnsigned, arrow.UINT16: isUnsigned, arrow.UINT32: isUnsigned, arrow.UINT64: isUnsigned,
	arrow.FLOAT16: isFloat, arrow.FLOAT32: isFloat, arrow.FLOAT64: isFloat,
	arrow.DECIMAL32: isDecimal, arrow.DECIMAL64: isDecimal, arrow.DECIMAL128: isDecimal, arrow.DECIMAL256: isDecimal,
	arrow.DATE32: isDate, arrow.DATE64: isDate, arrow.TIMESTAMP: isTimestamp, arrow.TIME32: isTime, arrow.TIME64: isTime, arrow.DURATION: isDuration,
	arrow.INTERVAL_MONTHS: isInterval, arrow.INTERVAL_DAY_TIME: isInterval, arrow.INTERVAL_MONTH_DAY_NANO: isInterval,
	arrow.STRING: isText, arrow.LARGE_STRING: isText, arrow.STRING_VIEW: isText,
	arrow.BINARY: isBytes, arrow.LARGE_BINARY: isBytes, arrow.BINARY_VIEW: isBytes, arrow.FIXED_SIZE_BINARY: isBytes,
	arrow.STRUCT: isStruct, arrow.LIST: isRepeated, arrow.LARGE_LIST: isRepeated, arrow.LIST_VIEW: isRepeated, arrow.LARGE_LIST_VIEW: isRepeated,
	arrow.FIXED_SIZE_LIST: isRepeated, arrow.MAP: isMap,
}

func kindOf(t arrow.DataType) classes {
	if stamp, ok := t.(*arrow.TimestampType); ok && stamp.TimeZone != "" {
		return isInstant
	}
	return cmp.Or(classOf[t.ID()], isOther)
}

// floatFor is float64, or a smaller type for floats alone, and with exact for integers that it holds. It is nil if exact cannot be.
func floatFor(types []arrow.DataType, all classes, exact bool) arrow.DataType {
	bits := 0 // of integers
	widest := arrow.FLOAT16
	for _, t := range types {
		switch {
		case kindOf(t) == isFloat:
			widest = max(widest, t.ID())
		case kindOf(t) == isSigned:
			bits = max(bits, t.(arrow.FixedWidthDataType).BitWidth()-1)
		default:
			bits = max(bits, t.(arrow.FixedWidthDataType).BitWidth())
		}
	}
	switch {
	case exact && bits > 53:
		return nil
	case all != isFloat && (!exact || bits > 24), widest == arrow.FLOAT64:
		return arrow.PrimitiveTypes.Float64
	case all == isFloat || bits > 11 || widest == arrow.FLOAT32:
		return arrow.PrimitiveTypes.Float32
	}
	return arrow.FixedWidthTypes.Float16
}

// integerFor is the smallest integer type, or a decimal for uint64 with a signed type.
func integerFor(types []arrow.DataType) arrow.DataType {
	signed, unsigned := 0, 0 // bits
	for _, t := range types {
		bits := t.(arrow.FixedWidthDataType).BitWidth()
		if kindOf(t) == isSigned {
			signed = max(signed, bits)
		} else {
			unsigned = max(unsigned, bits)
		}
	}
	if signed == 0 {
		return map[int]arrow.DataType{8: arrow.PrimitiveTypes.Uint8, 16: arrow.PrimitiveTypes.Uint16, 32: arrow.PrimitiveTypes.Uint32, 64: arrow.PrimitiveTypes.Uint64}[unsigned]
	}
	if unsigned >= signed {
		signed = 2 * unsigned
	}
	if signed > 64 {
		return &arrow.Decimal128Type{Precision: 20}
	}
	return map[int]arrow.DataType{8: arrow.PrimitiveTypes.Int8, 16: arrow.PrimitiveTypes.Int16, 32: arrow.PrimitiveTypes.Int32, 64: arrow.PrimitiveTypes.Int64}[signed]
}

// decimalFor is the narrowest decimal type, nil if none is wide enough.
func decimalFor(types []arrow.DataType) arrow.DataType {
	digits, scale, bits := int32(0), int32(0), 0
	for i, t := range types {
		d, s := int32(0), int32(0)
		if dec, ok := t.(arrow.DecimalType); ok {
			d, s, bits = dec.GetPrecision()-dec.GetScale(), dec.GetScale(), max(bits, dec.BitWidth())
		} else {
			d = map[arrow.Type]int32{arrow.INT8: 3, arrow.UINT8: 3, arrow.INT16: 5, arrow.UINT16: 5, arrow.INT32: 10, arrow.UINT32: 10, arrow.INT64: 19, arrow.UINT64: 20}[t.ID()]
		}
		if digits = max(digits, d); i == 0 {
			scale = s
		}
		scale = max(scale, s)
	}
	for _, d := range []struct {
		id     arrow.Type
		digits int32
		bits   int
	}{{arrow.DECIMAL32, 9, 32}, {arrow.DECIMAL64, 18, 64}, {arrow.DECIMAL128, 38, 128}, {arrow.DECIMAL256, 76, 256}} {
		if d.bits >= bits && digits+scale <= d.digits {
			t, _ := arrow.NewDecimalType(d.id, digits+scale, scale) // its digits are checked
			return t
		}
	}
	return nil
}

// finest is the finest unit of times.
func finest(types []arrow.DataType) (u arrow.TimeUnit) {
	for _, t := range types {
		if timed, ok := t.(arrow.TemporalWithUnit); ok {
			u = max(u, timed.TimeUnit())
		} else if t.ID() == arrow.DATE64 {
			u = max(u, arrow.Millisecond)
		}
	}
	return u
}

// zoneOf is the zone of all timestamps, or UTC.
func zoneOf(types []arrow.DataType) string {
	zone := types[0].(*arrow.TimestampType).TimeZone
	for _, t := range types {
		if t.(*arrow.TimestampType).TimeZone != zone {
			return "UTC"
		}
	}
	return zone
}

func textFor(types []arrow.DataType, short, long arrow.DataType) arrow.DataType {
	for _, t := range types {
		if t.ID() == arrow.LARGE_STRING || t.ID() == arrow.LARGE_BINARY {
			return long
		}
	}
	return short
}

func structFor(types []arrow.DataType, exact bool) (arrow.DataType, bool, error) {
	var lists [][]arrow.Field
	for _, t := range types {
		lists = append(lists, t.(*arrow.StructType).Fields())
	}
	columns, err := Unite(lists, exact)
	if err != nil {
		return nil, false, err
	}
	fields, mixed := make([]arrow.Field, len(columns)), false
	for i, c := range columns {
		fields[i] = c.Field
		fields[i].Nullable = true
		mixed = mixed || c.Mixed
	}
	return arrow.StructOf(fields...), mixed, nil
}

func listFor(types []arrow.DataType, exact bool) (arrow.DataType, bool, error) {
	var elems []arrow.DataType
	large, size := false, int32(-1)
	for i, t := range types {
		elems = append(elems, t.(arrow.ListLikeType).Elem())
		large = large || t.ID() == arrow.LARGE_LIST || t.ID() == arrow.LARGE_LIST_VIEW
		switch t, ok := t.(*arrow.FixedSizeListType); {
		case ok && (i == 0 || size == t.Len()):
			size = t.Len()
		default:
			size = -1
		}
	}
	elem, mixed, err := Common(elems, exact)
	if err != nil {
		return nil, false, err
	}
	field := arrow.Field{Name: types[0].(arrow.ListLikeType).ElemField().Name, Type: elem, Nullable: true}
	switch {
	case size >= 0:
		return arrow.FixedSizeListOfField(size, field), mixed, nil
	case large:
		return arrow.LargeListOfField(field), mixed, nil
	}
	return arrow.ListOfField(field), mixed, nil
}

// mapFor is the type of maps whose keys and values are of common types. Keys of texts are sorted as they were; the order of others may change with their type.
func mapFor(types []arrow.DataType) (arrow.DataType, bool, error) {
	first := types[0].(*arrow.MapType)
	key, item := first.KeyField(), first.ItemField()
	var keys, items []arrow.DataType
	sorted := true
	for _, t := range types {
		m := t.(*arrow.MapType)
		keys, items = append(keys, m.KeyType()), append(items, m.ItemType())
		sorted = sorted && m.KeysSorted
	}
	var err, err2 error
	key.Type, _, err = Common(keys, true)
	item.Type, _, err2 = Common(items, true)
	if err = cmp.Or(err, err2); err != nil {
		return nil, false, err
	}
	item.Nullable = true
	to := arrow.MapOfFields(key, item)
	to.KeysSorted = sorted
	return to, false, nil
}
