package reflist

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/base/fault"
)

func entries(t require.TestingT, l *List) *commonpb.DataRefArray {
	out := &commonpb.DataRefArray{}
	for i := range l.Len() {
		url, start, end := l.At(i)
		out.Url = append(out.Url, url)
		out.Start = append(out.Start, start)
		out.End = append(out.End, end)
		if sum, ok := l.Sum(i); ok {
			out.Checksum = append(out.Checksum, sum)
		}
	}
	return out
}

func TestEqualsProto(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		want := &commonpb.DataRefArray{}
		urls := rapid.SampledFrom([]string{"", "", "", "a.stripe", "дом", "x"})
		for range n {
			want.Url = append(want.Url, urls.Draw(t, "url"))
			want.Start = append(want.Start, rapid.Uint64().Draw(t, "start"))
			want.End = append(want.End, rapid.Uint64().Draw(t, "end"))
		}
		if n > 0 && rapid.Bool().Draw(t, "checksums") {
			for range n {
				want.Checksum = append(want.Checksum, rapid.Uint32().Draw(t, "checksum"))
			}
		}
		msg, err := proto.Marshal(want)
		require.NoError(t, err)
		require.Equal(t, msg, Append([]byte{}, want.Url, want.Start, want.End, want.Checksum))

		// Unknown fields between URLs, and numbers that are not packed.
		if rapid.Bool().Draw(t, "loose") {
			var loose []byte
			for i := range n {
				loose = protowire.AppendTag(loose, fieldURL, protowire.BytesType)
				loose = protowire.AppendString(loose, want.Url[i])
				loose = protowire.AppendTag(loose, 99, protowire.VarintType)
				loose = protowire.AppendVarint(loose, uint64(i))
				loose = protowire.AppendTag(loose, fieldEnd, protowire.Fixed64Type)
				loose = protowire.AppendFixed64(loose, want.End[i])
			}
			for _, sum := range want.Checksum {
				loose = protowire.AppendTag(loose, fieldSum, protowire.Fixed32Type)
				loose = protowire.AppendFixed32(loose, sum)
			}
			loose = appendPacked(loose, fieldStart, want.Start[:n/2])
			msg = appendPacked(loose, fieldStart, want.Start[n/2:])
		}
		l, err := Parse(msg, 0)
		require.NoError(t, err)
		require.True(t, proto.Equal(want, entries(t, l)))
	})
}

func TestListsOfDifferentLengths(t *testing.T) {
	full := Append(nil, nil, []uint64{1, 2}, []uint64{3, 4}, nil)
	for name, msg := range map[string][]byte{
		"one url short":  full[2:],
		"one start more": append(full[:len(full):len(full)], appendPacked(nil, fieldStart, []uint64{1})...),
		"half a number":  {fieldStart<<3 | 2, 4, 0, 0, 0, 0},
		"url as varint":  {fieldURL << 3, 4},
		"one checksum":   append(full[:len(full):len(full)], protowire.AppendFixed32(protowire.AppendTag(nil, fieldSum, protowire.Fixed32Type), 1)...),
		"cut":            full[:len(full)-1],
		"bad UTF-8":      {fieldURL<<3 | 2, 1, 0xff},
		"field 2^29":     {0x80, 0x80, 0x80, 0x80, 0x10, 0},
	} {
		_, err := Parse(msg, 0)
		require.ErrorIs(t, err, fault.ErrCorrupt, name)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Append(nil, []string{"", "a"}, []uint64{1, 2}, []uint64{3, 4}, nil))
	f.Fuzz(func(t *testing.T, msg []byte) {
		l, err := Parse(msg, 0)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			return
		}
		var want commonpb.DataRefArray
		require.NoError(t, proto.Unmarshal(msg, &want))
		got := entries(t, l)
		require.Equal(t, len(want.Url), l.Len())
		require.Equal(t, want.Url, got.Url)
		require.Equal(t, want.Start, got.Start)
		require.Equal(t, want.End, got.End)
	})
}

func BenchmarkParse50000(b *testing.B) {
	msg := Append(nil, nil, make([]uint64, 50000), make([]uint64, 50000), make([]uint32, 50000))
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		l, err := Parse(msg, 0)
		if err != nil || l.Len() != 50000 {
			b.Fatal(err)
		}
		l.At(49999)
	}
}
