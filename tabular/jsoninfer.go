package tabular

import (
	"fmt"
	"math/bits"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
)

// maxInferredKeys is the number of different keys beyond which objects are
// taken for maps of data rather than records, and kept as JSON.
const maxInferredKeys = 1000

// jsonClass is the set of what the values of one place look like.
type jsonClass uint8

const (
	jsonString jsonClass = 1 << iota
	jsonNumber
	jsonBool
	jsonArray
	jsonObject
)

var jsonClassNames = []string{"strings", "numbers", "booleans", "arrays", "objects"}

// jsonShape collects what the values at one place of the records look like.
type jsonShape struct {
	classes jsonClass
	first   [5]string // an example of each class
	text    guess     // of the strings
	number  guess     // of the numbers, and of strings such as NaN
	odd     bool      // a string is not a float's NaN or infinity
	elem    *jsonShape
	keys    []string
	members map[string]*jsonShape
}

// look reads the next value of s and adds it to the shape.
func (j *jsonShape) look(s *jsonScanner) error {
	c := s.peek()
	start := s.i
	var class jsonClass
	var err error
	switch c {
	case 'n':
		return s.literal("null")
	case 't', 'f':
		class = jsonBool
		err = s.skip()
	case '"':
		class = jsonString
		var v []byte
		if v, err = s.str(); err == nil {
			j.text.addText(v)
			if v, ferr := parseFloat(v, 64, inferred); ferr != nil || v-v == 0 { // v-v is 0 for finite values only
				j.odd = true
			}
		}
	case '[':
		class = jsonArray
		if j.elem == nil {
			j.elem = new(jsonShape)
		}
		err = s.array(func() error { return j.elem.look(s) })
	case '{':
		class = jsonObject
		err = s.object(func(key []byte) error { return j.member(key).look(s) })
	default:
		class = jsonNumber
		var v []byte
		if v, err = s.number(); err == nil {
			j.number.addText(v)
		}
	}
	if err == nil && j.classes&class == 0 {
		j.classes |= class
		j.first[bits.TrailingZeros8(uint8(class))] = clip(string(s.b[start:s.i]))
	}
	return err
}

// member is the shape of the values under a key.
func (j *jsonShape) member(key []byte) *jsonShape {
	if m, ok := j.members[string(key)]; ok {
		return m
	}
	if j.members == nil {
		j.members = map[string]*jsonShape{}
	}
	if len(j.keys) > maxInferredKeys { // kept as JSON anyway
		return new(jsonShape)
	}
	m := new(jsonShape)
	j.members[string(key)] = m
	j.keys = append(j.keys, string(key))
	return m
}

// jsonType is the type that holds any JSON value, as its text. It cannot fail
// for strings.
var jsonType, _ = extensions.NewJSONType(arrow.BinaryTypes.String)

// resolve gives the type that holds every value seen exactly.
func (j *jsonShape) resolve(path string, say *notices) arrow.DataType {
	switch j.classes {
	case 0:
		return jsonType // only nulls: whatever comes later fits
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
		if j.number.wide {
			return j.mixed(path, say)
		}
		return arrow.PrimitiveTypes.Float64
	}
	t, why, ok := j.number.resolve()
	if !ok {
		say.add("column %q is kept as JSON: it has %s", path, why)
		return jsonType
	}
	return t
}

// resolveText takes strings for dates and timestamps, or leaves them strings.
func (j *jsonShape) resolveText(path string, say *notices) arrow.DataType {
	t, notice, ok := j.text.resolve()
	if !ok || t.ID() != arrow.DATE32 && t.ID() != arrow.TIMESTAMP {
		return arrow.BinaryTypes.String
	}
	if notice != "" {
		say.add("column %q: %s", path, notice)
	}
	return t
}

func (j *jsonShape) resolveObject(path string, say *notices) arrow.DataType {
	if len(j.keys) == 0 {
		return jsonType
	}
	if len(j.keys) > maxInferredKeys {
		say.add("column %q is kept as JSON: its objects have more than %d different keys", path, maxInferredKeys)
		return jsonType
	}
	fields := make([]arrow.Field, len(j.keys))
	for i, k := range j.keys {
		fields[i] = arrow.Field{Name: k, Type: j.members[k].resolve(path+"."+k, say), Nullable: true}
	}
	return arrow.StructOf(fields...)
}

func (j *jsonShape) mixed(path string, say *notices) arrow.DataType {
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
	say.add("column %s is kept as JSON text: it mixes %s", strconv.Quote(path), text)
	return jsonType
}
