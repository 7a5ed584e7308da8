package otlpgen

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// Corpus are the encoded messages of a file of real traces in the folder corpus/traces of the shared test data: "hotrod.otlp.zst",
// 148,770 spans, or "zipkin_lens.otlp", 1,118 spans.
// The test is skipped without this folder.
func Corpus(t testing.TB, name string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".zst") {
		d, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if data, err = d.DecodeAll(data, nil); err != nil {
			t.Fatal(err)
		}
	}
	var out [][]byte
	for len(data) > 0 {
		n := int(binary.LittleEndian.Uint32(data))
		out = append(out, data[4:4+n:4+n])
		data = data[4+n:]
	}
	return out
}

// Parse decodes messages.
func Parse(t testing.TB, messages [][]byte) []*tracev1.TracesData {
	t.Helper()
	out := make([]*tracev1.TracesData, len(messages))
	for i, m := range messages {
		out[i] = &tracev1.TracesData{}
		if err := proto.Unmarshal(m, out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
