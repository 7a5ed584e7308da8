package arrowmap

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// TypeText is the text of an Arrow type as annotations have it, without the types of children:
// "dictionary[int32,ordered]/utf8_view".
func TypeText(dt arrow.DataType) (string, error) {
	k, _, _, err := describe(arrow.Field{Type: dt}, named, "")
	return k.typeText(), err
}

// ParseType makes the type of a text by [TypeText] and the fields of its children. An extension type that the program
// does not know is an error.
func ParseType(text string, kids []arrow.Field) (arrow.DataType, error) {
	var k annotation
	if err := k.parseType(text); err != nil {
		return nil, err
	}
	dt, err := makeBase(k.base, kids)
	for i := len(k.wraps) - 1; i >= 0 && err == nil; i-- {
		if dt, err = makeWrap(k.wraps[i], dt); err == nil && dt == nil {
			err = fmt.Errorf("extension type %q is not known", k.wraps[i].args[0])
		}
	}
	return dt, err
}

// ExtensionType is a registered extension type for a storage type, or nil if there is none that takes it.
func ExtensionType(name, data string, storage arrow.DataType) arrow.DataType {
	dt, _ := extensionType(name, data, storage)
	return dt
}
