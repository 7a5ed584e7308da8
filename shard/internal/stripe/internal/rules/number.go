// Package rules converts the values of one column between Arrow arrays and the
// stored form, by the rule of the type table (arrowmap.Rule).
package rules

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// Loader fills dst with the stored values of an array without dictionaries and runs. Values at null positions are
// arbitrary.
type Loader[T any] func(dst []T, arr arrow.Array, valid bitmap.Bits) error

// Storer converts stored values to the bytes of an Arrow buffer.
type Storer[T any] struct {
	Width int // bytes of an Arrow value
	// Convert is nil if Arrow values are the stored ones, so that blocks can be decoded into the buffer directly.
	Convert func(dst []byte, src []T, valid bitmap.Bits) error
	// Decode decodes a block to Arrow values directly. After numeric.ErrChange, Convert must convert the values one
	// by one. Decode may be nil.
	Decode BlockDecoder
}

// Array makes an array of type dt of stored values, whose memory it may keep.
func (s *Storer[T]) Array(dt arrow.DataType, src []T, valid bitmap.Bits) (arrow.Array, error) {
	values := arrowutil.Bytes(src)
	if s.Convert != nil {
		n := len(src) * s.Width
		values = arrowutil.Bytes(make([]uint64, (n+7)/8))[:n]
		if err := s.Convert(values, src, valid); err != nil {
			return nil, err
		}
	}
	return arrowutil.Make(dt, len(src), []*memory.Buffer{Validity(valid), memory.NewBufferBytes(values)}, nil, valid.Nulls()), nil
}

// Dictionary returns the conversion of stored values, back to back, to an array of type dt.
func (s *Storer[T]) Dictionary(dt arrow.DataType) func(stored []byte, valid bitmap.Bits) (arrow.Array, error) {
	return func(stored []byte, valid bitmap.Bits) (arrow.Array, error) {
		src := make([]T, valid.Len)
		copy(arrowutil.Bytes(src), stored)
		return s.Array(dt, src, valid)
	}
}

// Validity is the buffer of validity bits from the first on, nil if all values are valid.
func Validity(valid bitmap.Bits) *memory.Buffer {
	if valid.Data == nil {
		return nil
	}
	return memory.NewBufferBytes(valid.Data)
}

// BlockDecoder decodes a block to the bytes of an Arrow buffer; see numeric.DecodeBlock.
type BlockDecoder func(dst []byte, validity []byte, at int, block []byte, o numeric.BlockOptions, s *numeric.Scratch) (nulls int, err error)

// LoaderOf returns the loader of a column whose stored values are of type T.
func LoaderOf[T numeric.Value](col *arrowmap.Column) (Loader[T], error) {
	var l any
	switch col.Rule {
	case arrowmap.Same:
		if width := Width(col.Plain); width == numeric.Of[T]().Size() {
			l = Loader[T](func(dst []T, arr arrow.Array, _ bitmap.Bits) error {
				copy(dst, arrowutil.Values[T](arr))
				return nil
			})
		}
	case arrowmap.Ticks:
		if Width(col.Plain) == 4 {
			l = Loader[uint64](func(dst []uint64, arr arrow.Array, valid bitmap.Bits) error {
				return convert.ToTicks(dst, arrowutil.Values[int32](arr), valid, col.Unit)
			})
		} else {
			l = Loader[uint64](func(dst []uint64, arr arrow.Array, valid bitmap.Bits) error {
				return convert.ToTicks(dst, arrowutil.Values[int64](arr), valid, col.Unit)
			})
		}
	case arrowmap.Span:
		l = Loader[int64](func(dst []int64, arr arrow.Array, valid bitmap.Bits) error {
			return convert.ToSpan(dst, arrowutil.Values[int64](arr), valid, col.Unit)
		})
	case arrowmap.Float16:
		l = Loader[float32](func(dst []float32, arr arrow.Array, _ bitmap.Bits) error {
			convert.FromFloat16(dst, arrowutil.Values[uint16](arr))
			return nil
		})
	}
	if l, ok := l.(Loader[T]); ok {
		return l, nil
	}
	return nil, NoConversion(col)
}

