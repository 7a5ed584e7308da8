package rules

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// DecimalLoader returns the loader of a decimal node. The exponent of all numbers is that of the scale of their
// column, so that equal columns have equal bytes. The reference removes trailing zeros, and compares by value.
func DecimalLoader(col *arrowmap.Column) (Loader[decimal.Decimal], error) {
	exponent := -int(col.Scale)
	if exponent < decimal.MinExponent || exponent > decimal.MaxExponent {
		return nil, fmt.Errorf("decimal scale %d is out of range", col.Scale)
	}
	switch {
	case col.Rule == arrowmap.Same && Width(col.Plain) == decimal.Width:
		return func(dst []decimal.Decimal, arr arrow.Array, _ bitmap.Bits) error {
			copy(dst, arrowutil.Values[decimal.Decimal](arr))
			return nil
		}, nil
	case col.Rule != arrowmap.Decimal:
		return nil, NoConversion(col)
	}
	var wide []decimal.Int128
	return func(dst []decimal.Decimal, arr arrow.Array, valid bitmap.Bits) error {
		var src []decimal.Int128
		switch arr.DataType().ID() {
		case arrow.DECIMAL128:
			src = arrowutil.Values[decimal.Int128](arr)
		case arrow.DECIMAL64:
			wide = int128s(wide, arrowutil.Values[int64](arr))
			src = wide
		case arrow.DECIMAL32:
			wide = int128s(wide, arrowutil.Values[int32](arr))
			src = wide
		case arrow.DECIMAL256:
			var err error
			if wide, err = narrow256(wide, arrowutil.Values[[4]uint64](arr), valid); err != nil {
				return err
			}
			src = wide
		default:
			return NoConversion(col)
		}
		if i := beyondPrecision(col.Plain, src, valid); i < len(src) {
			return tooManyDigits(i, Precision(col.Plain), "its type declares no more")
		}
		return fromInt128(dst, src, valid, exponent)
	}, nil
}

// Precision is the number of digits that a decimal type declares, 0 for other types.
func Precision(dt arrow.DataType) int {
	t, ok := dt.(arrow.DecimalType)
	if !ok {
		return 0
	}
	return int(t.GetPrecision())
}

// beyondPrecision returns the first row whose number has more digits than its type declares, or len(src).
func beyondPrecision(dt arrow.DataType, src []decimal.Int128, valid bitmap.Bits) int {
	precision := Precision(dt)
	if precision > MaxPrecision128 {
		return len(src)
	}
	for i := 0; i < len(src); i++ {
		i += decimal.Within(src[i:], precision)
		if i < len(src) && valid.At(i) {
			return i
		}
	}
	return len(src)
}

// MaxPrecision128 is the number of digits that always fit 128 bits. Some numbers of 128 bits have one more.
const MaxPrecision128 = 38

func int128s[T int32 | int64](dst []decimal.Int128, src []T) []decimal.Int128 {
	dst = scratch.Slice(&dst, len(src))
	for i, v := range src {
		dst[i] = decimal.Int128{Lo: uint64(int64(v)), Hi: int64(v) >> 63}
	}
	return dst
}

// fromInt128 skips values under nulls, which may not be convertible.
func fromInt128(dst []decimal.Decimal, src []decimal.Int128, valid bitmap.Bits, exponent int) error {
	for i := 0; i < len(src); i++ {
		i += decimal.FromInt128(dst[i:], src[i:], exponent)
		if i < len(src) {
			if valid.At(i) {
				return tooManyDigits(i, decimal.MaxDigits, "make the column text or fixed-size binary to store it")
			}
			dst[i] = decimal.Decimal{}
		}
	}
	return nil
}

func tooManyDigits(row, digits int, hint string) error {
	return &stripe.ValueError{Row: int64(row), Err: fmt.Errorf("decimal of more than %d digits; %s", digits, hint)}
}

// narrow256 truncates 256-bit numbers to 128 bits, which hold more than 34 digits.
func narrow256(dst []decimal.Int128, src [][4]uint64, valid bitmap.Bits) ([]decimal.Int128, error) {
	dst = scratch.Slice(&dst, len(src))
	for i, v := range src {
		sign := uint64(int64(v[1]) >> 63)
		if (v[2] != sign || v[3] != sign) && valid.At(i) {
			return nil, tooManyDigits(i, decimal.MaxDigits, "make the column text or fixed-size binary to store it")
		}
		dst[i] = decimal.Int128{Lo: v[0], Hi: int64(v[1])}
	}
	return dst, nil
}

