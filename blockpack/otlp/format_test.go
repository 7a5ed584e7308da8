package otlp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/table/provider"
)

// frames puts a length before each message.
func frames(messages [][]byte) string {
	var out []byte
	for _, m := range messages {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(m))), m...)
	}
	return string(out)
}

// objects is messages as OTLP/JSON, with something between the objects.
func objects(t require.TestingT, messages [][]byte, between string) string {
	var out []byte
	for _, m := range messages {
		var err error
		out, err = otlp.AppendJSON(out, m)
		require.NoError(t, err)
		out = append(out, between...)
	}
	return string(out)
}

// read returns the messages of a file.
func read(t require.TestingT, file string) [][]byte {
	var out [][]byte
	for m, err := range otlp.Messages(&tabletest.TricklingReader{B: []byte(file), N: 1000}) {
		require.NoError(t, err)
		out = append(out, bytes.Clone(m))
	}
	return out
}

func parsed(t require.TestingT, messages [][]byte) []*tracev1.TracesData {
	out := make([]*tracev1.TracesData, len(messages))
	for i, m := range messages {
		out[i] = &tracev1.TracesData{}
		require.NoError(t, proto.Unmarshal(m, out[i]))
	}
	return out
}

func same(t require.TestingT, want, got [][]byte) {
	require.Empty(t, otlpgen.Diff(parsed(t, want), parsed(t, got)))
}

func TestForms(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	for name, file := range map[string]string{
		"messages":     frames(messages),
		"one message":  string(bytes.Join(messages, nil)), // a message is its ResourceSpans, one after the other
		"JSON lines":   objects(t, messages, "\n"),
		"JSON":         "\xef\xbb\xbf\n " + objects(t, messages, ""),
		"many objects": objects(t, messages, "\r\n\t "),
	} {
		t.Run(name, func(t *testing.T) {
			same(t, messages, read(t, file))
			for _, f := range []provider.Format{otlp.New(otlp.FormatOptions{}), otlp.NewJSON(otlp.FormatOptions{MessageSpans: 100})} {
				rows := tabletest.MustRead(t, f, file, provider.ReadOptions{BatchRows: 300})
				require.EqualValues(t, 1118, rows.NumRows())
				same(t, messages, read(t, tabletest.Write(t, f, rows)))
			}
		})
	}
	require.Empty(t, read(t, ""))
	require.Empty(t, read(t, " \n"))
	require.Len(t, read(t, "\x00\x00\x00\x00"), 1)
	require.Len(t, read(t, "\x0a\x00\x0a\x00"), 2)
}

func TestRandomFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var messages [][]byte
		for _, td := range rapid.SliceOfN(otlpgen.Traces(), 1, 3).Draw(t, "messages") {
			m, err := proto.Marshal(td)
			require.NoError(t, err)
			messages = append(messages, m)
		}
		same(t, messages, read(t, frames(messages)))
		same(t, messages, read(t, string(bytes.Join(messages, nil))))
		same(t, messages, read(t, objects(t, messages, "\n")))
	})
}

func TestSniff(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	for _, c := range []struct{ head, want string }{
		{frames(messages), "otlp"},
		{string(messages[0]), "otlp"},
		{objects(t, messages, "\n"), "otlp-json"},
		{`{"resourceSpans"`, "otlp-json"},
		{"{\n \"resourceSpans\": [", "jsonl"},
		{`{"a":1}`, "jsonl"},
		{"\n\n\n\n\n\n\n\n", ""},
		{"\n \n\ta", ""},
		{"\x00\x00\x00\x00", ""},
		{"", ""},
	} {
		f, _ := provider.Registered().Sniff([]byte(c.head[:min(len(c.head), 64)]))
		if want := c.want; f.Name != want && !(want == "jsonl" && f.Name == "") { // which this test does not link
			t.Errorf("%.20q: %q, want %q", c.head, f.Name, want)
		}
	}
	for name, want := range map[string]string{"a.otlp": "otlp", "a.otlp.json": "otlp-json", "A.OTLP.JSONL": "otlp-json"} {
		f, _ := provider.Registered().ByPath(name)
		require.Equal(t, want, f.Name)
	}
}

