// Package valueset holds sets of values of a column: those for which a condition on the column is true.
//
// A [Domain] is all values of an Arrow type, in their order. It knows where a literal lies among them: 1.5 lies between
// two integers, '2001-12-31' is a number of days. [Domain.Compare] gives the set of the values that compare to a literal in
// some way, such as x > 1.5. [Union], [Set.And] and [Domain.Not] combine sets, and [Domain.Values] gives them in the form
// that values have in Arrow arrays.
//
//	x > 1.5 and x <> 7, of int16    [2, 7) and [8, 32768)    Ints{{2, 6}, {8, 32767}}
package valueset

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// family is the kind of a column's values. It decides which literals they can be compared with.
type family uint8

const (
	famNone family = iota // without an order
	famBool
	famBool8 // booleans in bytes; 0 is false
	famInt
	famUint
	famFloat
	famDecimal32 // and decimal64: integers of a scale
	famDecimal
	famString
	famBinary
	famUUID
	famInstant // dates and timestamps
	famClock   // times of day
	famDuration
	famNumber // numbers of any size and precision, as the byte strings of text.AppendOrdered
)

// Domain is the values of an Arrow type, in their order. It does not change, and may be used by many goroutines.
//
// All numbers are integers inside of it: decimals by their coefficients, times in the unit of the type, floats by
// [floatKey].
type Domain struct {
	// Type is the type without dictionaries, runs and extensions.
	Type arrow.DataType
	// Name is that of the whole type, for messages.
	Name string

	family family
	whole  span
	width  int   // bits of integers and floats
	scale  int32 // of decimals
	unit   int64 // of times, in nanoseconds
	zone   string
}

// IsText reports whether patterns can look into the values: strings and byte strings.
func (d *Domain) IsText() bool { return d.family == famString || d.family == famBinary }

// IsBool reports whether the values are booleans, in bits or in bytes.
func (d *Domain) IsBool() bool { return d.family == famBool || d.family == famBool8 }

// HasElements reports whether the values are lists or maps.
func (d *Domain) HasElements() bool {
	_, ok := d.Type.(arrow.ListLikeType)
	return ok
}

// IsOrdered reports whether the values can be compared. Those of nested types cannot.
func (d *Domain) IsOrdered() bool { return d.family != famNone }

// HasNaN reports whether a value can be NaN.
func (d *Domain) HasNaN() bool { return d.family == famFloat }

// Equal reports whether values of two domains can be compared with each other.
func (d *Domain) Equal(o *Domain) bool { return d.family == o.family && d.Holds(o.Type) }

// Holds reports whether arrays of a type have the values of the domain, in whatever layout.
func (d *Domain) Holds(dt arrow.DataType) bool {
	plain, _ := extension.Unwrap(dt)
	return arrow.TypeEqual(d.Type, plain) || hasAnyLength(d.Type) && hasAnyLength(plain)
}

// hasAnyLength reports whether the values of a type are byte strings of any length.
func hasAnyLength(dt arrow.DataType) bool {
	return kinds.IsText(dt) || kinds.IsBinary(dt) && dt.ID() != arrow.FIXED_SIZE_BINARY
}

// DomainOf is the domain of a type.
func DomainOf(dt arrow.DataType) *Domain {
	plain, name := extension.Unwrap(dt)
	d := &Domain{Type: plain, Name: dt.String()}
	switch t := plain.(type) {
	case *arrow.BooleanType:
		d.family, d.whole = famBool, integers(0, 1)
	case *arrow.Int8Type:
		if d.setSigned(famInt, 8); name == extension.NameBool8 {
			d.family, d.whole = famBool8, integers(0, 1)
		}
	case *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		d.setSigned(famInt, plain.(arrow.FixedWidthDataType).BitWidth())
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		d.family, d.width = famUint, plain.(arrow.FixedWidthDataType).BitWidth()
		d.whole = span{point{n: new(big.Int)}, point{n: new(big.Int).Lsh(big.NewInt(1), uint(d.width))}}
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		d.family, d.width = famFloat, plain.(arrow.FixedWidthDataType).BitWidth()
		top := d.key(math.Inf(1))
		d.whole = integers(-top, top)
	case arrow.DecimalType:
		d.setSigned(famDecimal, t.BitWidth())
		if d.scale = t.GetScale(); d.width <= 64 {
			d.family = famDecimal32
		}
	case *arrow.FixedSizeBinaryType:
		if d.setBytes(famBinary); name == extension.NameUUID && t.ByteWidth == 16 {
			d.family = famUUID
		}
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		d.setBytes(famString)
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		d.setBytes(famBinary)
	default:
		d.setTemporal(plain)
	}
	return d
}

// Numbers is the domain of all decimal numbers, as the byte strings of [text.AppendOrdered].
var Numbers = &Domain{Type: arrow.BinaryTypes.LargeBinary, Name: "number", family: famNumber, whole: span{point{}, point{end: true}}}

// setTemporal sets the domain of dates and times. Types of other kinds stay without an order.
func (d *Domain) setTemporal(plain arrow.DataType) {
	switch t := plain.(type) {
	case *arrow.Date32Type:
		d.setSigned(famInstant, 32)
		d.unit = 86_400e9
	case *arrow.Date64Type:
		d.setSigned(famInstant, 64)
		d.unit = 1e6
	case arrow.TemporalWithUnit:
		f := map[arrow.Type]family{arrow.TIMESTAMP: famInstant, arrow.TIME32: famClock, arrow.TIME64: famClock, arrow.DURATION: famDuration}[t.ID()]
		d.setSigned(f, t.BitWidth())
		d.unit = int64(t.TimeUnit().Multiplier())
		if t, ok := plain.(*arrow.TimestampType); ok {
			d.zone = t.TimeZone
		}
	}
}

// integers is the span from lo to hi, both included.
func integers(lo, hi int64) span {
	end := big.NewInt(hi)
	return span{point{n: big.NewInt(lo)}, point{n: end.Add(end, one)}}
}

// setSigned sets the domain of signed integers of a number of bits.
func (d *Domain) setSigned(f family, width int) {
	d.family, d.width = f, width
	end := new(big.Int).Lsh(one, uint(width-1))
	d.whole = span{point{n: new(big.Int).Neg(end)}, point{n: end}}
}

func (d *Domain) setBytes(f family) { d.family, d.whole = f, span{point{}, point{end: true}} }

var one = big.NewInt(1)
