package onpair

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// texts are n strings of words.
func texts(n int) (data []byte, offsets []int64) {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := []string{"the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "anticonstitutionally", "\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"}
	offsets = []int64{0}
	for i := range n {
		for range rnd.IntN(12) {
			data = fmt.Appendf(data, "%s ", words[rnd.IntN(len(words))])
		}
		if i%3 == 0 {
			data = fmt.Append(data, i)
		}
		offsets = append(offsets, int64(len(data)))
	}
	return data, offsets
}

// encoded is strings, their codes, and a decoder of these.
type encoded struct {
	codes   []uint16
	counts  []uint32
	tokens  int
	decoder Decoder
}

func encode(t testing.TB, d *Dictionary, data []byte, offsets []int64) (c encoded) {
	var e Encoder
	c.counts = make([]uint32, len(offsets)-1)
	c.codes, d = e.Encode(nil, c.counts, d, data, offsets)
	require.NotNil(t, d)
	c.tokens = d.Len()
	require.NoError(t, c.decoder.Reset(d.AppendHeads(nil), d.AppendBytes(nil)))
	require.NoError(t, c.decoder.Check(c.codes))
	return c
}

// What is encoded decodes, string by string, whatever room there is.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 1000, 5000} {
		data, offsets := texts(n)
		d := new(Encoder).Train(data, offsets, false)
		c := encode(t, d, data, offsets)
		for _, room := range []int{0, 1, 15, 16, 17, 64, 1 << 16} {
			dst, ends := make([]byte, len(data), len(data)+room), make([]uint32, len(c.codes))
			at, err := c.decoder.Decode(dst, 0, c.codes, ends)
			require.NoError(t, err)
			require.Equal(t, len(data), at)
			require.True(t, bytes.Equal(data, dst))
			require.Equal(t, len(data), c.decoder.Len(c.codes))
			codes := 0
			for i, count := range c.counts {
				if codes += int(count); count > 0 {
					require.EqualValues(t, offsets[i+1], ends[codes-1])
				} else {
					require.Equal(t, offsets[i], offsets[i+1])
				}
			}
		}
	}
}

// Each code is the longest token that the rest of the string begins with, as long as no two tokens had the same hash.
func TestLongest(t *testing.T) {
	data, offsets := texts(500)
	d := new(Encoder).Train(data, offsets, false)
	byText := map[string]uint16{}
	for i, tok := range d.tokens {
		b := tok.bytes()
		byText[string(b[:tok.length])] = uint16(i)
	}
	require.Len(t, byText, d.Len(), "tokens differ")
	c := encode(t, d, data, offsets)
	var got []uint16
	for i := range offsets[1:] {
		for rest := data[offsets[i]:offsets[i+1]]; len(rest) > 0; {
			n := min(MaxTokenLen, len(rest))
			for byText[string(rest[:n])] == 0 && string(rest[:n]) != text(d, 0) {
				n--
			}
			got = append(got, byText[string(rest[:n])])
			rest = rest[n:]
		}
	}
	require.Equal(t, got, c.codes)
}

func text(d *Dictionary, code int) string {
	b := d.tokens[code].bytes()
	return string(b[:d.tokens[code].length])
}

// Bytes that have no token get one.
func TestMoreBytes(t *testing.T) {
	data, offsets := texts(100)
	d := new(Encoder).Train(data, offsets, false)
	more := append(bytes.Clone(data), "\x01\x02\x01"...)
	ends := append(offsets, int64(len(more)))
	c := encode(t, d, more, ends)
	require.Equal(t, d.Len()+2, c.tokens)
	dst := make([]byte, len(more))
	_, err := c.decoder.Decode(dst, 0, c.codes, make([]uint32, len(c.codes)))
	require.NoError(t, err)
	require.True(t, bytes.Equal(more, dst))

	var e Encoder
	for range 2 { // also with an encoder that had them before
		counts := make([]uint32, len(ends)-1)
		codes, all := e.Encode(nil, counts, d, more, ends)
		require.Equal(t, c.codes, codes)
		require.Equal(t, c.tokens, all.Len())
		_, all = e.Encode(nil, counts, d, data, offsets)
		require.Same(t, d, all)
	}
}

