package stripe

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
)

// Loaders and storers apply the rules of the type table (arrowmap.Rule) to the
// values of primitive nodes.

// loaderOf gives the loader for a column whose stored values are of type T.
func loaderOf[T numeric.Value](col *arrowmap.Column) (loader[T], error) {
	var l any
	switch col.Rule {
	case arrowmap.Same:
		if width := widthOf(col.Plain); width == sizeOfValue[T]() {
			l = loader[T](func(dst []T, arr arrow.Array, _ bitmap.Bits) error {
				copy(dst, arrowutil.Values[T](arr))
				return nil
			})
		}
	case arrowmap.Ticks:
		if widthOf(col.Plain) == 4 {
			l = loader[uint64](func(dst []uint64, arr arrow.Array, valid bitmap.Bits) error {
				return convert.ToTicks(dst, arrowutil.Values[int32](arr), valid, col.Unit)
			})
		} else {
			l = loader[uint64](func(dst []uint64, arr arrow.Array, valid bitmap.Bits) error {
				return convert.ToTicks(dst, arrowutil.Values[int64](arr), valid, col.Unit)
			})
		}
	case arrowmap.Span:
		l = loader[int64](func(dst []int64, arr arrow.Array, valid bitmap.Bits) error {
			return convert.ToSpan(dst, arrowutil.Values[int64](arr), valid, col.Unit)
		})
	case arrowmap.Half:
		l = loader[float32](func(dst []float32, arr arrow.Array, _ bitmap.Bits) error {
			convert.FromHalf(dst, arrowutil.Values[uint16](arr))
			return nil
		})
	}
	if l, ok := l.(loader[T]); ok {
		return l, nil
	}
	return nil, errRule(col)
}

// storerOf gives the storer for a column whose stored values are of type T.
func storerOf[T numeric.Value](col *arrowmap.Column) (storer[T], error) {
	var s any
	width := widthOf(col.Plain)
	switch col.Rule {
	case arrowmap.Same:
		if width == sizeOfValue[T]() {
			s = storer[T]{width: width}
		}
	case arrowmap.Ticks:
		if width == 4 {
			s = ticksStorer[int32](col.Unit)
		} else {
			s = ticksStorer[int64](col.Unit)
		}
	case arrowmap.Span:
		s = storer[int64]{width: 8, convert: func(dst []byte, src []int64, valid bitmap.Bits) error {
			return convert.FromSpan(arrowutil.As[int64](dst), src, valid, col.Unit)
		}, decode: decodeAs(convert.NewFromSpan(col.Unit))}
	case arrowmap.Half:
		s = storer[float32]{width: 2, convert: func(dst []byte, src []float32, valid bitmap.Bits) error {
			return convert.ToHalf(arrowutil.As[uint16](dst), src, valid)
		}}
	}
	if s, ok := s.(storer[T]); ok {
		return s, nil
	}
	return storer[T]{}, errRule(col)
}

func ticksStorer[D int32 | int64](unit convert.Unit) storer[uint64] {
	return storer[uint64]{width: sizeOfValue[D](), convert: func(dst []byte, src []uint64, valid bitmap.Bits) error {
		return convert.FromTicks(arrowutil.As[D](dst), src, valid, unit)
	}, decode: decodeAs(convert.NewFromTicks[D](unit))}
}

// decodeAs decodes blocks by way of a change.
func decodeAs[D int32 | int64, T numeric.Value](c numeric.Change[D, T]) blockDecoder {
	return func(dst []byte, validity []byte, at int, block []byte, o numeric.BlockOptions, s *numeric.Scratch) (int, error) {
		return numeric.DecodeBlockAs(arrowutil.As[D](dst), validity, at, block, c, o, s)
	}
}

func errRule(col *arrowmap.Column) error {
	return fmt.Errorf("no conversion by rule %v between %s and stored type %v", col.Rule, col.Plain, col.Stored.Type)
}

// widthOf is the bytes of a value of a fixed-width type, 0 for others.
func widthOf(dt arrow.DataType) int {
	if f, ok := dt.(arrow.FixedWidthDataType); ok {
		return f.Bytes()
	}
	return 0
}

func sizeOfValue[T numeric.Value]() int {
	var v [1]T
	return len(arrowutil.Bytes(v[:]))
}

// shiftRows adds to the row of an error that counts rows from a part of the array.
func shiftRows(err error, by int) error {
	return placeValue(err, func(row int64) int64 { return row + int64(by) })
}

// placeValue says in which row an error about a value is.
func placeValue(err error, place func(row int64) int64) error {
	var row *convert.RowError
	var value *ValueError
	switch {
	case errors.As(err, &value):
		return &ValueError{Row: place(value.Row), Err: value.Err}
	case errors.As(err, &row):
		return &ValueError{Row: place(int64(row.Row)), Err: row}
	}
	return err
}