// StorerOf returns the storer of a column whose stored values are of type T.
func StorerOf[T numeric.Value](col *arrowmap.Column) (Storer[T], error) {
	var s any
	width := Width(col.Plain)
	switch col.Rule {
	case arrowmap.Same:
		if width == numeric.Of[T]().Size() {
			s = Storer[T]{Width: width}
		}
	case arrowmap.Ticks:
		if width == 4 {
			s = ticksStorer[int32](col.Unit)
		} else {
			s = ticksStorer[int64](col.Unit)
		}
	case arrowmap.Span:
		s = Storer[int64]{Width: 8, Convert: func(dst []byte, src []int64, valid bitmap.Bits) error {
			return misfitTicks(convert.FromSpan(arrowutil.As[int64](dst), src, valid, col.Unit))
		}, Decode: decodeAs(convert.NewFromSpan(col.Unit))}
	case arrowmap.Float16:
		s = Storer[float32]{Width: 2, Convert: func(dst []byte, src []float32, valid bitmap.Bits) error {
			return convert.ToFloat16(arrowutil.As[uint16](dst), src, valid)
		}}
	}
	if s, ok := s.(Storer[T]); ok {
		return s, nil
	}
	return Storer[T]{}, NoConversion(col)
}

func ticksStorer[D int32 | int64](unit convert.Unit) Storer[uint64] {
	return Storer[uint64]{Width: numeric.Of[D]().Size(), Convert: func(dst []byte, src []uint64, valid bitmap.Bits) error {
		return misfitTicks(convert.FromTicks(arrowutil.As[D](dst), src, valid, unit))
	}, Decode: decodeAs(convert.NewFromTicks[D](unit))}
}

// decodeAs decodes blocks with the conversion c.
func decodeAs[D int32 | int64, T numeric.Value](c numeric.Change[D, T]) BlockDecoder {
	return func(dst []byte, validity []byte, at int, block []byte, o numeric.BlockOptions, s *numeric.Scratch) (int, error) {
		return numeric.DecodeBlockAs(arrowutil.As[D](dst), validity, at, block, c, o, s)
	}
}

// NoConversion is the error for a rule that does not fit the types of its column.
func NoConversion(col *arrowmap.Column) error {
	return fault.Unsupportedf("no conversion by rule %v between %s and stored type %v", col.Rule, col.Plain, col.Stored.Type)
}

// Width is the number of bytes of a value of a fixed-width type, 0 for other types.
func Width(dt arrow.DataType) int {
	if f, ok := dt.(arrow.FixedWidthDataType); ok {
		return f.Bytes()
	}
	return 0
}

// misfitTicks makes an error about stored ticks a [stripe.MisfitError] with its row.
func misfitTicks(err error) error {
	if err == nil {
		return nil // without the allocation for errors.As
	}
	var row *convert.RowError
	if !errors.As(err, &row) {
		return err
	}
	return &stripe.ValueError{Row: int64(row.Row), Err: &stripe.MisfitError{Err: row}}
}

// ShiftRows adds by to the row of an error about a value.
func ShiftRows(err error, by int) error {
	return PlaceRow(err, func(row int64) int64 { return row + int64(by) })
}

// Misfit adds the kind fault.ErrUnsupported to an error about a stored value that its Arrow type cannot hold.
func Misfit(err error) error {
	var value *stripe.ValueError
	if !errors.As(err, &value) || errors.Is(err, fault.ErrUnsupported) {
		return err
	}
	return &stripe.ValueError{Row: value.Row, Err: fmt.Errorf("%w: %w", fault.ErrUnsupported, value.Err)}
}

// PlaceRow replaces the row of an error about a value by place(row).
func PlaceRow(err error, place func(row int64) int64) error {
	var row *convert.RowError
	var value *stripe.ValueError
	switch {
	case errors.As(err, &value):
		return &stripe.ValueError{Row: place(value.Row), Err: value.Err}
	case errors.As(err, &row):
		return &stripe.ValueError{Row: place(int64(row.Row)), Err: row}
	}
	return err
}

// PutCodes writes a validity bit for each code, clear for the null code, and counts the nulls.
func PutCodes(bits []byte, at int, codes []uint32, null uint32) (nulls int) {
	for i := 0; i < len(codes); i += 64 {
		part := codes[i:min(i+64, len(codes))]
		word := uint64(0)
		for k, code := range part {
			if code != null {
				word |= 1 << k
			} else {
				nulls++
			}
		}
		bitmap.PutWord(bits, at+i, word, len(part))
	}
	return nulls
}
