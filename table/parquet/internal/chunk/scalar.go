package chunk

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/table/parquet/internal/convert"
)

// Scalar describes how the values of a leaf are stored, and their Arrow type.
type Scalar struct {
	Storage  arrow.DataType // in which pqarrow reads them, without an extension
	physical pq.Type
	width    int            // bytes of a stored value; 0 for byte strings and booleans
	arrow    arrow.DataType // in which pqarrow reads them
	isCodes  bool           // codes are read, not the values that they stand for
}

// ScalarOf tells how the values of a leaf are decoded that pqarrow reads as type t. ok is false for types that only pqarrow reads.
func ScalarOf(leaf *schema.Column, t arrow.DataType) (s Scalar, ok bool) {
	s = Scalar{physical: leaf.PhysicalType(), arrow: t, Storage: t}
	if e, isExtension := s.arrow.(arrow.ExtensionType); isExtension {
		s.Storage = e.StorageType()
	}
	id := s.Storage.ID()
	switch s.physical {
	case pq.Types.Boolean:
		return s, id == arrow.BOOL
	case pq.Types.Int32:
		s.width = 4
		switch id {
		case arrow.INT8, arrow.UINT8, arrow.INT16, arrow.UINT16, arrow.INT32, arrow.UINT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL128:
			return s, true
		}
	case pq.Types.Int64:
		s.width = 8
		switch id {
		case arrow.INT64, arrow.UINT64, arrow.TIME64, arrow.TIMESTAMP, arrow.DECIMAL128:
			return s, true
		}
	case pq.Types.Float:
		s.width = 4
		return s, id == arrow.FLOAT32
	case pq.Types.Double:
		s.width = 8
		return s, id == arrow.FLOAT64
	case pq.Types.ByteArray:
		return s, id == arrow.STRING || id == arrow.BINARY
	case pq.Types.FixedLenByteArray:
		s.width = leaf.TypeLength()
		switch t := s.Storage.(type) {
		case *arrow.FixedSizeBinaryType:
			return s, s.width > 0 && t.ByteWidth == s.width
		case *arrow.Float16Type:
			return s, s.width == 2
		case *arrow.Decimal128Type:
			return s, s.width > 0 && s.width <= 16
		case *arrow.Decimal256Type:
			return s, s.width > 0 && s.width <= 32
		}
	}
	return s, false
}

// IsText reports whether the values are byte strings, of no extension type.
func (s *Scalar) IsText() bool { return s.isBytes() && s.arrow == s.Storage }

func (s *Scalar) isBool() bool  { return s.physical == pq.Types.Boolean }
func (s *Scalar) isBytes() bool { return s.physical == pq.Types.ByteArray }

// starts returns where each of n plain byte strings begins, behind its length. There may be any number of them if n is
// negative.
func startsOf(data []byte, n int) ([]uint32, error) {
	if int64(len(data)) > math.MaxUint32 || n > len(data)/4 {
		return nil, fault.Corruptf("%d byte strings in %d bytes", n, len(data))
	}
	starts := make([]uint32, 0, max(n, 0))
	for at := 0; len(starts) < n || n < 0 && at < len(data); {
		if len(data)-at < 4 {
			return nil, fault.Corruptf("%d byte strings in %d bytes", max(n, len(starts)+1), len(data))
		}
		size := int64(binary.LittleEndian.Uint32(data[at:]))
		at += 4
		if size > int64(len(data)-at) {
			return nil, fault.Corruptf("byte string %d of %d bytes in %d", len(starts), size, len(data)-at)
		}
		starts = append(starts, uint32(at))
		at += int(size)
	}
	return starts, nil
}

// textAt is the plain byte string that begins at a start.
func textAt(data []byte, start uint32) []byte {
	size := binary.LittleEndian.Uint32(data[start-4:])
	return data[start : start+size : start+size]
}

// array makes the array of fixed-width values, as stored. It takes valid and values over.
func (s *Scalar) array(mem memory.Allocator, n int, valid, values *memory.Buffer, nulls int) arrow.Array {
	return s.extended(arrowutil.Make(s.Storage, n, []*memory.Buffer{valid, s.toArrow(mem, n, values)}, nil, nulls))
}

// extended adds the extension type, if the column has one.
func (s *Scalar) extended(a arrow.Array) arrow.Array {
	e, ok := s.arrow.(arrow.ExtensionType)
	if !ok {
		return a
	}
	defer a.Release()
	return array.NewExtensionArrayWithStorage(e, a)
}

// toArrow converts stored values to those of the Arrow type. It takes values over.
func (s *Scalar) toArrow(mem memory.Allocator, n int, values *memory.Buffer) *memory.Buffer {
	switch s.Storage.ID() {
	case arrow.INT8, arrow.UINT8:
		return narrowed[int8](mem, values, n)
	case arrow.INT16, arrow.UINT16:
		return narrowed[int16](mem, values, n)
	case arrow.DECIMAL128, arrow.DECIMAL256:
		return s.decimals(mem, n, values)
	}
	return values
}

