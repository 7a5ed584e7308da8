package values

import (
	"fmt"
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/amudai/amudai-go/internal/text"
)

// integerOf is the setter of integers of a number of bits.
func integerOf[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](t arrow.DataType, bits int, mode text.Mode, add func(T)) Setter {
	least, most := uint64(0), uint64(math.MaxUint64)>>(64-bits)
	if arrow.IsSignedInteger(t.ID()) {
		least, most = uint64(1)<<(bits-1), most>>1
	}
	return func(token []byte) error {
		neg, mag, err := text.ParseInt(token, mode)
		if err == text.ErrSyntax {
			ok := false
			if neg, mag, ok = text.ParseIntegral(token); ok {
				err = nil
			}
		}
		if err == nil && (neg && mag > least || !neg && mag > most) {
			err = text.ErrRange
		}
		if err != nil {
			return numberError(token, t, err)
		}
		if neg {
			mag = -mag
		}
		add(T(mag))
		return nil
	}
}

func numberError(token []byte, t arrow.DataType, err error) error {
	switch err {
	case text.ErrSyntax:
		return unfit(token, t)
	case text.ErrRange:
		return fmt.Errorf("%q is out of the range of %s", text.Clip(string(token)), text.Type(t))
	}
	return fmt.Errorf("%q %w", text.Clip(string(token)), err)
}

func integerSetter(b array.Builder, mode text.Mode) Setter {
	switch b := b.(type) {
	case *array.Int8Builder:
		return integerOf(b.Type(), 8, mode, b.Append)
	case *array.Int16Builder:
		return integerOf(b.Type(), 16, mode, b.Append)
	case *array.Int32Builder:
		return integerOf(b.Type(), 32, mode, b.Append)
	case *array.Int64Builder:
		return integerOf(b.Type(), 64, mode, b.Append)
	case *array.Uint8Builder:
		return integerOf(b.Type(), 8, mode, b.Append)
	case *array.Uint16Builder:
		return integerOf(b.Type(), 16, mode, b.Append)
	case *array.Uint32Builder:
		return integerOf(b.Type(), 32, mode, b.Append)
	case *array.Uint64Builder:
		return integerOf(b.Type(), 64, mode, b.Append)
	}
	return nil
}

func floatSetter(t arrow.DataType, bits int, mode text.Mode, add func(float64) error) Setter {
	return func(token []byte) error {
		v, err := text.ParseFloat(token, bits, mode)
		if err == nil {
			err = add(v)
		}
		if err != nil {
			return numberError(token, t, err)
		}
		return nil
	}
}

func decimalSetter(b array.Builder) Setter {
	dt, ok := b.Type().(arrow.DecimalType)
	if !ok {
		return nil
	}
	precision, scale := dt.GetPrecision(), dt.GetScale()
	var add func(*big.Int)
	switch b := b.(type) {
	case *array.Decimal32Builder:
		add = func(v *big.Int) { b.Append(decimal.Decimal32(v.Int64())) }
	case *array.Decimal64Builder:
		add = func(v *big.Int) { b.Append(decimal.Decimal64(v.Int64())) }
	case *array.Decimal128Builder:
		add = func(v *big.Int) { b.Append(decimal128.FromBigInt(v)) }
	case *array.Decimal256Builder:
		add = func(v *big.Int) { b.Append(decimal256.FromBigInt(v)) }
	default:
		return nil
	}
	return func(token []byte) error {
		v, err := text.ParseDecimal(token, precision, scale)
		if err != nil {
			return numberError(token, dt, err)
		}
		add(v)
		return nil
	}
}