func TestSchema(t *testing.T) {
	const file = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[
	{"traceId":"000102030405060708090a0b0c0d0e0f","spanId":"0001020304050607","name":"a","kind":2,"startTimeUnixNano":"1","endTimeUnixNano":"3",
	 "attributes":[{"key":"code","value":{"intValue":"5"}},{"key":"list","value":{"arrayValue":{"values":[]}}}]},
	{"traceId":"000102030405060708090a0b0c0d0e0f","spanId":"0001020304050608","parentSpanId":"0001020304050607","startTimeUnixNano":"2",
	 "attributes":[{"key":"code","value":{"stringValue":"x"}}],"status":{}}]}]},{}]}`
	var said tabletest.Notices
	rows := tabletest.MustRead(t, otlp.NewJSON(otlp.FormatOptions{}), file, provider.ReadOptions{Warning: said.Add})
	var got strings.Builder
	for _, f := range rows.Schema().Fields() {
		null := " not null"
		if f.Nullable {
			null = ""
		}
		typ, _ := f.Metadata.GetValue("blockpack.type")
		name, _ := f.Metadata.GetValue("blockpack.name")
		fmt.Fprintln(&got, strings.TrimSpace(fmt.Sprintf("%s: %s%s (%s) %s", f.Name, f.Type, null, typ, name)))
	}
	require.Equal(t, `trace:id: fixed_size_binary[16] not null (bytes)
span:id: fixed_size_binary[8] not null (bytes)
span:parent_id: fixed_size_binary[8] (bytes)
span:name: utf8 not null (string)
span:kind: int64 not null (int64)
span:start: timestamp[ns, tz=UTC] not null (uint64)
span:end: timestamp[ns, tz=UTC] not null (uint64)
span:duration: duration[ns] not null (uint64)
span:status: int64 (int64)
span:attrs_ext: binary (bytes)
resource.service.name: utf8 (string)
span.code: utf8 (string)
span.code#int64: int64 (int64) span.code
`, got.String())
	require.Equal(t, tabletest.Notices{"in: 1 resources without spans are left out"}, said)

	rows = tabletest.MustRead(t, otlp.NewJSON(otlp.FormatOptions{}), file, provider.ReadOptions{Columns: []string{"span.code#int64", "span:name"}})
	require.Equal(t, 2, rows.Schema().NumFields())
	require.EqualValues(t, 2, rows.NumRows())
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"hello", `the file begins with "hello"`},
		{"\x05\x00\x00\x00\x0a\x03\x12\x01", "the file ends after 4 of 5 bytes"},
		{"\x02\x00\x00\x00\x0a\x00\x01", "the file ends in the length"},
		{"\x0a\x02\x12\x00\x0b", "no ResourceSpans begins with 0b"},
		{"\x00\x00\x00\x00\xff\xff\xff\xff", "the limit is 67108864"},
		{`{"resourceSpans":[`, "JSON ends in the middle of a value (message 0/document, offset 0"},
		{"{}\n{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"kind\":\"x\"}]}]}]}", `"x" is no kind of span (message 1/JSON, offset 57`},
		{`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00"}]}]}]}`, "id of 1 bytes, not 16"},
	} {
		_, err := tabletest.Read(t, otlp.New(otlp.FormatOptions{}), tabletest.Input(c.file), provider.ReadOptions{})
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "in in")
	}
	_, err := otlp.New(otlp.FormatOptions{}).Create(t.Context(), &tabletest.Output{}, arrow.NewSchema(tabletest.Fields(t, "a:utf8"), nil), provider.WriteOptions{})
	require.ErrorContains(t, err, `column "a" is none of spans`)
	_, err = otlp.AppendJSON(nil, []byte("\x0a\x03\xa0\x06\x01"))
	require.ErrorContains(t, err, "fields that OTLP does not have, and JSON cannot hold: 1")
}

// FuzzMessages reads any bytes as a file, and what it has as a table.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x0a\x00\x02\x00\x00\x00\x0a\x00"))
	f.Add([]byte("\x0a\x02\x12\x00"))
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"000102030405060708090a0b0c0d0e0f","spanId":"0001020304050607"}]}]}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		var messages [][]byte
		for m, err := range otlp.Messages(bytes.NewReader(file)) {
			if err != nil {
				return
			}
			messages = append(messages, bytes.Clone(m))
		}
		rows, err := tabletest.Read(t, otlp.New(otlp.FormatOptions{}), tabletest.Input(string(file)), provider.ReadOptions{})
		if err != nil {
			return
		}
		n := 0
		for _, m := range messages {
			var td tracev1.TracesData
			if err := proto.Unmarshal(m, &td); err != nil && !strings.Contains(err.Error(), "UTF-8") {
				t.Fatal(err)
			}
			n += otlpgen.NumSpans([]*tracev1.TracesData{&td})
		}
		if int(rows.NumRows()) != n && n > 0 {
			t.Fatal(rows.NumRows(), n)
		}
	})
}

