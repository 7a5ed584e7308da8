// Package extension provides Arrow's canonical extension types json, uuid and bool8 without
// arrow-go's package extensions, which links Parquet, Thrift and Brotli.
//
// A program that imports arrow-go's package gets its types, from the registry of arrow-go.
// Other programs get types with the same names, storage and metadata, and without further
// methods.
package extension

import (
	"fmt"
	"reflect"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Names of extension types.
const (
	NameJSON  = "arrow.json"
	NameUUID  = "arrow.uuid"
	NameBool8 = "arrow.bool8"
)

// JSON is arrow.json over strings of any layout.
func JSON(storage arrow.DataType) arrow.DataType { return mustMake(NameJSON, storage) }

// UUID is arrow.uuid.
func UUID() arrow.DataType { return mustMake(NameUUID, &arrow.FixedSizeBinaryType{ByteWidth: 16}) }

// Bool8 is arrow.bool8.
func Bool8() arrow.DataType { return mustMake(NameBool8, arrow.PrimitiveTypes.Int8) }

// Unwrap returns the type inside of dictionaries, runs and extensions, and the name of the innermost extension, "" if there is none.
func Unwrap(dt arrow.DataType) (plain arrow.DataType, name string) {
	for kinds.Of(dt) == kinds.Wrap {
		if ext, ok := dt.(arrow.ExtensionType); ok {
			name = ext.ExtensionName()
		}
		dt = kinds.Inner(dt)
	}
	return dt, name
}

// IsJSON reports whether values of a type are JSON texts.
func IsJSON(dt arrow.DataType) bool {
	_, name := Unwrap(dt)
	return name == NameJSON
}

func mustMake(name string, storage arrow.DataType) arrow.DataType {
	t, err := Find(name).Deserialize(storage, "")
	if err != nil { // a program registered a type of this name with another storage
		return storage
	}
	return t
}

// Find returns the extension type with a name: the registered one, else that of this package,
// else nil. Its Deserialize makes the type for a storage type.
func Find(name string) arrow.ExtensionType {
	if t := arrow.GetExtensionType(name); t != nil {
		return t
	}
	if fits(name) == nil {
		return nil
	}
	return &canonical{name: name}
}

// fits is the check of the storage type for a type of this package.
func fits(name string) func(arrow.DataType) bool {
	switch name {
	case NameJSON:
		return kinds.IsText
	case NameUUID:
		return func(t arrow.DataType) bool {
			f, ok := t.(*arrow.FixedSizeBinaryType)
			return ok && f.ByteWidth == 16
		}
	case NameBool8:
		return func(t arrow.DataType) bool { return t.ID() == arrow.INT8 }
	}
	return nil
}

type canonical struct {
	arrow.ExtensionBase
	name string
}

// canonicalArray is an array of a type of this package.
type canonicalArray struct{ array.ExtensionArrayBase }

// ArrayType implements arrow.ExtensionType.
func (*canonical) ArrayType() reflect.Type { return reflect.TypeFor[canonicalArray]() }

// ExtensionName implements arrow.ExtensionType.
func (t *canonical) ExtensionName() string { return t.name }

// Serialize implements arrow.ExtensionType.
func (*canonical) Serialize() string { return "" }

// String is the name with the storage.
func (t *canonical) String() string {
	return fmt.Sprintf("extension<%s[storage_type=%s]>", t.name, t.Storage)
}

// ExtensionEquals implements arrow.ExtensionType.
func (t *canonical) ExtensionEquals(other arrow.ExtensionType) bool {
	return t.name == other.ExtensionName() && arrow.TypeEqual(t.Storage, other.StorageType())
}

// Deserialize implements arrow.ExtensionType.
func (t *canonical) Deserialize(storage arrow.DataType, data string) (arrow.ExtensionType, error) {
	if data != "" && data != "{}" {
		return nil, fmt.Errorf("%s has no parameters, not %q", t.name, data)
	}
	if !fits(t.name)(storage) {
		return nil, fmt.Errorf("%s cannot be stored as %s", t.name, storage)
	}
	return &canonical{ExtensionBase: arrow.ExtensionBase{Storage: storage}, name: t.name}, nil
}
