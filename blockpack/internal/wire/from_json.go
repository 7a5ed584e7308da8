package wire

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
)

// Decoder converts OTLP/JSON to messages. Members of objects that OTLP does not have are left out and counted, as its
// specification wants it. Names are accepted in both forms, traceId and trace_id; integers as numbers and strings; enums
// as numbers and names.
type Decoder struct {
	// UnknownKeys counts the members of objects that OTLP does not have.
	UnknownKeys int64

	s   jsontext.Scanner
	buf []byte // of strings in base 64
}

// Append appends the encoded message of a JSON object, which is the whole text. The error has the offset in the text.
func (d *Decoder) Append(dst, json []byte, m *Message) ([]byte, error) {
	d.s.Reset(json)
	out, err := d.object(dst, m)
	if err == nil {
		err = d.s.End()
	}
	if err != nil {
		return dst, d.failed(err)
	}
	return out, nil
}

// AppendAttributes appends the attributes of a message, such as an Event, from an array of KeyValue.
func (d *Decoder) AppendAttributes(dst, json []byte, m *Message) ([]byte, error) {
	d.s.Reset(json)
	out, err := dst, error(nil)
	for num := range m.fields {
		if m.fields[num].Of == KeyValueMessage {
			out, err = d.list(dst, protowire.Number(num), &m.fields[num])
		}
	}
	if err == nil {
		err = d.s.End()
	}
	if err != nil {
		return dst, d.failed(err)
	}
	return out, nil
}

func (d *Decoder) failed(err error) error {
	if !errors.Is(err, fault.ErrCorrupt) {
		err = fault.Corruptf("%w", err)
	}
	return fault.In(err, "JSON", int64(d.s.At()))
}

// object appends the fields of an object.
func (d *Decoder) object(dst []byte, m *Message) ([]byte, error) {
	chosen := protowire.Number(0) // of a oneof
	err := d.s.Object(func(key []byte) (err error) {
		num := m.number(key)
		if num == 0 {
			d.UnknownKeys++
			return d.s.Skip()
		}
		if d.s.Peek() == 'n' {
			return d.s.Literal("null")
		}
		def := &m.fields[num]
		if m.oneof {
			if chosen != 0 {
				return fmt.Errorf("a value has both %s and %s", m.fields[chosen].name, def.name)
			}
			chosen = num
		}
		if def.List {
			dst, err = d.list(dst, num, def)
		} else {
			dst, err = d.value(dst, num, def, m.oneof)
		}
		return err
	})
	return dst, err
}

// number is the number of a field by its name in JSON, 0 if there is none.
func (m *Message) number(key []byte) protowire.Number {
	for num := range m.fields {
		if d := &m.fields[num]; d.name != "" && (string(key) == d.name || string(key) == d.proto) {
			return protowire.Number(num)
		}
	}
	return 0
}

// list appends the elements of an array, each as a field.
func (d *Decoder) list(dst []byte, num protowire.Number, def *Definition) ([]byte, error) {
	err := d.s.Array(func() (err error) {
		if d.s.Peek() == 'n' {
			return errors.New("null in a list")
		}
		dst, err = d.value(dst, num, def, true)
		return err
	})
	return dst, err
}

// value appends a field, unless it is zero and zero is set.
func (d *Decoder) value(dst []byte, num protowire.Number, def *Definition, zero bool) ([]byte, error) {
	if def.Kind == Group {
		dst = protowire.AppendTag(dst, num, protowire.BytesType)
		start := len(dst)
		dst, err := d.object(dst, def.Of)
		return InsertLen(dst, start), err
	}
	if typ := def.Kind.Type(); typ == protowire.BytesType {
		v, err := d.bytes(def.Kind)
		if err != nil || len(v) == 0 && !zero {
			return dst, err
		}
		return protowire.AppendBytes(protowire.AppendTag(dst, num, typ), v), nil
	}
	v, err := d.scalar(def.Kind)
	if err != nil || v == 0 && !zero {
		return dst, err
	}
	return appendNumber(dst, num, def.Kind, v), nil
}