// The same strings give the same dictionary, whatever the encoder was used for before.
func TestTrainIsDeterministic(t *testing.T) {
	data, offsets := texts(3000)
	var used Encoder
	before, ends := texts(200)
	used.Train(before, ends, false)
	require.Equal(t, new(Encoder).Train(data, offsets, false), used.Train(data, offsets, false))
	for seed := range uint64(20) { // whose long tokens collide
		data, offsets := syllables(seed)
		require.True(t, slices.Equal(new(Encoder).Train(data, offsets, false).tokens, used.Train(data, offsets, false).tokens), "%d", seed)
	}
}

// syllables are strings of words that each seed has others of.
func syllables(seed uint64) (data []byte, offsets []int64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	var words [200]string
	for i := range words {
		for range 2 + rnd.IntN(6) {
			words[i] += string("bcdfghklmnprst"[rnd.IntN(14)]) + string("aeiou"[rnd.IntN(5)])
		}
	}
	offsets = []int64{0}
	for range 2000 {
		for range rnd.IntN(12) {
			data = fmt.Appendf(data, "%s ", words[rnd.IntN(len(words))])
		}
		offsets = append(offsets, int64(len(data)))
	}
	return data, offsets
}

// With frequent tokens first, the same strings have codes of the same tokens.
func TestByFrequency(t *testing.T) {
	data, offsets := texts(5000)
	d := new(Encoder).Train(data, offsets, false)
	var before, after []string
	counts := make([]uint32, len(offsets)-1)
	codes, d := new(Encoder).Encode(nil, counts, d, data, offsets)
	for _, c := range codes {
		before = append(before, text(d, int(c)))
	}
	d = d.ByFrequency(codes)
	often := make([]int, d.Len())
	for _, c := range codes {
		after = append(after, text(d, int(c)))
		often[c]++
	}
	require.Equal(t, before, after)
	for i := range often[1:] {
		require.LessOrEqual(t, often[i+1], 2*max(often[i], 1))
	}
	var decoder Decoder
	require.NoError(t, decoder.Reset(d.AppendHeads(nil), d.AppendBytes(nil)))
	require.Equal(t, len(data), decoder.Len(codes))
}

// There is more to texts than their characters, but not to random strings.
func TestPays(t *testing.T) {
	data, offsets := texts(5000)
	require.True(t, new(Encoder).Train(data, offsets, false).Pays())
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = "0123456789abcdef"[rnd.IntN(16)]
	}
	require.False(t, new(Encoder).Train(data, offsets, false).Pays())
}

// Dictionaries that no writer makes, and codes that are none, are errors.
// A guess is near what codes of a dictionary that is learnt from far more take.
func TestGuess(t *testing.T) {
	for _, n := range []int{20_000, 60_000} {
		data, offsets := texts(n)
		for _, c := range []struct {
			data    []byte
			offsets []int64
		}{{data, offsets}, {data[offsets[n/2]:], offsetsFrom(offsets[n/2:])}} {
			var e Encoder
			d := e.Train(c.data, c.offsets, false)
			codes, all := e.Encode(nil, make([]uint32, len(c.offsets)-1), d, c.data, c.offsets)
			size := float64(len(codes)*bits.Len(uint(all.Len()-1))) / 8
			require.InEpsilon(t, size, e.Guess(c.data, c.offsets), 0.25)
		}
	}
	require.Zero(t, new(Encoder).Guess(nil, []int64{0}))
	require.Zero(t, new(Encoder).Guess(nil, make([]int64, 1000)))
}

// offsetsFrom is offsets that begin at 0.
func offsetsFrom(offsets []int64) []int64 {
	from := slices.Clone(offsets)
	for i := range from {
		from[i] -= offsets[0]
	}
	return from
}

