package suite

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// checksum is a hash of every column of a result. It depends on the values and their order, but
// not on batches.
type checksum struct {
	columns []uint64
}

const (
	mixer    = 0x9E3779B97F4A7C15
	hashNull = 0xD1B54A32D192ED03
)

func mix(h, v uint64) uint64 {
	h = (h ^ v) * mixer
	return h ^ h>>29
}

func (c *checksum) add(b arrow.RecordBatch) {
	for i, col := range b.Columns() {
		if i == len(c.columns) {
			c.columns = append(c.columns, xxh3.HashString(b.ColumnName(i)))
		}
		c.columns[i] = hashColumn(c.columns[i], col)
	}
}

// equal reports whether two results are the same.
func (c *checksum) equal(o *checksum) bool {
	if len(c.columns) != len(o.columns) {
		return false
	}
	for i, h := range c.columns {
		if h != o.columns[i] {
			return false
		}
	}
	return true
}

func hashColumn(h uint64, col arrow.Array) uint64 {
	value := slotHash(col)
	for i := range col.Len() {
		h = mix(h, value(i))
	}
	return h
}

// slotHash hashes one slot of an array, which may be null.
func slotHash(col arrow.Array) func(i int) uint64 {
	value := valueHash(col)
	if col.NullN() == 0 {
		return value
	}
	return func(i int) uint64 {
		if col.IsNull(i) {
			return hashNull
		}
		return value(i)
	}
}

// recordHash hashes one row of several arrays.
func recordHash(parts []arrow.Array) func(i int) uint64 {
	fields := make([]func(int) uint64, len(parts))
	for f := range fields {
		fields[f] = slotHash(parts[f])
	}
	return func(i int) uint64 {
		h := uint64(1)
		for _, field := range fields {
			h = mix(h, field(i))
		}
		return h
	}
}

// valueHash hashes one value of an array.
func valueHash(col arrow.Array) func(i int) uint64 {
	switch v := kinds.Open(col); v.Shape {
	case kinds.Record:
		return recordHash(v.Parts)
	case kinds.List:
		element := slotHash(v.Parts[0])
		if len(v.Parts) > 1 { // entries of a map
			element = recordHash(v.Parts)
		}
		return func(i int) uint64 {
			h := uint64(1)
			for start, end := v.Range(i); start < end; start++ {
				h = mix(h, element(int(start)))
			}
			return h
		}
	}
	switch a := col.(type) {
	case *array.String:
		return func(i int) uint64 { return xxh3.HashString(a.Value(i)) }
	case *array.LargeString:
		return func(i int) uint64 { return xxh3.HashString(a.Value(i)) }
	case *array.StringView:
		return func(i int) uint64 { return xxh3.HashString(a.Value(i)) }
	case *array.Boolean:
		return func(i int) uint64 {
			if a.Value(i) {
				return 1
			}
			return 2
		}
	}
	if t, ok := col.DataType().(arrow.FixedWidthDataType); ok && t.BitWidth()%8 == 0 && col.DataType().ID() != arrow.DICTIONARY {
		return fixedHash(col, t.BitWidth()/8)
	}
	return func(i int) uint64 { return xxh3.HashString(col.ValueStr(i)) }
}

func fixedHash(col arrow.Array, width int) func(i int) uint64 {
	data := col.Data().Buffers()[1].Bytes()[col.Data().Offset()*width:]
	switch width {
	case 8:
		return func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }
	case 4:
		return func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(data[4*i:])) }
	}
	return func(i int) uint64 { return xxh3.Hash(data[i*width:][:width]) }
}
