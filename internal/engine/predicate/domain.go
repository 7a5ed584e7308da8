package predicate

import (
	"encoding/hex"
	"fmt"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/float16"
)

// family says what values a column has, and so what it can be compared with.
type family uint8

const (
	famNone family = iota // only null or not
	famBool
	famBool8 // booleans in bytes, 0 is false
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
)

// domain is the values of a column, in their order. Numbers are integers in it:
// decimals by their coefficients, times in the column's unit, floats by
// [floatKey]. A literal is one or between two of them.
type domain struct {
	family family
	dt     arrow.DataType // without dictionaries, runs and extensions
	name   string         // of the type, for messages
	whole  span
	width  int   // bits of integers and floats
	scale  int32 // of decimals
	unit   int64 // of times, in nanoseconds
	zone   string
}

// isText tells whether values are byte strings.
func (d *domain) isText() bool { return d.family == famString || d.family == famBinary }

func (d *domain) isBytes() bool { return d.isText() || d.family == famUUID }

// extensions with a meaning of their own; others count as their storage.
const (
	extUUID  = "arrow.uuid"
	extBool8 = "arrow.bool8"
)

// unwrap takes dictionaries, runs and extensions off a type, and gives the name
// of the extension.
func unwrap(dt arrow.DataType) (plain arrow.DataType, extension string) {
	for {
		switch t := dt.(type) {
		case *arrow.DictionaryType:
			dt = t.ValueType
		case *arrow.RunEndEncodedType:
			dt = t.Encoded()
		case arrow.ExtensionType:
			dt, extension = t.StorageType(), t.ExtensionName()
		default:
			return dt, extension
		}
	}
}

func domainOf(dt arrow.DataType) *domain {
	plain, extension := unwrap(dt)
	d := &domain{dt: plain, name: dt.String()}
	switch t := plain.(type) {
	case *arrow.BooleanType:
		d.family, d.whole = famBool, integers(0, 1)
	case *arrow.Int8Type:
		if d.signed(famInt, 8); extension == extBool8 {
			d.family, d.whole = famBool8, integers(0, 1)
		}
	case *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		d.signed(famInt, plain.(arrow.FixedWidthDataType).BitWidth())
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		d.family, d.width = famUint, plain.(arrow.FixedWidthDataType).BitWidth()
		d.whole = span{point{n: new(big.Int)}, point{n: new(big.Int).Lsh(big.NewInt(1), uint(d.width))}}
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		d.family, d.width = famFloat, plain.(arrow.FixedWidthDataType).BitWidth()
		top := d.key(math.Inf(1))
		d.whole = integers(-top, top)
	case arrow.DecimalType:
		d.signed(famDecimal, t.BitWidth())
		if d.scale = t.GetScale(); d.width <= 64 {
			d.family = famDecimal32
		}
	case *arrow.FixedSizeBinaryType:
		if d.bytes(famBinary); extension == extUUID && t.ByteWidth == 16 {
			d.family = famUUID
		}
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		d.bytes(famString)
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		d.bytes(famBinary)
	default:
		d.temporal(plain)
	}
	return d
}

func (d *domain) temporal(plain arrow.DataType) {
	switch t := plain.(type) {
	case *arrow.Date32Type:
		d.signed(famInstant, 32)
		d.unit = 86_400e9
	case *arrow.Date64Type:
		d.signed(famInstant, 64)
		d.unit = 1e6
	case *arrow.TimestampType:
		d.signed(famInstant, 64)
		d.unit, d.zone = int64(t.Unit.Multiplier()), t.TimeZone
	case *arrow.Time32Type:
		d.signed(famClock, 32)
		d.unit = int64(t.Unit.Multiplier())
	case *arrow.Time64Type:
		d.signed(famClock, 64)
		d.unit = int64(t.Unit.Multiplier())
	case *arrow.DurationType:
		d.signed(famDuration, 64)
		d.unit = int64(t.Unit.Multiplier())
	}
}