// DecimalStorer returns the storer of a decimal node for Arrow's decimals. A number that is not a multiple of the
// scale's unit, or too large, is an error.
func DecimalStorer(col *arrowmap.Column) (Storer[decimal.Decimal], error) {
	s := Storer[decimal.Decimal]{Width: Width(col.Plain)}
	scale := int(col.Scale)
	if col.Rule == arrowmap.Same && s.Width == decimal.Width {
		s.Convert = func(dst []byte, src []decimal.Decimal, _ bitmap.Bits) error {
			copy(dst, arrowutil.Bytes(src))
			return nil
		}
		return s, nil
	}
	if col.Rule != arrowmap.Decimal || -scale < decimal.MinExponent || -scale > decimal.MaxExponent {
		return s, NoConversion(col)
	}
	precision := Precision(col.Plain)
	misfit := func(row int, d decimal.Decimal) error {
		return &stripe.ValueError{Row: int64(row), Err: &stripe.MisfitError{Decimal: true,
			Err: fmt.Errorf("decimal %s does not fit %s; read decimals as text or raw", d, col.Plain)}}
	}
	switch col.Plain.ID() {
	case arrow.DECIMAL128:
		s.Convert = func(dst []byte, src []decimal.Decimal, valid bitmap.Bits) error {
			out := arrowutil.As[decimal.Int128](dst)
			for i := 0; i < len(src); i++ {
				if i += decimal.ToInt128(out[i:], src[i:], scale); i < len(src) {
					if valid.At(i) {
						return misfit(i, src[i])
					}
					out[i] = decimal.Int128{}
				}
			}
			if i := beyondPrecision(col.Plain, out[:len(src)], valid); i < len(src) {
				return misfit(i, src[i])
			}
			return nil
		}
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL256:
		s.Convert = func(dst []byte, src []decimal.Decimal, valid bitmap.Bits) error {
			for i, d := range src {
				slot := dst[i*s.Width : (i+1)*s.Width]
				if !valid.At(i) {
					clear(slot)
				} else if !d.Within(precision, scale) || !putInteger(slot, d, scale) {
					return misfit(i, d)
				}
			}
			return nil
		}
	default:
		return s, NoConversion(col)
	}
	return s, nil
}

// DecimalTexts makes an array of large strings of stored decimals, back to back.
func DecimalTexts(stored []byte, valid bitmap.Bits) (arrow.Array, error) {
	texts := array.NewLargeStringBuilder(memory.DefaultAllocator)
	defer texts.Release()
	for i := range valid.Len {
		if valid.At(i) {
			texts.Append(decimal.Decimal(stored[i*decimal.Width:]).String())
		} else {
			texts.AppendNull()
		}
	}
	return texts.NewArray(), nil
}

// putInteger writes d × 10^scale to dst in two's complement. It returns false if that is not an integer or does not
// fit.
func putInteger(dst []byte, d decimal.Decimal, scale int) bool {
	hi, lo, ok := d.Rescale(scale)
	if ok && len(dst) == 32 {
		sign := uint64(hi >> 63)
		copy(arrowutil.As[uint64](dst), []uint64{lo, uint64(hi), sign, sign})
		return true
	}
	if ok && hi == int64(lo)>>63 {
		if len(dst) == 8 {
			arrowutil.As[int64](dst)[0] = int64(lo)
			return true
		}
		if v := int64(lo); v >= math.MinInt32 && v <= math.MaxInt32 {
			arrowutil.As[int32](dst)[0] = int32(v)
			return true
		}
	}
	if ok || len(dst) != 32 {
		return false
	}
	return putBig(dst, d, scale)
}

// putBig is putInteger for numbers that need 256 bits.
func putBig(dst []byte, d decimal.Decimal, scale int) bool {
	v, ok := d.Big(scale)
	if !ok || v.BitLen() > 255 {
		return false
	}
	neg := v.Sign() < 0
	b := v.FillBytes(make([]byte, 32)) // of the magnitude, most significant first
	carry := uint16(1)
	for i := range dst {
		x := b[31-i]
		if neg {
			sum := uint16(^x) + carry
			x, carry = byte(sum), sum>>8
		}
		dst[i] = x
	}
	return true
}
