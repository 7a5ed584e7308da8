package search

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// Needles are found where package bytes finds them, in texts of few different bytes and any length.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.SampledFrom([]byte("aab\x00\xff")), 0, 300).Draw(t, "data")
		text := rapid.SliceOfN(rapid.SampledFrom([]byte("aab\x00\xff")), 0, 20).Draw(t, "text")
		if n := len(data); n > 0 && rapid.Bool().Draw(t, "from data") {
			at := rapid.IntRange(0, n).Draw(t, "at")
			text = data[at:min(at+rapid.IntRange(0, 70).Draw(t, "length"), n)]
		}
		n := New(text)
		require.Equal(t, bytes.Index(data, text), n.Index(data[:len(data):len(data)]))
	})
}

// Values that contain a needle are found, and none that it only begins in.
func TestContaining(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]byte("ab")), 0, 40), 0, 100).Draw(t, "values")
		text := rapid.SliceOfN(rapid.SampledFrom([]byte("ab")), 1, 6).Draw(t, "text")
		data := rapid.SliceOfN(rapid.SampledFrom([]byte("ab")), 0, 10).Draw(t, "before")
		from := len(data)
		var ends []int32
		dst, want := make([]uint64, 2), make([]uint64, 2)
		for i, v := range values {
			data = append(data, v...)
			ends = append(ends, int32(len(data)))
			if bytes.Contains(v, text) {
				want[i/64] |= 1 << (i % 64)
			}
		}
		n := New(text)
		Containing(dst, data, from, ends, &n)
		require.Equal(t, want, dst)
		bits := make([]byte, 16)
		Containing(bits, data, from, ends, &n)
		for i, w := range want {
			require.Equal(t, w, binary.LittleEndian.Uint64(bits[8*i:]))
		}
	})
}

// Starts of texts are found where one of them begins, and nowhere else if they have three bytes and a group each.
func TestStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]byte("abq\x00\xff\x80"))
		data := rapid.SliceOfN(alphabet, 0, 300).Draw(t, "data")
		texts := rapid.SliceOfN(rapid.SliceOfN(alphabet, 1, 5), 1, 8).Draw(t, "texts")
		var s Starts
		for i, text := range texts {
			s.Add(i, text)
		}
		at, end := rapid.IntRange(0, len(data)).Draw(t, "at"), len(data)
		for {
			place, groups := s.Next(data[:end:end], at)
			for i := at; i <= place && i < end; i++ {
				for k, text := range texts {
					n := min(len(text), StartBytes, end-i)
					begins := string(data[i:i+n]) == string(text[:n])
					require.Equal(t, begins && i == place, i == place && groups>>k&1 != 0, "text %d at %d", k, i)
					require.False(t, begins && i < place)
				}
			}
			if place == end {
				return
			}
			at = place + 1
		}
	})
}

func BenchmarkStarts(b *testing.B) {
	data := bytes.Repeat([]byte("a line of a log without what is looked for; "), 1<<10)
	var s Starts
	for i, text := range []string{"fatal", "panic", "Killed", "segfault", "refused"} {
		s.Add(i, []byte(text))
	}
	microbench.Output(b, len(data))
	for b.Loop() {
		s.Next(data, 0)
	}
}

func BenchmarkIndex(b *testing.B) {
	data := make([]byte, 64<<10)
	for i, x := 0, uint64(1); i < len(data); i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		data[i] = "0123456789abcdef"[x>>60]
	}
	text := []byte("7ce27637")
	for name, index := range map[string]func() int{
		"bytes": func() int { return bytes.Index(data, text) },
		"probe": func() int { n := New(text); return n.Index(data) },
	} {
		b.Run(name, func(b *testing.B) {
			microbench.Output(b, len(data))
			for b.Loop() {
				index()
			}
		})
	}
}
