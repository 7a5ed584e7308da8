package read

import (
	"bytes"
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/thrift/lib/go/thrift"
)

// blankFooter is a footer of Thrift's compact protocol with a schema that has no column: no function of arrow-go makes an empty one.
var blankFooter = []byte{
	0x15, 2, // 1 version: 1
	0x19, 0x1c, 0x48, 1, 'r', 0x15, 0, 0, // 2 schema: a list of one element, with a name and no children
	0x16, 0, // 3 rows
	0x19, 0x0c, 0, // 4 row groups
}

// parseFooter parses a footer, and makes columns of those that arrow-go lacks. Logical types that it does not know are left out: by the
// rules of Parquet a reader reads such columns as their physical type. INT96 becomes a fixed-length byte array of 12 bytes, which is encoded
// alike; such leaves get units.
func (f *File) parseFooter(footer []byte) (*metadata.FileMetaData, error) {
	blank, err := metadata.NewFileMetaData(blankFooter, nil)
	if err != nil {
		return nil, err
	}
	m := blank.FileMetaData
	from := thrift.NewTMemoryBuffer()
	from.Buffer = bytes.NewBuffer(footer)
	conf := &thrift.TConfiguration{MaxMessageSize: int32(min(len(footer)+1, 1<<30))}
	if err := m.Read(context.Background(), thrift.NewTCompactProtocolConf(from, conf)); err != nil {
		return nil, err
	}
	f.units, f.unordered = map[int]arrow.TimeUnit{}, map[int]bool{}
	leaf := 0
	for i, e := range m.Schema {
		if e.LogicalType != nil && e.LogicalType.CountSetFieldsLogicalType() == 0 {
			e.LogicalType, f.unordered[leaf] = nil, e.Type != nil
		}
		if e.Type == nil {
			continue
		}
		f.elements = append(f.elements, i)
		if pq.Type(*e.Type) == pq.Types.Int96 {
			length := int32(int96Size)
			*e.Type, e.TypeLength, e.LogicalType, e.ConvertedType = asBytes, &length, nil, nil
			f.units[leaf], f.unordered[leaf] = arrow.Nanosecond, true
		}
		leaf++
	}
	for _, g := range m.RowGroups {
		for leaf := range f.units {
			if leaf < len(g.Columns) && g.Columns[leaf].MetaData != nil {
				g.Columns[leaf].MetaData.Type = asBytes
			}
		}
	}
	root, err := schema.FromParquet(m.Schema)
	if err != nil {
		return nil, err
	}
	meta := &metadata.FileMetaData{FileMetaData: m, Schema: schema.NewSchema(root.(*schema.GroupNode))}
	orders := make([]pq.ColumnOrder, leaf)
	for i := range orders {
		orders[i] = pq.ColumnOrders.Undefined
		if i < len(m.ColumnOrders) && m.ColumnOrders[i].IsSetTYPE_ORDER() {
			orders[i] = pq.ColumnOrders.TypeDefinedOrder
		}
	}
	_ = meta.WriterVersion() // row groups have what it finds
	return meta, meta.Schema.UpdateColumnOrders(orders)
}

// asBytes is the type FIXED_LEN_BYTE_ARRAY in the footer.
const asBytes = 7
