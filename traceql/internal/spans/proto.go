package spans

import (
	"encoding/base64"
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Numbers of fields of OTLP's messages.
const (
	spanEvents = 11
	spanLinks  = 13

	keyValueKey   = 1
	keyValueValue = 2

	anyString = 1
	anyBool   = 2
	anyInt    = 3
	anyDouble = 4
	anyArray  = 5
	anyMap    = 6
	anyBytes  = 7
)

// maxNesting bounds the arrays in arrays.
const maxNesting = 64

// message is an event or a link.
type message struct {
	time            uint64
	name            []byte
	traceID, spanID []byte
	keyValues       [][]byte // in the order of the message
	err             error
}

// inLists applies f to the events or links of a span: the values that are not nil, as one value.
func (b *Batch) inLists(scope lang.Scope, row int, f func(*message) value.Value) (value.Value, error) {
	column, field := Events, protowire.Number(spanEvents)
	if scope == lang.LinkScope {
		column, field = Links, spanLinks
	}
	var list []value.Value
	err := fields(b.Bytes(column, row), func(n protowire.Number, t protowire.Type, content []byte, _ uint64) error {
		if n != field || t != protowire.BytesType {
			return nil
		}
		m, err := parseMessage(scope, content)
		if err != nil {
			return err
		}
		if v := f(m); !v.IsNil() {
			list = append(list, v)
		}
		return m.err
	})
	return value.OfAny(list), fault.In(err, column, -1)
}

func parseMessage(scope lang.Scope, content []byte) (*message, error) {
	m := &message{}
	attrs := protowire.Number(3)
	if scope == lang.LinkScope {
		attrs = 4
	}
	return m, fields(content, func(n protowire.Number, t protowire.Type, content []byte, number uint64) error {
		switch {
		case n == attrs && t == protowire.BytesType:
			m.keyValues = append(m.keyValues, content)
		case scope == lang.EventScope && n == 1:
			m.time = number
		case scope == lang.EventScope && n == 2:
			m.name = content
		case scope == lang.LinkScope && n == 1:
			m.traceID = content
		case scope == lang.LinkScope && n == 2:
			m.spanID = content
		}
		return nil
	})
}

// attribute is the value of an attribute of an event or link.
func (m *message) attribute(name string) value.Value {
	var found []value.Value
	for _, kv := range m.keyValues {
		v, ok, err := keyValue(kv, name)
		if err != nil {
			m.err = err
		}
		if ok {
			found = append(found, v)
		}
	}
	return oneOf(found)
}

// oneOf is the only one of some values, or all of them as an array; nil if there is none.
func oneOf(found []value.Value) value.Value {
	switch len(found) {
	case 0:
		return value.Value{}
	case 1:
		return found[0]
	}
	return value.OfArray(found)
}

// attributes are the values with a name in a message whose field number attrs holds its attributes.
func attributes(content []byte, attrs int, name string) (found []value.Value, err error) {
	err = fields(content, func(n protowire.Number, t protowire.Type, content []byte, _ uint64) error {
		if int(n) != attrs || t != protowire.BytesType {
			return nil
		}
		v, ok, err := keyValue(content, name)
		if ok {
			found = append(found, v)
		}
		return err
	})
	return found, err
}

// keyValue is the value of a KeyValue if it has a name. An empty value counts as missing.
func keyValue(content []byte, name string) (v value.Value, ok bool, err error) {
	key, val, err := splitKeyValue(content)
	if err != nil || string(key) != name {
		return v, false, err
	}
	v, err = anyValue(val, 0)
	return v, !v.IsNil(), err
}

func splitKeyValue(content []byte) (key, val []byte, err error) {
	err = fields(content, func(n protowire.Number, _ protowire.Type, content []byte, _ uint64) error {
		switch n {
		case keyValueKey:
			key = content
		case keyValueValue:
			val = content
		}
		return nil
	})
	return key, val, err
}

// anyValue is the value of an AnyValue.
func anyValue(content []byte, depth int) (v value.Value, err error) {
	if depth > maxNesting {
		return v, fault.Limitf("an attribute is nested deeper than %d levels", maxNesting)
	}
	err = fields(content, func(n protowire.Number, _ protowire.Type, content []byte, number uint64) (err error) {
		switch n {
		case anyString:
			v = value.OfString(string(content))
		case anyBool:
			v = value.OfBool(number != 0)
		case anyInt:
			v = value.OfInt(int64(number))
		case anyDouble:
			v = value.OfFloat(math.Float64frombits(number))
		case anyArray:
			v, err = arrayValue(content, depth)
		case anyMap:
			v = value.OfOther("{…}")
		case anyBytes:
			v = otherBytes(content)
		}
		return err
	})
	return v, err
}

func otherBytes(content []byte) value.Value {
	return value.OfOther(base64.StdEncoding.EncodeToString(content))
}

func arrayValue(content []byte, depth int) (value.Value, error) {
	list := []value.Value{}
	err := fields(content, func(n protowire.Number, _ protowire.Type, content []byte, _ uint64) error {
		if n != 1 {
			return nil
		}
		v, err := anyValue(content, depth+1)
		if !v.IsNil() {
			list = append(list, v)
		}
		return err
	})
	return value.OfArray(list), err
}

// fields calls visit for each field of a message, with its content or its number.
func fields(content []byte, visit func(n protowire.Number, t protowire.Type, content []byte, number uint64) error) error {
	for len(content) > 0 {
		n, t, size := protowire.ConsumeTag(content)
		if size < 0 {
			return corrupt(size)
		}
		content = content[size:]
		var part []byte
		var number uint64
		switch t {
		case protowire.VarintType:
			number, size = protowire.ConsumeVarint(content)
		case protowire.Fixed64Type:
			number, size = protowire.ConsumeFixed64(content)
		case protowire.BytesType:
			part, size = protowire.ConsumeBytes(content)
		default:
			size = protowire.ConsumeFieldValue(n, t, content)
		}
		if size < 0 {
			return corrupt(size)
		}
		content = content[size:]
		if err := visit(n, t, part, number); err != nil {
			return err
		}
	}
	return nil
}

func corrupt(code int) error {
	err := protowire.ParseError(code)
	if err == nil {
		err = errors.New("no message")
	}
	return fault.Corruptf("protobuf: %w", err)
}

// AttributeNames calls add for the names of the attributes in the rest of a scope, or in the events or links of a span.
func (b *Batch) AttributeNames(scope lang.Scope, row int, add func(name []byte)) error {
	addKey := func(content []byte) error {
		key, _, err := splitKeyValue(content)
		if key != nil {
			add(key)
		}
		return err
	}
	if rest := scopes[scope].rest; rest != "" {
		err := fields(b.Bytes(rest, row), func(n protowire.Number, t protowire.Type, content []byte, _ uint64) error {
			if int(n) != scopes[scope].attrs || t != protowire.BytesType {
				return nil
			}
			return addKey(content)
		})
		return fault.In(err, rest, -1)
	}
	_, err := b.inLists(scope, row, func(m *message) value.Value {
		for _, kv := range m.keyValues {
			m.err = errors.Join(m.err, addKey(kv))
		}
		return value.Value{}
	})
	return err
}
