package layout

// Type is the type byte of a column. Range types are those of the range index; elsewhere they mean their base type.
type Type uint8

// The types of section 7.
const (
	String Type = iota
	Int64
	Uint64
	Float64
	Bool
	Bytes
	RangeInt64
	RangeUint64
	RangeDuration
	RangeFloat64
	RangeBytes
	RangeString
)

// Base is the type of the values: one of String to Bytes.
func (t Type) Base() Type {
	switch t {
	case RangeInt64, RangeDuration:
		return Int64
	case RangeUint64:
		return Uint64
	case RangeFloat64:
		return Float64
	case RangeBytes:
		return Bytes
	case RangeString:
		return String
	}
	return t
}

// Value is a value of a base type: a key, or a bound.
type Value struct {
	Type Type
	Bits uint64 // Int64, Uint64, Float64 (IEEE bits), Bool (0, 1)
	Data []byte // String, Bytes
}
