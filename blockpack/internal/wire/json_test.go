package wire

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

// TestJSONAgainstProtojson compares both directions with protojson, which writes ids in base 64.
func TestJSONAgainstProtojson(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		td := otlpgen.Traces().Draw(t, "traces")
		msg, err := proto.Marshal(td)
		if err != nil {
			t.Fatal(err)
		}
		var j JSON
		ours, err := j.Append(nil, msg, TracesData)
		if err != nil || j.UnknownFields != 0 {
			t.Fatal(err, j.UnknownFields)
		}
		parsed := proto.CloneOf(td)
		proto.Reset(parsed)
		if err := protojson.Unmarshal(convertIDs(t, ours, hex.DecodeString, base64.StdEncoding.EncodeToString), parsed); err != nil {
			t.Fatalf("%v\n%s", err, ours)
		}
		if !proto.Equal(td, parsed) {
			t.Fatalf("protojson reads another message of\n%s", ours)
		}
		theirs, err := protojson.Marshal(td)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{ours, convertIDs(t, theirs, base64.StdEncoding.DecodeString, hex.EncodeToString)} {
			var d Decoder
			back, err := d.Append(nil, text, TracesData)
			if err != nil || d.UnknownKeys != 0 {
				t.Fatalf("%v, %d unknown keys of\n%s", err, d.UnknownKeys, text)
			}
			proto.Reset(parsed)
			if err := proto.Unmarshal(back, parsed); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(td, parsed) {
				t.Fatalf("read another message of\n%s", text)
			}
		}
	})
}

// convertIDs writes the ids in a JSON text in another form.
func convertIDs(t *rapid.T, text []byte, decode func(string) ([]byte, error), encode func([]byte) string) []byte {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				if s, ok := e.(string); ok && (k == "traceId" || k == "spanId" || k == "parentSpanId") {
					raw, err := decode(s)
					if err != nil {
						t.Fatal(err)
					}
					v[k] = encode(raw)
				} else {
					walk(e)
				}
			}
		}
	}
	walk(v)
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestJSONForms(t *testing.T) {
	const want = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","name":"a","kind":2,` +
		`"startTimeUnixNano":"1544712660000000000","attributes":[{"key":"k","value":{"intValue":"5"}}],"status":{"code":2}}]}]}]}`
	for _, text := range []string{
		want,
		`{"resource_spans":[{"scope_spans":[{"spans":[{"trace_id":"5B8EFFF798038103D269B633813FC60C","name":"a","kind":"SPAN_KIND_SERVER",` +
			`"start_time_unix_nano":1544712660000000000,"attributes":[{"key":"k","value":{"int_value":5}}],"status":{"code":"STATUS_CODE_ERROR"}}]}]}]}`,
		"\n {\"resourceSpans\" : [ {\"scopeSpans\":[{\"spans\":[{\"traceId\":\"5b8efff798038103d269b633813fc60c\",\"parentSpanId\":\"\",\"name\":\"a\",\"kind\":2.0,\"links\":null," +
			`"startTimeUnixNano":"1544712660000000000","attributes":[{"key":"k","value":{"intValue":"5e0"}}],"status":{"code":"2"}}]}]}]}`,
	} {
		var d Decoder
		msg, err := d.Append(nil, []byte(text), TracesData)
		if err != nil {
			t.Fatal(err)
		}
		var j JSON
		got, err := j.Append(nil, msg, TracesData)
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
}

func TestJSONUnknownKeys(t *testing.T) {
	var d Decoder
	msg, err := d.Append(nil, []byte(`{"a":{"b":[1,{}]},"resourceSpans":[{"c":null,"resource":{"x":1}}]}`), TracesData)
	if err != nil || d.UnknownKeys != 3 || string(msg) != "\x0a\x02\x0a\x00" {
		t.Fatal(err, d.UnknownKeys, msg)
	}
}

func TestJSONErrors(t *testing.T) {
	value := func(v string) string {
		return `{"resourceSpans":[{"resource":{"attributes":[{"key":"k","value":` + v + `}]}}]}`
	}
	for _, c := range []struct{ text, want string }{
		{`{"resourceSpans":[{]}`, "invalid JSON"},
		{`{"resourceSpans":[`, "ends in the middle"},
		{`{} x`, "invalid JSON"},
		{`{"resourceSpans":[null]}`, "null in a list"},
		{value(`{"intValue":"x"}`), `"x" is no int64`},
		{value(`{"intValue":1.5}`), `"1.5" is no int64`},
		{value(`{"intValue":9223372036854775808}`), "no int64"},
		{value(`{"doubleValue":"0x1p3"}`), "no double"},
		{value(`{"doubleValue":1e999}`), "no double"},
		{value(`{"bytesValue":"!"}`), "base 64"},
		{value(`{"intValue":1,"stringValue":"a"}`), "both intValue and stringValue"},
		{value(strings.Repeat(`{"arrayValue":{"values":[`, 90)), "deeper"},
		{`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"abc"}]}]}]}`, "hexadecimal"},
		{`{"resourceSpans":[{"scopeSpans":[{"spans":[{"kind":"SERVER"}]}]}]}`, "kind of span"},
	} {
		var d Decoder
		out, err := d.Append([]byte("x"), []byte(c.text), TracesData)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, fault.ErrCorrupt) || string(out) != "x" {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

// FuzzJSON reads any text, and what was read comes back equal.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"k","value":{"arrayValue":{"values":[{"doubleValue":"NaN"}]}}}]}}]}`))
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00","events":[{"timeUnixNano":"1","name":"\ud83d\ude00"}]}]}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d Decoder
		msg, err := d.Append(nil, text, TracesData)
		if err != nil {
			return
		}
		if err := TracesData.Check(msg, 0, 0); err != nil {
			t.Fatal(err)
		}
		var j JSON
		again, err := j.Append(nil, msg, TracesData)
		if err != nil {
			t.Fatal(err)
		}
		back, err := d.Append(nil, again, TracesData)
		if err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		last, err := j.Append(nil, back, TracesData)
		if err != nil || string(last) != string(again) {
			t.Fatalf("%v\n%s\n%s", err, again, last)
		}
	})
}

// FuzzMessage checks any bytes, and converts what is right to JSON.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("\x0a\x02\x0a\x00"))
	f.Fuzz(func(t *testing.T, msg []byte) {
		bad := TracesData.Check(msg, 0, 0)
		var j JSON
		_, err := j.Append(nil, msg, TracesData)
		if bad == nil && err != nil && !strings.Contains(err.Error(), "UTF-8") {
			t.Fatal(err)
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	messages := otlpgen.Corpus(b, "zipkin_lens.otlp")
	var texts [][]byte
	size := 0
	for _, m := range messages {
		var j JSON
		text, err := j.Append(nil, m, TracesData)
		if err != nil {
			b.Fatal(err)
		}
		texts = append(texts, text)
		size += len(text)
	}
	b.Run("from", func(b *testing.B) {
		b.SetBytes(int64(size))
		var d Decoder
		var buf []byte
		for b.Loop() {
			for _, text := range texts {
				var err error
				if buf, err = d.Append(buf[:0], text, TracesData); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("to", func(b *testing.B) {
		b.SetBytes(int64(size))
		var buf []byte
		for b.Loop() {
			for _, m := range messages {
				var j JSON
				var err error
				if buf, err = j.Append(buf[:0], m, TracesData); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
