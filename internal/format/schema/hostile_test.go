package schema_test

import (
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	schemafb "github.com/amudai/amudai-go/gen/fbs/schema"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// oneNode builds a schema of one field. Function add sets the slots in taken of its DataType table, or leaves them
// out.
func oneNode(t *testing.T, taken map[int]bool, add func(*flatbuffers.Builder) func()) (schema.Node, error) {
	fb := flatbuffers.NewBuilder(0)
	name, none := fb.CreateString("x"), offsets(fb, nil)
	more := add(fb)
	schemafb.DataTypeStart(fb)
	if more != nil {
		more()
	}
	if !taken[3] {
		schemafb.DataTypeAddFieldName(fb, name)
	}
	if !taken[5] {
		schemafb.DataTypeAddChildren(fb, none)
	}
	dt := schemafb.DataTypeEnd(fb)
	s, err := schema.Parse(finish(fb, []flatbuffers.UOffsetT{topLevel(fb, dt)}, 3))
	require.NoError(t, err)
	return s.Field(0)
}

func TestBrokenNodes(t *testing.T) {
	type build = func(*flatbuffers.Builder) func()
	for _, c := range []struct {
		what   string
		taken  map[int]bool
		add    build
		kind   error // nil: the node is valid
		assert func(schema.Node)
	}{
		{what: "fine", add: func(*flatbuffers.Builder) func() { return nil }, assert: func(n schema.Node) {
			require.Equal(t, schema.Unit, n.Type())
			require.Zero(t, n.FixedSize())
			require.Empty(t, n.Internal())
		}},
		{what: "no name", taken: map[int]bool{3: true}, add: func(*flatbuffers.Builder) func() { return nil }, kind: fault.ErrCorrupt},
		{what: "no children", taken: map[int]bool{5: true}, add: func(*flatbuffers.Builder) func() { return nil }, kind: fault.ErrCorrupt},
		{what: "id", add: func(fb *flatbuffers.Builder) func() { return func() { schemafb.DataTypeAddSchemaId(fb, 3) } }, kind: fault.ErrCorrupt},
		{what: "size", add: func(fb *flatbuffers.Builder) func() {
			return func() { schemafb.DataTypeAddFixedSize(fb, 1<<32) }
		}, kind: fault.ErrCorrupt},
		{what: "name not UTF-8", taken: map[int]bool{3: true}, add: func(fb *flatbuffers.Builder) func() {
			s := fb.CreateString("\xff")
			return func() { schemafb.DataTypeAddFieldName(fb, s) }
		}, kind: fault.ErrCorrupt},
		{what: "name too long", taken: map[int]bool{3: true}, add: func(fb *flatbuffers.Builder) func() {
			s := fb.CreateString(strings.Repeat("x", 1<<17))
			return func() { schemafb.DataTypeAddFieldName(fb, s) }
		}, kind: fault.ErrLimit},
		{what: "children of a number", taken: map[int]bool{5: true}, add: func(fb *flatbuffers.Builder) func() {
			v := offsets(fb, []flatbuffers.UOffsetT{node(fb, "c", 1, schema.Int8)})
			return func() {
				schemafb.DataTypeAddBasicType(fb, schemafb.BasicType(schema.Int8))
				schemafb.DataTypeAddChildren(fb, v)
			}
		}, kind: fault.ErrCorrupt},
		{what: "list without item", add: func(fb *flatbuffers.Builder) func() {
			return func() { schemafb.DataTypeAddBasicType(fb, schemafb.BasicType(schema.List)) }
		}, kind: fault.ErrCorrupt},
		{what: "a type of the future", taken: map[int]bool{5: true}, add: func(fb *flatbuffers.Builder) func() {
			v := offsets(fb, []flatbuffers.UOffsetT{node(fb, "c", 1, schema.Int8)})
			return func() {
				schemafb.DataTypeAddBasicType(fb, 99)
				schemafb.DataTypeAddChildren(fb, v)
			}
		}, assert: func(n schema.Node) {
			require.Equal(t, "basic type 99", n.Type().String())
			require.False(t, n.Type().Known())
			require.Equal(t, 1, n.NumChildren())
		}},
	} {
		n, err := oneNode(t, c.taken, c.add)
		if c.kind != nil {
			require.ErrorIs(t, err, c.kind, c.what)
			continue
		}
		require.NoError(t, err, c.what)
		c.assert(n)
	}
}

// Long texts that many nodes share cost as much as one copy, or are refused.
func TestSharedTextsAreBounded(t *testing.T) {
	fb := flatbuffers.NewBuilder(0)
	long := fb.CreateString(strings.Repeat("n", 60_000))
	none := offsets(fb, nil)
	fields := make([]flatbuffers.UOffsetT, 20_000)
	for i := range fields {
		schemafb.DataTypeStart(fb)
		schemafb.DataTypeAddSchemaId(fb, uint32(i))
		schemafb.DataTypeAddFieldName(fb, long)
		schemafb.DataTypeAddChildren(fb, none)
		fields[i] = topLevel(fb, schemafb.DataTypeEnd(fb))
	}
	s, err := schema.Parse(finish(fb, fields, 20_000))
	require.NoError(t, err)
	err = s.Walk(func(string, schema.Node) error { return nil })
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorIs(t, s.Check(), fault.ErrCorrupt)
}

// An annotation that all nodes share is read once.
func TestSharedAnnotation(t *testing.T) {
	big := &schema.Extended{Label: "L", Properties: []schema.Property{{Name: "p", Data: make([]byte, 100_000)}}}
	fields := make([]schema.Field, 10_000)
	for i := range fields {
		fields[i] = schema.Field{Name: strings.Repeat("f", i%50) + string(rune('a'+i/50%26)) + string(rune('a'+i/1300)), Type: schema.Int8, Extended: big}
	}
	s := build(t, fields)
	budget := s.Budget()
	var first *schema.Extended
	require.NoError(t, s.Walk(func(_ string, n schema.Node) error {
		f, err := budget.Describe(n)
		if first == nil {
			first = f.Extended
		}
		require.Same(t, first, f.Extended)
		return err
	}))
}