func TestCorrupt(t *testing.T) {
	var d Decoder
	for _, c := range []struct{ heads, rest string }{
		{"\x00", ""}, {"\x00", "ab"}, {"\x01", "a"}, {"\x00\x12", "ab"}, {"\x00\x11\x22", "abc\x00"}, {"\x00\x11", "a"},
	} {
		require.ErrorIs(t, d.Reset([]byte(c.heads), []byte(c.rest)), fault.ErrCorrupt, "%q", c)
	}
	require.NoError(t, d.Reset([]byte{0x00, 0x21, 0x22}, []byte("abcd")))
	require.NoError(t, d.Check([]uint16{0, 1, 2, 2, 1}))
	require.ErrorIs(t, d.Check([]uint16{0, 1, 2, 2, 3}), fault.ErrCorrupt)
	require.ErrorIs(t, d.Check([]uint16{0, 0xffff, 2, 2}), fault.ErrCorrupt)
	for i := range 9 {
		for _, c := range []uint16{3, 0x7fff, 0x8000, 0xffff} {
			codes := make([]uint16, 9)
			require.NoError(t, d.Check(codes))
			codes[i] = c
			require.ErrorIs(t, d.Check(codes), fault.ErrCorrupt, "%x at %d", c, i)
		}
	}
	ends := make([]uint32, 3)
	for _, room := range []int{0, 3, 100} {
		for size := range 8 {
			dst := make([]byte, size, size+room)
			at, err := d.Decode(dst, 0, []uint16{2, 0, 1}, ends)
			if size < 7 {
				require.ErrorIs(t, err, fault.ErrCorrupt)
			} else {
				require.NoError(t, err)
				require.Equal(t, "abdaabc", string(dst))
				require.Equal(t, 7, at)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data, offsets := texts(10_000)
	c := encode(b, new(Encoder).Train(data, offsets, false), data, offsets)
	dst, ends := make([]byte, len(data), len(data)+MaxTokenLen), make([]uint32, len(c.codes))
	microbench.Output(b, len(data))
	for b.Loop() {
		if _, err := c.decoder.Decode(dst, 0, c.codes, ends); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	data, offsets := texts(10_000)
	var e Encoder
	d, counts := e.Train(data, offsets, false), make([]uint32, len(offsets)-1)
	var codes []uint16
	microbench.Output(b, len(data))
	for b.Loop() {
		codes, _ = e.Encode(codes[:0], counts, d, data, offsets)
	}
}

func BenchmarkTrain(b *testing.B) {
	data, offsets := texts(10_000)
	var e Encoder
	microbench.Output(b, len(data))
	for b.Loop() {
		e.Train(data, offsets, false)
	}
}

// FuzzDecode decodes any codes by any dictionary.
func FuzzDecode(f *testing.F) {
	data, offsets := texts(20)
	d := new(Encoder).Train(data, offsets, false)
	f.Add(d.AppendHeads(nil), d.AppendBytes(nil), []byte("\x00\x00\x01\x00"), uint16(20))
	f.Fuzz(func(t *testing.T, heads, rest, packed []byte, size uint16) {
		var d Decoder
		if d.Reset(heads, rest) != nil {
			return
		}
		codes := make([]uint16, len(packed)/2)
		for i := range codes {
			codes[i] = binary.LittleEndian.Uint16(packed[2*i:])
		}
		if d.Check(codes) != nil {
			return
		}
		n := d.Len(codes)
		want := make([]byte, n)
		ends := make([]uint32, len(codes))
		at, err := d.Decode(want, 0, codes, ends)
		require.NoError(t, err)
		require.Equal(t, n, at)
		mem := bytes.Repeat([]byte{0xa5}, int(size)+1)
		if _, err := d.Decode(mem[:size:size], 0, codes, ends); err == nil {
			require.LessOrEqual(t, n, int(size))
			require.True(t, bytes.HasPrefix(mem, want))
		}
		require.EqualValues(t, 0xa5, mem[size], "written behind the end")
		if n > 0 {
			needle := want[n/3 : n-n/3]
			var marks Marks
			place := len(needle) / 2
			d.Cover(&marks, needle, place)
			found := false
			for i := marks.Next(codes, 0); i < len(codes); i = marks.Next(codes, i+1) {
				found = found || d.Contains(codes, i, needle, place)
			}
			require.True(t, found, "%q in %q", needle, want)
			for _, with := range [][]byte{want, want[:n/2+1]} {
				d.Begin(&marks, with, len(with) == n)
				require.True(t, marks[codes[0]] != 0 && d.Begins(codes, with, len(with) == n), "%q begins %q", with, want)
			}
		}
	})
}

// FuzzRoundTrip writes strings with the tokens of others.
func FuzzRoundTrip(f *testing.F) {
	data, _ := texts(40)
	f.Add(data, data[:50], uint16(9))
	f.Fuzz(func(t *testing.T, learnt, data []byte, every uint16) {
		d := new(Encoder).Train(learnt, []int64{0, int64(len(learnt))}, false)
		offsets := []int64{0}
		for at := 0; at < len(data); {
			at = min(at+int(every)+1, len(data))
			offsets = append(offsets, int64(at))
		}
		c := encode(t, d, data, offsets)
		dst := make([]byte, len(data))
		_, err := c.decoder.Decode(dst, 0, c.codes, make([]uint32, len(c.codes)))
		require.NoError(t, err)
		require.Equal(t, data, dst)
	})
}