// TestInvalidUTF8 keeps strings that are not UTF-8 as bytes, which JSON cannot hold.
func TestInvalidUTF8(t *testing.T) {
	span := "\x0a\x10" + "0123456789abcdef" + "\x12\x08" + "01234567" + "\x2a\x02\xff\xfe" + "\x4a\x07\x0a\x01k\x12\x02\x0a\x00"
	scope := "\x12" + string(rune(len(span))) + span
	resource := "\x12" + string(rune(len(scope))) + scope
	file := "\x0a" + string(rune(len(resource))) + resource
	rows := tabletest.MustRead(t, otlp.New(otlp.FormatOptions{}), file, provider.ReadOptions{})
	name := rows.Schema().Field(rows.Schema().FieldIndices("span:name")[0])
	require.Equal(t, arrow.BINARY, name.Type.ID())
	again := read(t, tabletest.Write(t, otlp.New(otlp.FormatOptions{}), rows))
	require.Len(t, again, 1)
	require.Contains(t, string(again[0]), "\x2a\x02\xff\xfe")
	_, err := otlp.AppendJSON(nil, again[0])
	require.ErrorContains(t, err, "not valid UTF-8, which JSON cannot hold")
}

// TestCutFiles cuts files anywhere. A cut between messages is a shorter file, any other an error.
func TestCutFiles(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")[:1]
	messages = append(messages, otlpgen.Corpus(t, "zipkin_lens.otlp")[2])
	for name, file := range map[string]string{"messages": frames(messages), "one message": string(bytes.Join(messages, nil)), "JSON": objects(t, messages, "\n")} {
		whole := read(t, file)
		for n := 0; n < len(file); n += sweep.Step(97) {
			var got [][]byte
			var err error
			for m, e := range otlp.Messages(strings.NewReader(file[:n])) {
				if err = e; e == nil {
					got = append(got, bytes.Clone(m))
				}
			}
			require.LessOrEqual(t, len(got), len(whole), name)
			for i := range got {
				require.Equal(t, whole[i], got[i], name)
			}
			if len(got) == len(whole) && name != "JSON" {
				t.Fatal(name, n, "nothing is missing")
			}
			if err != nil && !errors.Is(err, fault.ErrCorrupt) {
				t.Fatal(name, n, err)
			}
		}
	}
}

// TestHostileLengths takes no memory for bytes that do not come.
func TestHostileLengths(t *testing.T) {
	for _, file := range []string{"\xff\xff\xff\x03\x0a\x05\x12\x03\x0a\x01a", "\x0a\x80\x80\x80\x10\x0a\x02\x0a\x00"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, err := range otlp.Messages(strings.NewReader(file)) {
			require.ErrorIs(t, err, fault.ErrCorrupt)
		}
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20))
	}
}

// Messages that a sink takes as they are make the bytes that their rows make; rows come of blocks that are kept, or are parsed again.
func TestMessagesOrRows(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	file := []byte(frames(messages))
	f := otlp.New(otlp.FormatOptions{})
	written := func(blockBytes int64, o provider.ReadOptions) []byte {
		var out bytes.Buffer
		w, err := blockpack.NewWriter(t.Context(), &out, blockpack.WriterOptions{BlockBytes: blockBytes})
		require.NoError(t, err)
		var next func(context.Context) ([]byte, error)
		passed := o.Messages != nil
		if passed {
			o.Messages = func(f func(context.Context) ([]byte, error)) { next = f }
		}
		src, err := f.Open(t.Context(), provider.Input{Name: "a", At: bytes.NewReader(file), Size: int64(len(file))}, o)
		require.NoError(t, err)
		for passed {
			m, err := next(t.Context())
			require.NoError(t, err)
			if m == nil {
				break
			}
			require.NoError(t, w.WriteOTLP(t.Context(), m))
		}
		rows := int64(0)
		for b, err := range provider.Batches(t.Context(), src) {
			require.NoError(t, err)
			rows += b.NumRows()
			require.NoError(t, w.Write(t.Context(), b))
		}
		require.Equal(t, passed, rows == 0)
		require.NoError(t, src.Close())
		require.NoError(t, w.Close(t.Context()))
		return out.Bytes()
	}
	for _, blockBytes := range []int64{0, 20_000} {
		want := written(blockBytes, provider.ReadOptions{Messages: func(func(context.Context) ([]byte, error)) {}})
		require.True(t, bytes.Equal(want, written(blockBytes, provider.ReadOptions{})), "kept, %d", blockBytes)
		require.True(t, bytes.Equal(want, written(blockBytes, provider.ReadOptions{BatchRows: 100})), "batches of 100, %d", blockBytes)
		otlp.SetMaxKept(t, 1000)
		require.True(t, bytes.Equal(want, written(blockBytes, provider.ReadOptions{BatchRows: 100})), "parsed again, %d", blockBytes)
		otlp.SetMaxKept(t, 64<<20)
	}
}