// integers are those from lo to hi.
func integers(lo, hi int64) span {
	end := big.NewInt(hi)
	return span{point{n: big.NewInt(lo)}, point{n: end.Add(end, one)}}
}

func (d *domain) signed(f family, width int) {
	d.family, d.width = f, width
	end := new(big.Int).Lsh(one, uint(width-1))
	d.whole = span{point{n: new(big.Int).Neg(end)}, point{n: end}}
}

func (d *domain) bytes(f family) { d.family, d.whole = f, span{point{}, point{end: true}} }

var one = big.NewInt(1)

// place is where a literal lies in a domain: of the values that it is between,
// at is the first that is not below it, and after the first that is above. They
// differ if the literal is a value itself.
type place struct {
	at, after point
	nan       bool // nothing compares with it
}

// place converts a literal other than null.
func (d *domain) place(l ast.Literal) (place, error) {
	switch {
	case l.Kind == ast.LitBad:
		return place{}, fmt.Errorf("%s", l.Text)
	case d.isBytes():
		return d.placeBytes(l)
	case d.family == famBool || d.family == famBool8:
		return d.placeBool(l)
	case d.family == famFloat:
		return d.placeFloat(l)
	case d.family == famInstant || d.family == famClock || d.family == famDuration:
		return d.placeTime(l)
	case d.family == famNone:
		return place{}, fmt.Errorf("columns of type %s are only asked whether they are null", d.name)
	}
	r, err := d.numberOf(l)
	if err != nil {
		return place{}, err
	}
	if d.scale != 0 {
		power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(d.scale, -d.scale))), nil))
		if d.scale < 0 {
			power.Inv(power)
		}
		r.Mul(r, power)
	}
	return d.placeRat(r), nil
}

// mismatch says that a literal does not suit the column.
func (d *domain) mismatch(l ast.Literal, want string) error {
	return fmt.Errorf("%s is no value of type %s: write %s", l.Describe(), d.name, want)
}

// numberOf is a number, which may be in a string.
func (d *domain) numberOf(l ast.Literal) (*big.Rat, error) {
	if l.Kind == ast.LitString {
		n, err := ast.ParseNumber(strings.TrimSpace(l.Text))
		if err != nil {
			return nil, d.mismatch(l, "a number")
		}
		l = n
	}
	if l.Kind != ast.LitNumber {
		return nil, d.mismatch(l, "a number")
	}
	return l.Rat(), nil
}

// placeRat is the place of a number among integers.
func (d *domain) placeRat(r *big.Rat) place {
	floor, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	after := new(big.Int).Add(floor, one)
	if rest.Sign() != 0 {
		floor = after
	}
	return place{at: d.clamp(floor), after: d.clamp(after)}
}

// clamp keeps a point within the domain and its end.
func (d *domain) clamp(n *big.Int) point {
	switch {
	case n.Cmp(d.whole.lo.n) < 0:
		return d.whole.lo
	case n.Cmp(d.whole.hi.n) > 0:
		return d.whole.hi
	}
	return point{n: n}
}

func (d *domain) placeBool(l ast.Literal) (place, error) {
	switch strings.ToLower(l.Text) {
	case "false":
		return place{at: point{n: new(big.Int)}, after: point{n: one}}, nil
	case "true":
		return place{at: point{n: one}, after: d.whole.hi}, nil
	}
	return place{}, d.mismatch(l, "true or false")
}

func (d *domain) placeBytes(l ast.Literal) (place, error) {
	switch {
	case d.family == famUUID && l.Kind == ast.LitString:
		b, err := hex.DecodeString(strings.ReplaceAll(strings.Trim(l.Text, "{}"), "-", ""))
		if err != nil || len(b) != 16 {
			return place{}, d.mismatch(l, "'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'")
		}
		l.Text = string(b)
	case l.Kind != ast.LitString && l.Kind != ast.LitBytes:
		return place{}, d.mismatch(l, "it in quotes: 'text' or x'00ff'")
	}
	return place{at: point{s: l.Text}, after: point{s: l.Text + "\x00"}}, nil
}

