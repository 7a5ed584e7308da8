package shard_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// noStatement are the fields of messages that make no statement about data. All other fields are statements.
var noStatement = []string{
	"target_fpp",                  // the target of the writer
	"hash_algorithm", "hash_seed", // other hashes are unknown and reported as not checked
	"field_list_ref", "properties_ref", // Join sets references
	"buffer", "block_map", "schema_ref", //
	"stripe_list_ref", "url_list_ref", //
	"indexes_ref", "inline_block_map", //
	"buffer_id", "packed_group_index", // of packed groups, which this version does not read
	"standard_properties", "custom_properties", "indexes",
}

// message is a message of a shard that makes statements.
type message struct {
	name string
	of   func(p *Parts) proto.Message
	put  func(p *Parts, m proto.Message) // stores the changed message, if needed
}

func messages(p *Parts) []message {
	out := []message{{name: "directory", of: func(p *Parts) proto.Message { return p.Directory }}}
	for i := range p.Fields {
		out = append(out, message{
			name: fmt.Sprintf("field %d", i),
			of: func(p *Parts) proto.Message {
				m := &shardpb.FieldDescriptor{}
				if err := proto.Unmarshal(p.Fields[i], m); err != nil {
					panic(err)
				}
				return m
			},
			put: func(p *Parts, m proto.Message) {
				b, err := proto.Marshal(m)
				if err != nil {
					panic(err)
				}
				p.Fields[i] = b
			},
		})
	}
	for s, st := range p.Stripes {
		out = append(out, message{name: fmt.Sprintf("stripe %d", s), of: func(p *Parts) proto.Message { return p.Stripes[s].Directory }})
		for i, f := range st.Fields {
			out = append(out, message{name: fmt.Sprintf("stripe %d field %d", s, i), of: func(p *Parts) proto.Message { return p.Stripes[s].Fields[i].Desc.Field }})
			for b := range f.Buffers {
				out = append(out, message{name: fmt.Sprintf("stripe %d field %d buffer %d", s, i, b), of: func(p *Parts) proto.Message { return p.Stripes[s].Fields[i].Buffers[b].Desc }})
			}
		}
	}
	return out
}

// statement is a scalar of a message, with a way to change it.
type statement struct {
	path   string
	change func()
}

// statements returns all statements of a message.
func statements(m protoreflect.Message, path string) []statement {
	var out []statement
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := path + "." + string(fd.Name())
		switch {
		case slices.Contains(noStatement, string(fd.Name())) || fd.IsList():
		case fd.Message() != nil:
			out = append(out, statements(v.Message(), name)...)
		default:
			for i, other := range liesAbout(fd, v) {
				out = append(out, statement{fmt.Sprintf("%s#%d", name, i), func() { m.Set(fd, other) }})
			}
		}
		return true
	})
	slices.SortFunc(out, func(a, b statement) int { return strings.Compare(a.path, b.path) })
	return out
}

func liesAbout(fd protoreflect.FieldDescriptor, v protoreflect.Value) []protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return []protoreflect.Value{protoreflect.ValueOfBool(!v.Bool())}
	case protoreflect.StringKind:
		s := []rune(v.String())
		if len(s) == 0 {
			return []protoreflect.Value{protoreflect.ValueOfString("x")}
		}
		up, down := slices.Clone(s), slices.Clone(s)
		up[0]++
		down[0]--
		return []protoreflect.Value{protoreflect.ValueOfString(string(up)), protoreflect.ValueOfString(string(down))}
	case protoreflect.BytesKind:
		b := slices.Clone(v.Bytes())
		for i := range b {
			b[i] ^= 0xff
		}
		return []protoreflect.Value{protoreflect.ValueOfBytes(b)}
	case protoreflect.DoubleKind:
		return []protoreflect.Value{protoreflect.ValueOfFloat64(v.Float() + 1), protoreflect.ValueOfFloat64(v.Float() - 1)}
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return []protoreflect.Value{protoreflect.ValueOfInt64(v.Int() + 1), protoreflect.ValueOfInt64(v.Int() - 1)}
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return []protoreflect.Value{protoreflect.ValueOfUint64(v.Uint() + 1), protoreflect.ValueOfUint64(v.Uint() - 1)}
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return []protoreflect.Value{protoreflect.ValueOfUint32(uint32(v.Uint()) + 1)}
	}
	return nil
}

// TestEveryLieIsFound changes every number, string and boolean of a shard's descriptors and directories, one at a
// time, with valid checksums. Verify must find each change.
func TestEveryLieIsFound(t *testing.T) {
	all := map[string]int64{}
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		t.Run(e.String(), func(t *testing.T) {
			r := everyLie(t, statedShard(t, e))
			for _, c := range r.Checked {
				all[c.Name] += c.N
			}
		})
	}
	for _, name := range []string{"filter", "sketch", "constant", "range index", "dictionary"} {
		require.NotZero(t, all[name], "%s of %v", name, all)
	}
}

