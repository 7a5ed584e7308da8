package read

import (
	"bytes"
	"context"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/thrift/lib/go/thrift"
)

// blankFooter is a footer of Thrift's compact protocol with a schema that has no column: no function of arrow-go makes an empty one.
var blankFooter = []byte{
	0x15, 2, // 1 version: 1
	0x19, 0x1c, 0x48, 1, 'r', 0x15, 0, 0, // 2 schema: a list of one element, with a name and no children
	0x16, 0, // 3 rows
	0x19, 0x0c, 0, // 4 row groups
}

// rewriteFooter makes a footer that arrow-go understands out of one with logical types and orders that it does not know: by the rules of
// Parquet a reader reads such columns as their physical type. With int96, INT96 becomes a fixed-length byte array of 12 bytes, which is
// encoded alike. unknown reports whether there were such types.
func rewriteFooter(footer []byte, int96 bool) (out []byte, unknown bool, err error) {
	meta, err := metadata.NewFileMetaData(blankFooter, nil)
	if err != nil {
		return nil, false, err
	}
	m := meta.FileMetaData
	from, to := thrift.NewTMemoryBuffer(), thrift.NewTMemoryBuffer()
	from.Buffer = bytes.NewBuffer(footer)
	conf := &thrift.TConfiguration{MaxMessageSize: int32(min(len(footer)+1, 1<<30))}
	if err := m.Read(context.Background(), thrift.NewTCompactProtocolConf(from, conf)); err != nil {
		return nil, false, err
	}
	for _, e := range m.Schema {
		if e.LogicalType != nil && e.LogicalType.CountSetFieldsLogicalType() == 0 {
			e.LogicalType, unknown = nil, true
		}
		if int96 && e.Type != nil && pq.Type(*e.Type) == pq.Types.Int96 {
			length := int32(int96Size)
			*e.Type, e.TypeLength = asBytes, &length
		}
	}
	for _, g := range m.RowGroups {
		for _, c := range g.Columns {
			if int96 && c.MetaData != nil && pq.Type(c.MetaData.Type) == pq.Types.Int96 {
				c.MetaData.Type = asBytes
			}
		}
	}
	for _, o := range m.ColumnOrders {
		if o.CountSetFieldsColumnOrder() == 0 {
			m.ColumnOrders, unknown = nil, true
			break
		}
	}
	err = m.Write(context.Background(), thrift.NewTCompactProtocolConf(to, nil))
	return to.Bytes(), unknown, err
}

// asBytes is the type FIXED_LEN_BYTE_ARRAY in the footer.
const asBytes = 7