func narrowed[T int8 | int16](mem memory.Allocator, values *memory.Buffer, n int) *memory.Buffer {
	defer values.Release()
	out := arrowutil.NewBuffer(mem, n*len(arrowutil.Bytes([]T{0})))
	to := arrowutil.As[T](out.Bytes())
	for i, v := range arrowutil.As[int32](values.Bytes())[:n] {
		to[i] = T(v)
	}
	return out
}

// decimals converts integers, and bytes from the highest on.
func (s *Scalar) decimals(mem memory.Allocator, n int, values *memory.Buffer) *memory.Buffer {
	defer values.Release()
	b := values.Bytes()
	if s.Storage.ID() == arrow.DECIMAL256 {
		out := arrowutil.NewZeroBuffer(mem, 32*n)
		for i, d := 0, arrowutil.As[decimal256.Num](out.Bytes()); i < n; i++ {
			d[i] = decimal256Of(b[i*s.width : (i+1)*s.width])
		}
		return out
	}
	out := arrowutil.NewBuffer(mem, 16*n)
	d := arrowutil.As[decimal128.Num](out.Bytes())
	switch s.physical {
	case pq.Types.Int32:
		for i, v := range arrowutil.As[int32](b)[:n] {
			d[i] = decimal128.FromI64(int64(v))
		}
	case pq.Types.Int64:
		for i, v := range arrowutil.As[int64](b)[:n] {
			d[i] = decimal128.FromI64(v)
		}
	default:
		for i := range n {
			d[i] = decimal128Of(b[i*s.width : (i+1)*s.width])
		}
	}
	return out
}

// decimal128Of is a number of up to 16 bytes, the highest first.
func decimal128Of(b []byte) decimal128.Num {
	var full [16]byte
	if len(b) > 0 && b[0]&0x80 != 0 {
		for i := range full {
			full[i] = 0xff
		}
	}
	copy(full[16-len(b):], b)
	return decimal128.New(int64(binary.BigEndian.Uint64(full[:8])), binary.BigEndian.Uint64(full[8:]))
}

// decimal256Of is a number of up to 32 bytes, the highest first.
func decimal256Of(b []byte) decimal256.Num {
	var full [32]byte
	if len(b) > 0 && b[0]&0x80 != 0 {
		for i := range full {
			full[i] = 0xff
		}
	}
	copy(full[32-len(b):], b)
	return decimal256.New(binary.BigEndian.Uint64(full[:8]), binary.BigEndian.Uint64(full[8:16]),
		binary.BigEndian.Uint64(full[16:24]), binary.BigEndian.Uint64(full[24:]))
}

// PlainValues makes an array of values in plain encoding, without the lengths of byte strings.
func (s *Scalar) PlainValues(plain [][]byte) arrow.Array {
	var data []byte
	for _, v := range plain {
		switch {
		case s.isBool() && len(v) != 1, s.width > 0 && len(v) != s.width:
			return nil
		case s.isBytes():
			data = binary.LittleEndian.AppendUint32(data, uint32(len(v)))
		case s.Storage.ID() == arrow.INT8 || s.Storage.ID() == arrow.INT16 || s.Storage.ID() == arrow.UINT8 || s.Storage.ID() == arrow.UINT16:
			if !fits(s.Storage.ID(), int32(binary.LittleEndian.Uint32(v))) {
				return nil
			}
		}
		data = append(data, v...)
	}
	if s.isBool() {
		bits := arrowutil.NewZeroBuffer(memory.DefaultAllocator, (len(plain)+7)/8)
		for i, v := range data {
			bits.Bytes()[i/8] |= v & 1 << (i % 8)
		}
		return s.extended(arrowutil.Make(s.Storage, len(plain), []*memory.Buffer{nil, bits}, nil, 0))
	}
	d := dictionary{n: len(plain), data: data}
	if s.isBytes() {
		var err error
		if d.starts, err = startsOf(data, len(plain)); err != nil {
			return nil
		}
		text := *s
		text.Storage, text.arrow = arrow.BinaryTypes.Binary, arrow.BinaryTypes.Binary // a string may be cut within a character
		a, err := d.entries(memory.DefaultAllocator, &text, 0)
		if err != nil {
			return nil
		}
		defer a.Release()
		return s.extended(convert.Relabel(a, s.Storage))
	}
	a, err := d.entries(memory.DefaultAllocator, s, 0)
	if err != nil {
		return nil
	}
	return a
}

// fits reports whether a number has the width of its type: what statistics say of others is not the order of what is read.
func fits(id arrow.Type, v int32) bool {
	switch id {
	case arrow.INT8:
		return v == int32(int8(v))
	case arrow.INT16:
		return v == int32(int16(v))
	case arrow.UINT8:
		return v == int32(uint8(v))
	}
	return v == int32(uint16(v))
}
