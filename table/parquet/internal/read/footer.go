package read

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/thrift/lib/go/thrift"
)

// Numbers of fields in the Thrift structures of Parquet.
const (
	fieldSchema      = 2  // of FileMetaData: a list of SchemaElement
	fieldRowGroups   = 4  // of FileMetaData: a list of RowGroup
	fieldColumns     = 1  // of RowGroup: a list of ColumnChunk
	fieldMetaData    = 3  // of ColumnChunk: ColumnMetaData
	fieldType        = 1  // of SchemaElement and ColumnMetaData
	fieldTypeLength  = 2  // of SchemaElement
	fieldLogicalType = 10 // of SchemaElement: a union
	lastLogicalType  = 18 // the last member of the union in arrow-go: GEOGRAPHY
	maxFooterDepth   = 64
)

// isUnknownLogicalType reports whether a file was refused for a logical type that arrow-go does not know. By the
// rules of Parquet a reader reads such a column as its physical type.
func isUnknownLogicalType(err error) bool {
	return err != nil && strings.Contains(err.Error(), "invalid logical type")
}

// copy copies a footer, without unknown logical types.
func (c footerCopier) copy(footer []byte) ([]byte, error) {
	conf := &thrift.TConfiguration{MaxMessageSize: int32(min(len(footer)+1, 1<<30))}
	from, to := thrift.NewTMemoryBuffer(), thrift.NewTMemoryBuffer()
	from.Buffer = bytes.NewBuffer(footer)
	c.ctx, c.in, c.out = context.Background(), thrift.NewTCompactProtocolConf(from, conf), thrift.NewTCompactProtocolConf(to, nil)
	err := c.structure(nil)
	return to.Bytes(), err
}

type footerCopier struct {
	ctx     context.Context
	in, out thrift.TProtocol
	depth   int
	int96   bool // INT96 becomes a fixed-length byte array of 12 bytes, which is encoded alike
}

// structure copies a structure; path are the numbers of the fields that lead to it.
func (c footerCopier) structure(path []int16) error {
	if _, err := c.in.ReadStructBegin(c.ctx); err != nil {
		return err
	}
	if err := c.out.WriteStructBegin(c.ctx, ""); err != nil {
		return err
	}
	length := false // a length was inserted
	for {
		_, kind, id, err := c.in.ReadFieldBegin(c.ctx)
		if err != nil {
			return err
		}
		if kind == thrift.STOP {
			break
		}
		if c.int96 && kind == thrift.I32 && isType(path, id) {
			if length, err = c.physicalType(id, len(path) == 1); err != nil {
				return err
			}
			continue
		}
		if length && len(path) == 1 && id == fieldTypeLength && kind == thrift.I32 { // there is one already
			if _, err := c.in.ReadI32(c.ctx); err != nil {
				return err
			}
			continue
		}
		copier := c
		buffer := thrift.NewTMemoryBuffer()
		isLogical := len(path) == 1 && path[0] == fieldSchema && id == fieldLogicalType && kind == thrift.STRUCT
		if isLogical { // kept only if its type is known
			if known, err := c.knownType(); err != nil {
				return err
			} else if known == nil {
				continue
			} else {
				buffer = known
			}
		}
		if err := c.out.WriteFieldBegin(c.ctx, "", kind, id); err != nil {
			return err
		}
		if isLogical {
			copier.in = thrift.NewTCompactProtocolConf(buffer, nil)
		}
		if err := copier.value(kind, append(path[:len(path):len(path)], id)); err != nil {
			return err
		}
	}
	return errors.Join(c.out.WriteFieldStop(c.ctx), c.in.ReadStructEnd(c.ctx), c.out.WriteStructEnd(c.ctx))
}

// isType reports whether a field is the physical type of a SchemaElement, or of the ColumnMetaData of a chunk.
func isType(path []int16, id int16) bool {
	return id == fieldType && (slices.Equal(path, []int16{fieldSchema}) || slices.Equal(path, []int16{fieldRowGroups, fieldColumns, fieldMetaData}))
}

// physicalType copies a type. It changes INT96, and inserts a length in the schema. changed reports this.
func (c footerCopier) physicalType(id int16, inSchema bool) (changed bool, err error) {
	v, err := c.in.ReadI32(c.ctx)
	if err != nil {
		return false, err
	}
	if changed = v == int32(pq.Types.Int96); changed {
		v = int32(pq.Types.FixedLenByteArray)
	}
	err = errors.Join(c.out.WriteFieldBegin(c.ctx, "", thrift.I32, id), c.out.WriteI32(c.ctx, v))
	if changed && inSchema {
		err = errors.Join(err, c.out.WriteFieldBegin(c.ctx, "", thrift.I32, fieldTypeLength), c.out.WriteI32(c.ctx, int96Size))
	}
	return changed, err
}

// knownType reads a logical type into a buffer. It returns nil for an unknown one.
func (c footerCopier) knownType() (*thrift.TMemoryBuffer, error) {
	buffer := thrift.NewTMemoryBuffer()
	aside := footerCopier{ctx: c.ctx, depth: c.depth, in: c.in, out: thrift.NewTCompactProtocolConf(buffer, nil)}
	if err := aside.structure(nil); err != nil {
		return nil, err
	}
	look := thrift.NewTMemoryBuffer()
	look.Write(buffer.Bytes())
	in := thrift.NewTCompactProtocolConf(look, nil)
	if _, err := in.ReadStructBegin(c.ctx); err != nil {
		return nil, err
	}
	_, kind, id, err := in.ReadFieldBegin(c.ctx)
	if err != nil || kind == thrift.STOP || id < 1 || id > lastLogicalType || id == 9 { // 9 is reserved
		return nil, err
	}
	return buffer, nil
}

// value copies a value of any kind.
func (c footerCopier) value(kind thrift.TType, path []int16) error {
	if c.depth++; c.depth > maxFooterDepth {
		return errors.New("the footer is nested too deep")
	}
	switch kind {
	case thrift.STRUCT:
		return c.structure(path)
	case thrift.LIST, thrift.SET:
		elem, n, err := c.in.ReadListBegin(c.ctx)
		if err != nil {
			return err
		}
		if err := c.out.WriteListBegin(c.ctx, elem, n); err != nil {
			return err
		}
		for range n {
			if err := c.value(elem, path); err != nil {
				return err
			}
		}
		return errors.Join(c.in.ReadListEnd(c.ctx), c.out.WriteListEnd(c.ctx))
	}
	return c.scalar(kind)
}

func (c footerCopier) scalar(kind thrift.TType) error {
	switch kind {
	case thrift.BOOL:
		return pass(c.ctx, c.in.ReadBool, c.out.WriteBool)
	case thrift.BYTE:
		return pass(c.ctx, c.in.ReadByte, c.out.WriteByte)
	case thrift.I16:
		return pass(c.ctx, c.in.ReadI16, c.out.WriteI16)
	case thrift.I32:
		return pass(c.ctx, c.in.ReadI32, c.out.WriteI32)
	case thrift.I64:
		return pass(c.ctx, c.in.ReadI64, c.out.WriteI64)
	case thrift.DOUBLE:
		return pass(c.ctx, c.in.ReadDouble, c.out.WriteDouble)
	case thrift.STRING:
		return pass(c.ctx, c.in.ReadBinary, c.out.WriteBinary)
	}
	return errors.New("the footer has a value of a kind that Parquet does not use")
}

func pass[T any](ctx context.Context, read func(context.Context) (T, error), write func(context.Context, T) error) error {
	v, err := read(ctx)
	if err != nil {
		return err
	}
	return write(ctx, v)
}
