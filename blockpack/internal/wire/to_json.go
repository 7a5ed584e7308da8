package wire

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/text/jsontext"
)

// JSON converts messages to OTLP/JSON, as the specification of OTLP defines it: ids are hexadecimal, enums are numbers,
// integers of 64 bits are strings. Fields that are zero are left out.
//
// Strings that are not valid UTF-8 are errors, because JSON cannot hold them.
type JSON struct {
	// UnknownFields counts the fields that OTLP does not have. They are left out.
	UnknownFields int64
}

// Append appends a message without line breaks.
func (j *JSON) Append(dst, b []byte, m *Message) ([]byte, error) { return j.object(dst, b, 0, 0, m) }

// AppendAttributes appends the attributes of a message, such as an Event, as an array of KeyValue.
func (j *JSON) AppendAttributes(dst, b []byte, m *Message) ([]byte, error) {
	for num, d := range m.fields {
		if d.Of == KeyValueMessage {
			return j.list(dst, b, 0, 0, num, &d)
		}
	}
	return append(dst, "[]"...), nil
}

// object appends a message at an offset as an object.
func (j *JSON) object(dst, b []byte, base, depth int, m *Message) ([]byte, error) {
	if depth > MaxDepth {
		return dst, fault.In(fault.Limitf("messages are nested deeper than %d", MaxDepth), "", int64(base))
	}
	last, err := j.find(b, base, m)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	start := len(dst)
	for num := range m.fields {
		f, d := &last[num], &m.fields[num]
		if f.Raw == nil || !m.oneof && !d.List && d.Of == nil && len(f.Data) == 0 && f.Bits == 0 {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, d.name...)
		dst = append(dst, '"', ':')
		if d.List {
			dst, err = j.list(dst, b, base, depth, num, d)
		} else {
			dst, err = j.value(dst, f, depth, d)
		}
		if err != nil {
			return dst, fault.In(err, d.name, int64(f.At))
		}
	}
	return append(dst, '}'), nil
}

// find returns the last field of each number. A message that comes in several parts is put together.
func (j *JSON) find(b []byte, base int, m *Message) (last [MaxField]Field, err error) {
	r := NewReader(b, base)
	var f Field
	for r.Next(&f) {
		d := m.Field(f.Num)
		if d == nil {
			j.UnknownFields++
			continue
		}
		if !r.Is(&f, d.Kind.Type()) {
			break
		}
		if m.oneof {
			for i := range last {
				if i != int(f.Num) {
					last[i] = Field{}
				}
			}
		}
		if before := &last[f.Num]; d.Of != nil && !d.List && before.Raw != nil {
			f.Data = append(append([]byte(nil), before.Data...), f.Data...)
			f.At = before.At
		}
		last[f.Num] = f
	}
	return last, r.Err
}

// list appends the fields of a number as an array.
func (j *JSON) list(dst, b []byte, base, depth, num int, d *Definition) ([]byte, error) {
	dst = append(dst, '[')
	start := len(dst)
	r := NewReader(b, base)
	var f Field
	for r.Next(&f) {
		if int(f.Num) != num {
			continue
		}
		if !r.Is(&f, d.Kind.Type()) {
			break
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = j.value(dst, &f, depth, d); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), r.Err
}

// value appends a field.
func (j *JSON) value(dst []byte, f *Field, depth int, d *Definition) ([]byte, error) {
	switch d.Kind {
	case Group:
		return j.object(dst, f.Data, f.At, depth+1, d.Of)
	case Text:
		if !utf8.Valid(f.Data) {
			return dst, fault.In(fault.Corruptf("a string is not valid UTF-8, which JSON cannot hold"), "", int64(f.At))
		}
		return jsontext.AppendString(dst, string(f.Data)), nil
	case Bool:
		return strconv.AppendBool(dst, f.Bits != 0), nil
	case SpanKind, StatusCode:
		return strconv.AppendInt(dst, int64(int32(f.Bits)), 10), nil
	case Count, Flags:
		return strconv.AppendUint(dst, uint64(uint32(f.Bits)), 10), nil
	case Double:
		return appendDouble(dst, math.Float64frombits(f.Bits)), nil
	}
	dst = append(dst, '"')
	switch d.Kind {
	case ID:
		dst = hex.AppendEncode(dst, f.Data)
	case Octets:
		dst = base64.StdEncoding.AppendEncode(dst, f.Data)
	case Signed:
		dst = strconv.AppendInt(dst, int64(f.Bits), 10)
	case Nanos:
		dst = strconv.AppendUint(dst, f.Bits, 10)
	}
	return append(dst, '"'), nil
}

// appendDouble appends the shortest text that reads back the same.
func appendDouble(dst []byte, v float64) []byte {
	switch {
	case v != v:
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	form := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, v, form, -1, 64)
}
