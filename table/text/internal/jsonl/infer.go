package jsonl

import (
	"fmt"
	"math/bits"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// maxInferredKeys is the number of different keys beyond which objects are maps of data rather than records, and are
// kept as JSON.
const maxInferredKeys = 1000

// class is a set of JSON types.
type class uint8

const (
	jsonString class = 1 << iota
	jsonNumber
	jsonBool
	jsonArray
	jsonObject
)

var jsonClassNames = []string{"strings", "numbers", "booleans", "arrays", "objects"}

// shape collects the values at one place in the records.
type shape struct {
	classes class
	first   [5]string     // an example of each class
	text    records.Guess // of the strings
	number  records.Guess // of the numbers, and of strings such as NaN
	odd     bool          // a string is neither NaN nor infinity
	elem    *shape
	keys    []string
	members map[string]*shape
}

// look reads the next value of s and adds it to the shape.
func (j *shape) look(s *jsontext.Scanner) error {
	c := s.Peek()
	start := s.At()
	var found class
	var err error
	switch c {
	case 'n':
		return s.Literal("null")
	case 't', 'f':
		found = jsonBool
		err = s.Skip()
	case '"':
		found = jsonString
		var v []byte
		if v, err = s.Quoted(); err == nil {
			j.text.Add(v)
			if v, ferr := text.ParseFloat(v, 64, text.Strict); ferr != nil || v-v == 0 { // v-v is 0 for finite values only
				j.odd = true
			}
		}
	case '[':
		found = jsonArray
		if j.elem == nil {
			j.elem = new(shape)
		}
		err = s.Array(func() error { return j.elem.look(s) })
	case '{':
		found = jsonObject
		err = s.Object(func(key []byte) error { return j.member(key).look(s) })
	default:
		found = jsonNumber
		var v []byte
		if v, err = s.Number(); err == nil {
			j.number.Add(v)
		}
	}
	if err == nil && j.classes&found == 0 {
		j.classes |= found
		j.first[bits.TrailingZeros8(uint8(found))] = text.Clip(string(s.Since(start)))
	}
	return err
}

// member returns the shape of the values of a key.
func (j *shape) member(key []byte) *shape {
	if m, ok := j.members[string(key)]; ok {
		return m
	}
	if j.members == nil {
		j.members = map[string]*shape{}
	}
	if len(j.keys) > maxInferredKeys { // kept as JSON anyway
		return new(shape)
	}
	m := new(shape)
	j.members[string(key)] = m
	j.keys = append(j.keys, string(key))
	return m
}

// jsonType is the type that holds any JSON value, as its text.
var jsonType = extension.JSON(arrow.BinaryTypes.String)

// resolve returns the type that holds every value exactly.
func (j *shape) resolve(path string, say *records.Notices) arrow.DataType {
	switch j.classes {
	case 0:
		return jsonType // only nulls: any later value fits
	case jsonString:
		return j.resolveText(path, say)
	case jsonNumber:
	case jsonString | jsonNumber:
		if j.odd {
			return j.mixed(path, say)
		}
	case jsonBool:
		return arrow.FixedWidthTypes.Boolean
	case jsonArray:
		return arrow.ListOf(j.elem.resolve(path+"[]", say))
	case jsonObject:
		return j.resolveObject(path, say)
	default:
		return j.mixed(path, say)
	}
	if j.classes&jsonString != 0 {
		if j.number.Wide {
			return j.mixed(path, say)
		}
		return arrow.PrimitiveTypes.Float64
	}
	t, why, ok := j.number.Resolve()
	if !ok {
		say.Add("column %q is kept as JSON: it has %s", path, why)
		return jsonType
	}
	return t
}

// resolveText returns a type of dates or timestamps if all strings are such, else strings.
func (j *shape) resolveText(path string, say *records.Notices) arrow.DataType {
	t, notice, ok := j.text.Resolve()
	if !ok || t.ID() != arrow.DATE32 && t.ID() != arrow.TIMESTAMP {
		return arrow.BinaryTypes.String
	}
	if notice != "" {
		say.Add("column %q: %s", path, notice)
	}
	return t
}

func (j *shape) resolveObject(path string, say *records.Notices) arrow.DataType {
	if len(j.keys) == 0 {
		return jsonType
	}
	if len(j.keys) > maxInferredKeys {
		say.Add("column %q is kept as JSON: its objects have more than %d different keys", path, maxInferredKeys)
		return jsonType
	}
	return arrow.StructOf(j.fields(path+".", say)...)
}

// fields are the members of objects.
func (j *shape) fields(prefix string, say *records.Notices) []arrow.Field {
	fields := make([]arrow.Field, len(j.keys))
	for i, k := range j.keys {
		fields[i] = arrow.Field{Name: k, Type: j.members[k].resolve(prefix+k, say), Nullable: true}
	}
	return fields
}

func (j *shape) mixed(path string, say *records.Notices) arrow.DataType {
	text := ""
	for i, name := range jsonClassNames {
		if j.classes&(1<<i) == 0 {
			continue
		}
		if text != "" {
			text += " and "
		}
		text += fmt.Sprintf("%s (%s)", name, j.first[i])
	}
	say.Add("column %s is kept as JSON text: it mixes %s", strconv.Quote(path), text)
	return jsonType
}
