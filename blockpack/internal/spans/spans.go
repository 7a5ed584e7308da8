// Package spans has the names and types of columns of spans, and converts columns to Arrow arrays and back.
package spans

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/column"
)

// Field describes a column in all blocks of a file.
type Field struct {
	Name  string
	Type  column.Type // String to Bytes
	Flags Traits
}

// Traits are facts about all values of a column. They decide about its Arrow type.
type Traits uint8

// Traits of columns.
const (
	Always  Traits = 1 << iota // every row has a value
	IDs                        // all values have the width of a trace id or span id: 16 or 8 bytes
	Large                      // some value is 2^63 or more
	NotUTF8                    // some string is not valid UTF-8
)

// Options are those of the Arrow types of columns. The zero value is the default.
type Options struct {
	Dictionaries bool // strings are dictionary<uint32, utf8>
	BinaryText   bool // strings are binary, for columns whose strings may not be UTF-8
	UintTimes    bool // span:start, span:end and span:duration are uint64
	Events       bool // events and links are lists of structs instead of protobuf
}

// Metadata keys of Arrow fields.
const (
	TypeKey = "blockpack.type" // the type of the column: "string", "int64", "uint64", "float64", "bool", "bytes"
	NameKey = "blockpack.name" // the name of the column, where it is not the name of the Arrow field
)

// Order sorts fields in the order of an Arrow schema: intrinsics, extensions, then the other columns by name, those of
// one name by type.
func Order(fields []Field) {}

// Schema is the Arrow schema of fields. Its field i is that of fields[i].
func Schema(fields []Field, o Options) *arrow.Schema { return nil }

// Of is the column that an Arrow field of any table of spans stands for. The error names the field, and the rule that it
// breaks.
func Of(f arrow.Field) (Field, error) { return Field{}, errors.ErrUnsupported }

// Array is the Arrow array of a column, in the type of its field in a [Schema]. A nil column has no values, in rows
// rows. A value that the type cannot hold is an error. The array may share the memory of the column.
func Array(mem memory.Allocator, c *column.Column, rows int, f arrow.Field) (arrow.Array, error) {
	return nil, errors.ErrUnsupported
}

// Column is the column of an Arrow array of any type that suits the column: narrower integers and floats,
// timestamps and durations in any unit, dictionaries, runs, views, events and links as lists of structs. It copies what
// it keeps.
func Column(arr arrow.Array, f Field) (*column.Column, error) { return nil, errors.ErrUnsupported }
