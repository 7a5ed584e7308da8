package column

// Kind is how values lie in memory: the type of a C++ field, or the offsets of a collection.
type Kind uint8

// The kinds of values. Booleans are bits, the least significant one first; others are little-endian numbers.
const (
	KindBool Kind = iota + 1
	KindByte      // std::byte
	KindChar      // signed, as on the machines that write these files
	KindInt8
	KindUint8
	KindInt16
	KindUint16
	KindInt32
	KindUint32
	KindInt64
	KindUint64
	KindFloat16 // as stored; no C++ type of a field
	KindFloat32
	KindFloat64
	KindOffset32 // int32, of index columns only
	KindOffset64 // int64, of index columns only
	kindCount
)

var kinds = [kindCount]struct {
	name         string
	width        int  // bytes of a value; 0 for bits
	plain, split Type // of the usual columns; those with split have bytes of equal place together
}{
	KindBool:     {"bool", 0, Bit, 0},
	KindByte:     {"std::byte", 1, Byte, 0},
	KindChar:     {"char", 1, Char, 0},
	KindInt8:     {"std::int8_t", 1, Int8, 0},
	KindUint8:    {"std::uint8_t", 1, UInt8, 0},
	KindInt16:    {"std::int16_t", 2, Int16, SplitInt16},
	KindUint16:   {"std::uint16_t", 2, UInt16, SplitUInt16},
	KindInt32:    {"std::int32_t", 4, Int32, SplitInt32},
	KindUint32:   {"std::uint32_t", 4, UInt32, SplitUInt32},
	KindInt64:    {"std::int64_t", 8, Int64, SplitInt64},
	KindUint64:   {"std::uint64_t", 8, UInt64, SplitUInt64},
	KindFloat16:  {"half", 2, Real16, SplitReal16},
	KindFloat32:  {"float", 4, Real32, SplitReal32},
	KindFloat64:  {"double", 8, Real64, SplitReal64},
	KindOffset32: {"32-bit offset", 4, Index32, SplitIndex32},
	KindOffset64: {"64-bit offset", 8, Index64, SplitIndex64},
}

// String is the C++ name of the kind.
func (k Kind) String() string {
	if k == 0 || k >= kindCount {
		return "no kind"
	}
	return kinds[k].name
}

// TypeOf is the usual type of columns of a kind. With split, it is one that has bytes of equal place together, if there is one.
func TypeOf(k Kind, split bool) Type {
	if t := kinds[k].split; split && t != 0 {
		return t
	}
	return kinds[k].plain
}

// KindOf gives the kind of values of a C++ type, or 0 if it is no fundamental one by its normalized name.
func KindOf(typeName string) Kind {
	for k := KindBool; k <= KindFloat64; k++ {
		if kinds[k].name == typeName && k != KindFloat16 {
			return k
		}
	}
	return 0
}

// Size is the length in bytes of a buffer of n values.
func (k Kind) Size(n int) int {
	if k == KindBool {
		return n/8 + (n%8+7)/8
	}
	return n * kinds[k].width
}

func (k Kind) integer() bool { return k >= KindChar && k <= KindUint64 }

// Readable tells whether a column of type t can be read as k: the conversions that the specification allows.
func Readable(t Type, k Kind) bool {
	native := t.Native()
	switch {
	case native == 0 || k == 0 || k >= kindCount:
		return false
	case t.Index():
		return k == KindOffset32 || k == KindOffset64 || k == native
	case t.Real():
		return k == KindFloat32 || k == KindFloat64 || k == native && k == KindFloat16
	case t == Byte:
		return k == KindByte
	}
	return k == KindBool || k.integer()
}

// Writable tells whether values of kind k can be stored in a column of type t without a conversion of integers.
func Writable(t Type, k Kind) bool {
	if t.Real() {
		return k == KindFloat64 || k == KindFloat32 && t != Real64 && t != SplitReal64 || k == t.Native()
	}
	if t.Index() {
		return k == KindOffset32 || k == KindOffset64 || k == t.Native()
	}
	return k == t.Native() && k != 0
}