// bytes reads a string. It is valid until the next call.
func (d *Decoder) bytes(k Kind) ([]byte, error) {
	v, err := d.quoted()
	if err != nil {
		return nil, err
	}
	switch k {
	case ID:
		if d.buf, err = hex.AppendDecode(d.buf[:0], v); err != nil {
			return nil, fmt.Errorf("an id is not hexadecimal: %w", err)
		}
		return d.buf, nil
	case Octets:
		return d.base64(v)
	}
	return v, nil
}

// base64 accepts all forms of base 64, as Protocol Buffers do.
func (d *Decoder) base64(v []byte) ([]byte, error) {
	s := strings.TrimRight(string(v), "=")
	form := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		form = base64.RawURLEncoding
	}
	out, err := form.AppendDecode(d.buf[:0], []byte(s))
	if err != nil {
		return nil, fmt.Errorf("bytes are not in base 64: %w", err)
	}
	d.buf = out
	return out, nil
}

func (d *Decoder) quoted() ([]byte, error) {
	d.s.Peek()
	return d.s.Quoted()
}

// scalar reads a number or a bool as its bits.
func (d *Decoder) scalar(k Kind) (uint64, error) {
	c := d.s.Peek()
	if k == Bool {
		if c == 't' {
			return 1, d.s.Literal("true")
		}
		return 0, d.s.Literal("false")
	}
	var v []byte
	var err error
	if c == '"' {
		v, err = d.quoted()
	} else {
		v, err = d.s.Number()
	}
	if err != nil {
		return 0, err
	}
	bits, err := parse(k, string(v))
	if err != nil {
		return 0, fmt.Errorf("%q is no %s", text.Clip(string(v)), what[k])
	}
	return bits, nil
}

var what = [...]string{Signed: "int64", Count: "uint32", SpanKind: "kind of span", StatusCode: "status code", Nanos: "uint64", Double: "double", Flags: "uint32"}

// parse reads the text of a number.
func parse(k Kind, v string) (uint64, error) {
	switch k {
	case Double:
		return parseDouble(v)
	case SpanKind, StatusCode:
		if n, ok := enums[v]; ok {
			return n, nil
		}
	}
	v = wholeNumber(v)
	switch k {
	case Signed:
		n, err := strconv.ParseInt(v, 10, 64)
		return uint64(n), err
	case Nanos:
		return strconv.ParseUint(v, 10, 64)
	case SpanKind, StatusCode:
		n, err := strconv.ParseInt(v, 10, 32)
		return uint64(n), err
	}
	return strconv.ParseUint(v, 10, 32)
}

func parseDouble(v string) (uint64, error) {
	switch v {
	case "NaN":
		return math.Float64bits(math.NaN()), nil
	case "Infinity":
		return math.Float64bits(math.Inf(1)), nil
	case "-Infinity":
		return math.Float64bits(math.Inf(-1)), nil
	}
	if strings.Trim(v, "+-.0123456789eE") != "" || v == "" { // ParseFloat accepts more than JSON has
		return 0, strconv.ErrSyntax
	}
	f, err := strconv.ParseFloat(v, 64)
	return math.Float64bits(f), err
}

// wholeNumber turns a number such as 1e3 or 5.0 into digits, if a float64 holds it exactly.
func wholeNumber(v string) string {
	if !strings.ContainsAny(v, ".eE") {
		return v
	}
	bits, err := parseDouble(v)
	if f := math.Float64frombits(bits); err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return v
}

// enums are the names of kinds of spans and status codes.
var enums = map[string]uint64{
	"SPAN_KIND_UNSPECIFIED": 0, "SPAN_KIND_INTERNAL": 1, "SPAN_KIND_SERVER": 2, "SPAN_KIND_CLIENT": 3,
	"SPAN_KIND_PRODUCER": 4, "SPAN_KIND_CONSUMER": 5,
	"STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2,
}
