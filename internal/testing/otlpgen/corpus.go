package otlpgen

import (
	"path/filepath"
	"testing"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/testing/tracegen"
)

// Corpus are the encoded messages of a file of real traces in the folder corpus/traces of the shared test data: "hotrod.otlp.zst",
// 148,770 spans, or "zipkin_lens.otlp", 1,118 spans.
// The test is skipped without this folder.
func Corpus(t testing.TB, name string) [][]byte {
	t.Helper()
	messages, err := tracegen.Load(filepath.Join(testdata.Shared(t), "corpus", "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	return messages
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
