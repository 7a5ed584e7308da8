package shard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/filter"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// valueFile is an artifact of values, which returns references to them.
type valueFile struct {
	url string
	b   []byte
}

func (f *valueFile) add(v *commonpb.AnyValue) *commonpb.AnyValue {
	payload, err := proto.Marshal(v)
	if err != nil {
		panic(err)
	}
	start := len(f.b)
	f.b = container.AppendFrame(f.b, payload)
	return refTo(f.url, start, len(f.b))
}

func refTo(url string, start, end int) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DataRef{DataRef: &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{Start: uint64(start), End: uint64(end)}}}}
}

func number(n int64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_I64Value{I64Value: n}}
}

func listOf(values ...*commonpb.AnyValue) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_ListValue{ListValue: &commonpb.ListValue{Elements: values}}}
}

// shardWith has the options for a shard of marked with a custom property, and with another least value of the ids of the first stripe. Values has the file of values.
func shardWith(t *testing.T, property, least *commonpb.AnyValue, values []byte) shard.OpenOptions {
	p, err := Split(NewKind(t, "refs", marked(), shard.WriterOptions{StripeRows: markedStripe}).Root)
	require.NoError(t, err)
	var m shardpb.ShardProperties
	require.NoError(t, proto.Unmarshal(p.Properties, &m))
	m.CustomProperties = append(m.CustomProperties, &commonpb.NameValuePair{Name: "x", Value: property})
	p.Properties, err = proto.Marshal(&m)
	require.NoError(t, err)
	if least != nil {
		p.Stripes[0].Fields[0].Desc.Field.RangeStats.MinValue = least
	}
	return shard.OpenOptions{Store: Files(map[string][]byte{Location: p.Join(), "mem://x/values": values})}
}

// References to values are followed, those in values, too.
func TestValueReferences(t *testing.T) {
	f := valueFile{url: "values"}
	inner := f.add(number(7))
	inner.GetDataRef().Url = "" // of the artifact that has it
	far := f.add(listOf(inner, number(8), f.add(number(9))))
	least := f.add(number(0))
	o := shardWith(t, far, least, f.b)
	s, err := shard.Open(t.Context(), Location, o)
	require.NoError(t, err)
	defer s.Close()
	p, err := s.Properties(t.Context())
	require.NoError(t, err)
	x, _ := p.Get("x")
	require.Equal(t, []any{int64(7), int64(8), int64(9)}, x)
	n, err := s.Count(t.Context(), filter.Lt(filter.Col("id"), 5))
	require.NoError(t, err)
	require.EqualValues(t, 5, n)
	report, err := shard.Verify(t.Context(), Location, o, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Problems)

	copied := storage.NewMemory()
	require.NoError(t, shard.Pack(t.Context(), "mem://copy", shard.PackOptions{Store: copied}, s))
	c, err := shard.Open(t.Context(), "mem://copy", shard.OpenOptions{Store: copied}) // without the file of values
	require.NoError(t, err)
	defer c.Close()
	p, err = c.Properties(t.Context())
	require.NoError(t, err)
	x, _ = p.Get("x")
	require.Equal(t, []any{int64(7), int64(8), int64(9)}, x)
}

// References that lead nowhere, in a circle, or to too much are errors; those that the policy does not allow stay.
func TestHostileValueReferences(t *testing.T) {
	const start = 16
	f := valueFile{url: "values", b: make([]byte, start)}
	f.add(refTo("values", start, 2000))
	size := len(f.b)
	f.b = f.b[:start]
	self := f.add(refTo("values", start, size))
	both := f.add(listOf(self, self))
	bomb := number(1)
	for range 12 {
		bomb = f.add(listOf(bomb, bomb, bomb, bomb, bomb, bomb))
	}
	many := &commonpb.ListValue{}
	one := f.add(number(1))
	for range 2000 {
		many.Elements = append(many.Elements, one)
	}
	big := f.add(&commonpb.AnyValue{Kind: &commonpb.AnyValue_StringValue{StringValue: strings.Repeat("x", 9<<20)}})
	for name, c := range map[string]struct {
		value *commonpb.AnyValue
		err   error
	}{
		"circle":       {self, shard.ErrLimit},
		"circles":      {both, shard.ErrLimit},
		"many":         {&commonpb.AnyValue{Kind: &commonpb.AnyValue_ListValue{ListValue: many}}, shard.ErrLimit},
		"bomb":         {bomb, shard.ErrLimit},
		"big":          {listOf(big, big), shard.ErrLimit},
		"past the end": {refTo("values", 5, 1<<30), shard.ErrCorrupt},
		"empty":        {refTo("values", 5, 5), shard.ErrCorrupt},
		"backwards":    {refTo("values", 9, 5), shard.ErrCorrupt},
		"no frame":     {refTo("values", start+1, size), shard.ErrCorrupt},
		"outside":      {refTo("../values", 0, size), shard.ErrCorrupt},
	} {
		o := shardWith(t, c.value, nil, f.b)
		s, err := shard.Open(t.Context(), Location, o)
		if err == nil {
			_, err = s.Properties(t.Context())
			require.NoError(t, s.Close())
		}
		require.ErrorIs(t, err, c.err, name)
		report, err := shard.Verify(t.Context(), Location, o, provider.VerifyOptions{})
		require.NoError(t, err)
		require.False(t, report.OK() && len(report.Notes) == 0, name)
	}
	s, err := shard.Open(t.Context(), Location, shardWith(t, refTo("https://elsewhere.example/values", 0, 20), nil, f.b))
	require.NoError(t, err)
	defer s.Close()
	p, err := s.Properties(t.Context())
	require.NoError(t, err)
	x, _ := p.Get("x")
	require.IsType(t, &commonpb.AnyValue{}, x)
}
