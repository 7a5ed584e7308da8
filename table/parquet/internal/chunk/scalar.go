package chunk

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Scalar describes how the values of a leaf are stored, and their Arrow type.
type Scalar struct {
	Storage  arrow.DataType // in which pqarrow reads them, without an extension
	physical pq.Type
	width    int            // bytes of a stored value; 0 for byte strings and booleans
	bytes    int            // of a value of the Arrow type
	arrow    arrow.DataType // in which pqarrow reads them
	of       *Scalar        // codes of these values are read; nil for the values
}

// ScalarOf tells how the values of a leaf are decoded that pqarrow reads as type t. ok is false for types that only pqarrow reads.
func ScalarOf(leaf *schema.Column, t arrow.DataType) (s Scalar, ok bool) {
	s = Scalar{physical: leaf.PhysicalType(), arrow: t, Storage: t}
	if e, isExtension := s.arrow.(arrow.ExtensionType); isExtension {
		s.Storage = e.StorageType()
	}
	if fixed, ok := s.Storage.(arrow.FixedWidthDataType); ok {
		s.bytes = fixed.Bytes()
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

// extended adds the extension type, if the column has one.
func (s *Scalar) extended(a arrow.Array) arrow.Array {
	e, ok := s.arrow.(arrow.ExtensionType)
	if !ok {
		return a
	}
	defer a.Release()
	return array.NewExtensionArrayWithStorage(e, a)
}

// converts reports whether values of the Arrow type are not those that are stored.
func (s *Scalar) converts() bool {
	return s.bytes != s.width || s.Storage.ID() == arrow.DECIMAL128 || s.Storage.ID() == arrow.DECIMAL256
}

// toArrow converts stored values to those of the Arrow type, which fill dst.
func (s *Scalar) toArrow(dst, src []byte) {
	switch s.Storage.ID() {
	case arrow.INT8, arrow.UINT8:
		for i := range dst {
			dst[i] = src[4*i]
		}
	case arrow.INT16, arrow.UINT16:
		for i, to := 0, arrowutil.As[uint16](dst); i < len(to); i++ {
			to[i] = binary.LittleEndian.Uint16(src[4*i:])
		}
	case arrow.DECIMAL128:
		for i, to := 0, arrowutil.As[decimal128.Num](dst); i < len(to); i++ {
			switch v := src[i*s.width : (i+1)*s.width]; s.physical {
			case pq.Types.Int32:
				to[i] = decimal128.FromI64(int64(int32(binary.LittleEndian.Uint32(v))))
			case pq.Types.Int64:
				to[i] = decimal128.FromI64(int64(binary.LittleEndian.Uint64(v)))
			default:
				to[i] = decimal128Of(v)
			}
		}
	case arrow.DECIMAL256:
		for i, to := 0, arrowutil.As[decimal256.Num](dst); i < len(to); i++ {
			to[i] = decimal256Of(src[i*s.width : (i+1)*s.width])
		}
	default:
		copy(dst, src)
	}
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
	d, err := s.dictionary(append(data, make([]byte, padding)...)[:len(data)], len(plain))
	if err != nil {
		return nil
	}
	return d.entries(memory.DefaultAllocator, s, 0)
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