// floatKey is an integer for a float that is no NaN, in the order of floats;
// both zeros are 0. The next float has the next integer.
func floatKey(bits uint64, width int) int64 {
	sign := uint64(1) << (width - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}

func (d *domain) key(v float64) int64 {
	switch d.width {
	case 16:
		return floatKey(uint64(float16.New(float32(v)).Uint16()), 16)
	case 32:
		return floatKey(uint64(math.Float32bits(float32(v))), 32)
	}
	return floatKey(math.Float64bits(v), 64)
}

// float is the float of a key.
func (d *domain) float(key int64) float64 {
	bits := uint64(max(key, -key))
	if key < 0 {
		bits |= 1 << (d.width - 1)
	}
	switch d.width {
	case 16:
		return float64(float16.FromBits(uint16(bits)).Float32())
	case 32:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// placeFloat puts a whole number where it is, and any other on the nearest
// float, as decimal fractions are hardly ever floats.
func (d *domain) placeFloat(l ast.Literal) (place, error) {
	if l.Kind == ast.LitString {
		switch strings.ToLower(strings.TrimSpace(l.Text)) {
		case "nan":
			return place{nan: true}, nil
		case "inf", "+inf", "infinity", "+infinity":
			return d.placeKey(d.key(math.Inf(1)), true), nil
		case "-inf", "-infinity":
			return d.placeKey(d.key(math.Inf(-1)), true), nil
		}
	}
	r, err := d.numberOf(l)
	if err != nil {
		return place{}, err
	}
	key := d.first(r)
	if d.finite(key).Cmp(r) == 0 && !d.infinite(key) {
		return d.placeKey(key, true), nil
	}
	if near := d.nearest(key, r); !l.Whole() && !d.infinite(near) {
		return d.placeKey(near, true), nil
	}
	return d.placeKey(key, false), nil
}

// infinite tells whether a key is that of an infinity.
func (d *domain) infinite(key int64) bool { return math.IsInf(d.float(key), 0) }

func (d *domain) placeKey(key int64, equal bool) place {
	p := place{at: d.clamp(big.NewInt(key)), after: d.clamp(big.NewInt(key))}
	if equal {
		p.after = d.clamp(big.NewInt(key + 1))
	}
	return p
}

// finite is the float of a key as a number. For infinities it is what would
// follow the greatest float, as IEEE 754 rounds by it.
func (d *domain) finite(key int64) *big.Rat {
	v := d.float(key)
	if !math.IsInf(v, 0) {
		return new(big.Rat).SetFloat64(v)
	}
	exponent := map[int]uint{16: 16, 32: 128, 64: 1024}[d.width]
	power := new(big.Int).Lsh(one, exponent)
	if v < 0 {
		power.Neg(power)
	}
	return new(big.Rat).SetInt(power)
}

// first is the key of the first float that is not below a number.
func (d *domain) first(r *big.Rat) int64 {
	top := d.key(math.Inf(1))
	guess, _ := r.Float64() // not the nearest of a narrower type, but near
	key := d.key(guess)
	below := func(key int64) bool { return key < top && (key == -top || d.finite(key).Cmp(r) < 0) }
	for below(key) {
		key++
	}
	for key > -top && !below(key-1) {
		key--
	}
	return key
}

// nearest is the key of the float nearest to a number between the floats of
// key-1 and key; if both are as near, of the one with an even key, as IEEE 754
// rounds.
func (d *domain) nearest(key int64, r *big.Rat) int64 {
	below := new(big.Rat).Sub(r, d.finite(key-1))
	above := d.finite(key)
	switch c := below.Cmp(above.Sub(above, r)); {
	case c < 0, c == 0 && key&1 != 0:
		return key - 1
	}
	return key
}