func everyLie(t *testing.T, root []byte) *provider.Report {
	parts, err := Split(root)
	require.NoError(t, err)
	sound, _ := verifyParts(t, parts)
	require.Empty(t, sound.Problems)
	require.Empty(t, sound.Notes)
	tried, step := 0, 3
	if sweep.All() {
		step = 1
	}
	for _, m := range messages(parts) {
		for k := 0; ; k += step {
			p, err := Split(root)
			require.NoError(t, err)
			msg := m.of(p)
			all := statements(msg.ProtoReflect(), m.name)
			if k >= len(all) {
				break
			}
			all[k].change()
			if m.put != nil {
				m.put(p, msg)
			}
			r, same := verifyParts(t, p)
			if same == string(root) {
				continue // Join recomputes it
			}
			tried++
			if len(r.Problems) == 0 && !onlyNoted(all[k].path, r) && !trueAnyway(all[k].path) {
				t.Errorf("%s: a lie is not found (%d not checked)", all[k].path, r.Unchecked)
			}
			for _, f := range append(r.Problems, r.Notes...) {
				require.NotContains(t, f.Error(), "<nil>")
				require.NotContains(t, f.Error(), "_value:")
			}
		}
	}
	t.Logf("%d lies", tried)
	require.Greater(t, tried*step, 500)
	return sound
}

// onlyNoted tells whether a false statement is only noted, because no reader uses it or because it cannot be
// checked.
func onlyNoted(path string, r *provider.Report) bool {
	for _, name := range []string{"is_estimate", "embedded_presence", "embedded_offsets"} {
		if strings.Contains(path, name) {
			return len(r.Notes) > 0
		}
	}
	return false
}

// trueAnyway tells whether a changed statement is still true: an exclusive bound, that of column 4, that was moved
// away from the values.
func trueAnyway(path string) bool {
	return strings.Contains(path, "field 4.range_stats.min_value.string_value#1") || strings.Contains(path, "field 4.range_stats.max_value.string_value#0")
}

func verifyParts(t *testing.T, p *Parts) (*provider.Report, string) {
	root := p.Join()
	Mend(root)
	r, err := shard.Verify(context.Background(), Location, shard.OpenOptions{Store: OneFile(root)}, provider.VerifyOptions{Parallelism: 1})
	require.NoError(t, err)
	return r, string(root)
}

// statedShard has columns of all types with statistics, in two stripes.
func statedShard(t *testing.T, e edition.Edition) []byte {
	null := func(name string, dt arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: dt, Nullable: true}
	}
	s := arrow.NewSchema([]arrow.Field{
		null("int", arrow.PrimitiveTypes.Int64), null("unsigned", arrow.PrimitiveTypes.Uint32), null("float", arrow.PrimitiveTypes.Float64),
		null("text", arrow.BinaryTypes.String), null("long", arrow.BinaryTypes.String), null("bytes", arrow.BinaryTypes.Binary),
		null("bool", arrow.FixedWidthTypes.Boolean), null("decimal", &arrow.Decimal128Type{Precision: 20, Scale: 2}),
		null("time", arrow.FixedWidthTypes.Timestamp_us), null("list", arrow.ListOf(arrow.PrimitiveTypes.Int32)),
		null("constant", arrow.PrimitiveTypes.Int16), null("zero", arrow.PrimitiveTypes.Float64), null("same", arrow.BinaryTypes.String),
		null("code", arrow.BinaryTypes.String),
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	const rows = 400
	for i := range rows {
		if i%9 == 4 {
			for c := range 10 {
				b.Field(c).AppendNull()
			}
		} else {
			b.Field(0).(*array.Int64Builder).Append(int64(i*i*7919) - 5000)
			b.Field(1).(*array.Uint32Builder).Append(uint32(i * 77))
			b.Field(2).(*array.Float64Builder).Append(float64(i-30) / 8)
			b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("é text of number %d", i*i))
			b.Field(4).(*array.StringBuilder).Append(strings.Repeat(fmt.Sprint("abc", i), 30))
			b.Field(5).(*array.BinaryBuilder).Append([]byte{byte(i), 0xff, byte(i * i)})
			b.Field(6).(*array.BooleanBuilder).Append(i%3 == 0)
			b.Field(7).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i*i - 400)))
			b.Field(8).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000_000 + int64(i)*1_000_003))
			b.Field(9).(*array.ListBuilder).Append(true)
			for k := range i % 4 {
				b.Field(9).(*array.ListBuilder).ValueBuilder().(*array.Int32Builder).Append(int32(i * k))
			}
		}
		b.Field(10).(*array.Int16Builder).Append(7)
		b.Field(11).(*array.Float64Builder).Append(1.5)
		b.Field(12).(*array.StringBuilder).Append("always")
		b.Field(13).(*array.StringBuilder).Append(fmt.Sprintf("the code of number %d", i*i%5))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	k := NewKind(t, "stated", batch, shard.WriterOptions{Edition: e, StripeRows: 300})
	p, err := Split(k.Root)
	require.NoError(t, err)
	var codes [][]byte
	for i := range rows {
		codes = append(codes, []byte(batch.Column(13).ValueStr(i)))
	}
	code := len(p.Fields) - 1
	p.Stripes[0].Fields[code].SetDictionary(schema.String, 0, codes[:300])
	p.Stripes[1].Fields[code].SetDictionary(schema.String, 0, codes[300:])
	root := p.Join()
	Mend(root)
	return root
}
