package otlp

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// fataler is what tests and rapid tests have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// traits are the facts about the columns of a block.
func fieldsOf(b Block) []spans.Field {
	var out []spans.Field
	for _, c := range b.Columns {
		out = append(out, spans.Field{Name: c.Name, Type: c.Type, Flags: spans.TraitsOf(c)})
	}
	spans.Order(out)
	return out
}

// batchOf is a block as a record batch.
func batchOf(t fataler, b Block, o spans.Options) arrow.RecordBatch {
	t.Helper()
	fields := fieldsOf(b)
	schema := spans.Schema(fields, o)
	columns := make([]arrow.Array, len(fields))
	for i, f := range fields {
		for _, c := range b.Columns {
			if c.Name == f.Name && c.Type == f.Type {
				arr, err := spans.Array(memory.DefaultAllocator, c, b.Rows, schema.Field(i))
				if err != nil {
					t.Fatal(err)
				}
				columns[i] = arr
			}
		}
	}
	return array.NewRecordBatch(schema, columns, int64(b.Rows))
}

func parse(t fataler, messages ...[]byte) []*tracev1.TracesData {
	t.Helper()
	var out []*tracev1.TracesData
	for _, m := range messages {
		td := &tracev1.TracesData{}
		if err := proto.Unmarshal(m, td); err != nil {
			t.Fatal(err)
		}
		out = append(out, td)
	}
	return out
}

// same fails unless messages have the same spans.
func same(t fataler, want, got [][]byte) {
	t.Helper()
	if d := otlpgen.Diff(parse(t, want...), parse(t, got...)); d != "" {
		t.Fatal(d)
	}
}

// checkBlock converts a block to messages: from its columns, and through Arrow with all options.
func checkBlock(t fataler, want [][]byte, blocks []Block, options ...spans.Options) {
	t.Helper()
	var plain [][]byte
	for _, b := range blocks {
		msg, err := newEncoder(b.Columns, b.Rows).Append(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		plain = append(plain, msg)
	}
	same(t, want, plain)
	for _, o := range options {
		var direct, again [][]byte
		builder := NewBuilder(Options{})
		for _, b := range blocks {
			batch := batchOf(t, b, o)
			msg, err := AppendTraces(nil, batch, nil)
			if err != nil {
				t.Fatal(err)
			}
			direct = append(direct, msg)
			if err := builder.AddBatch(batch); err != nil {
				t.Fatal(err)
			}
		}
		same(t, want, direct)
		rebuilt := builder.Finish()
		msg, err := newEncoder(rebuilt.Columns, rebuilt.Rows).Append(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, want, append(again, msg))
	}
}

var arrowOptions = []spans.Options{{}, {BinaryText: true, UintTimes: true}}

func TestRoundTripCorpus(t *testing.T) {
	for _, name := range []string{"zipkin_lens.otlp", "hotrod.otlp.zst"} {
		t.Run(name, func(t *testing.T) {
			messages := otlpgen.Corpus(t, name)
			options := append(arrowOptions, spans.Options{Events: true})
			if !sweep.All() {
				messages = messages[:min(len(messages), 40)]
			}
			b := NewBuilder(Options{})
			var blocks []Block
			for _, m := range messages {
				if err := b.AddTraces(m); err != nil {
					t.Fatal(err)
				}
				if b.Rows() > 10_000 {
					blocks = append(blocks, taken(t, b, 10_000))
				}
			}
			blocks = append(blocks, b.Finish())
			if name == "hotrod.otlp.zst" {
				options = options[3:]
			}
			checkBlock(t, messages, blocks, options...)
		})
	}
}

func TestRoundTripRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBuilder(Options{})
		var messages [][]byte
		var blocks []Block
		for _, td := range rapid.SliceOfN(otlpgen.Traces(), 1, 3).Draw(t, "messages") {
			m, err := proto.Marshal(td)
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, m)
			if err := b.AddTraces(m); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "take") {
				n := rapid.IntRange(0, b.Rows()).Draw(t, "rows")
				blocks = append(blocks, taken(t, b, n))
			}
		}
		blocks = append(blocks, b.Finish())
		checkBlock(t, messages, blocks, arrowOptions...)
	})
}

// TestRows takes rows of a batch in any order.
func TestRows(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	b := NewBuilder(Options{})
	for _, m := range messages {
		if err := b.AddTraces(m); err != nil {
			t.Fatal(err)
		}
	}
	batch := batchOf(t, b.Finish(), spans.Options{})
	rows := rand.New(rand.NewPCG(1, 2)).Perm(int(batch.NumRows()))
	first, err := AppendTraces(nil, batch, rows[:500])
	if err != nil {
		t.Fatal(err)
	}
	second, err := AppendTraces(nil, batch, rows[500:])
	if err != nil {
		t.Fatal(err)
	}
	same(t, messages, [][]byte{first, second})
	if none, err := AppendTraces([]byte("x"), batch, []int{}); err != nil || string(none) != "x" {
		t.Fatal(err, none)
	}
}
