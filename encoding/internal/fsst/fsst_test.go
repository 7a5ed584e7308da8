package fsst

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func train(data []byte) *Table { return new(Trainer).Train(data) }

// newDecoder returns a decoder for a stored table.
func newDecoder(symbols, lengths []byte) (*Decoder, error) {
	d := new(Decoder)
	return d, d.Reset(symbols, lengths)
}

// decoderOf parses a symbol table from its stored bytes.
func decoderOf(t require.TestingT, table *Table) *Decoder {
	stored := table.Append(nil)
	n := table.Len()
	require.Len(t, stored, 9*n)
	d, err := newDecoder(stored[:8*n], stored[8*n:])
	require.NoError(t, err)
	return d
}

func roundTrip(t require.TestingT, table *Table, src []byte) []byte {
	codes := table.Encode(nil, src)
	d := decoderOf(t, table)
	// With different capacities behind the result, and nothing written there.
	for _, room := range []int{0, 7, 100} {
		canary := bytes.Repeat([]byte{0xa5}, 16)
		memory := append(make([]byte, len(src)+room), canary...)
		got := memory[: len(src) : len(src)+room]
		n, err := d.Decode(got, codes)
		require.NoError(t, err)
		require.Equal(t, len(src), n)
		require.True(t, bytes.Equal(src, got))
		require.Equal(t, canary, memory[len(src)+room:])
	}
	return codes
}

// TestKnown checks the example of the format: one symbol, one escape.
func TestKnown(t *testing.T) {
	var table Table
	table.set([]symbol{{0x636261, 3}})
	require.Equal(t, []byte{0, 0, 0xff, 0x58}, roundTrip(t, &table, []byte("abcabcX")))
	require.Equal(t, []byte("abc\x00\x00\x00\x00\x00\x03"), table.Append(nil))
}

func TestNoSymbols(t *testing.T) {
	table := train(nil)
	require.Zero(t, table.Len())
	require.Equal(t, []byte{0xff, 'h', 0xff, 'i'}, roundTrip(t, table, []byte("hi")))
}

// logLines returns lines that resemble those of a log.
func logLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "2024-05-%02d 12:%02d:%02d INFO server[%d]: request %d from 10.0.%d.%d took %d ms\n",
			i/4000%28+1, i/60%60, i%60, 4711+i%3, i*31, i%7, i*17%251, i*i%977)
	}
	return b.Bytes()
}

func TestLogLines(t *testing.T) {
	src := logLines(5000)
	codes := roundTrip(t, train(src), src)
	require.Greater(t, float64(len(src))/float64(len(codes)), 2.0)
}

// TestRoundTrip trains a table on some bytes and encodes others.
func TestRoundTrip(t *testing.T) {
	word := rapid.SampledFrom([]string{"http://", "abc", "abcdefghij", "\x00\x00", "\xff", "de", "a", "0123"})
	text := rapid.Map(rapid.SliceOfN(word, 0, 200), func(words []string) []byte {
		var b []byte
		for _, w := range words {
			b = append(b, w...)
		}
		return b
	})
	data := rapid.OneOf(text, rapid.SliceOfN(rapid.Byte(), 0, 300))
	var trainer Trainer
	rapid.Check(t, func(t *rapid.T) {
		src := data.Draw(t, "trained on")
		table := trainer.Train(src)
		require.Equal(t, train(src).Append(nil), table.Append(nil), "training is deterministic")
		roundTrip(t, table, src)
		roundTrip(t, table, data.Draw(t, "encoded"))
	})
}

func TestNoAllocations(t *testing.T) {
	src := logLines(500)
	var trainer Trainer
	table := trainer.Train(src)
	stored := table.Append(nil)
	codes := table.Encode(nil, src)
	var d Decoder
	require.Zero(t, testing.AllocsPerRun(10, func() {
		trainer.Train(src)
		codes = table.Encode(codes[:0], src)
		if d.Reset(stored[:8*table.Len()], stored[8*table.Len():]) != nil {
			t.Fail()
		}
		if _, err := d.Decode(src, codes); err != nil {
			t.Fail()
		}
	}))
}

func TestRefused(t *testing.T) {
	_, err := newDecoder(make([]byte, 8), nil)
	require.Error(t, err)
	_, err = newDecoder(make([]byte, 8), []byte{0})
	require.Error(t, err)
	_, err = newDecoder(make([]byte, 8), []byte{9})
	require.Error(t, err)
	_, err = newDecoder(make([]byte, 8*256), bytes.Repeat([]byte{1}, 256))
	require.Error(t, err)

	d, err := newDecoder([]byte("abc\x00\x00\x00\x00\x00"), []byte{3})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		n   int
		src []byte
	}{
		"too short":          {7, []byte{0, 0}},
		"too long":           {5, []byte{0, 0}},
		"escape at the end":  {3, []byte{0, 255}},
		"unknown code":       {3, []byte{0, 1}},
		"unknown code early": {24, []byte{0, 1, 0, 0, 0, 0, 0, 0, 0}},
	} {
		for _, room := range []int{0, 200} {
			_, err := d.Decode(make([]byte, c.n, c.n+room), c.src)
			require.Error(t, err, name)
		}
	}
}

// FuzzDecode decodes arbitrary streams with arbitrary tables.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("abc\x00\x00\x00\x00\x00"), []byte{3}, []byte{0, 0, 255, 'X'}, uint16(7), uint8(0))
	f.Add([]byte("abc\x00\x00\x00\x00\x00"), []byte{3}, bytes.Repeat([]byte{0}, 40), uint16(120), uint8(200))
	f.Fuzz(func(t *testing.T, symbols, lengths, src []byte, n uint16, room uint8) {
		d, err := newDecoder(symbols, lengths)
		if err != nil {
			return
		}
		dst := make([]byte, int(n), int(n)+int(room))
		got, err := d.Decode(dst, src)
		if err != nil {
			return
		}
		require.Equal(t, int(n), got)
		want := make([]byte, n)
		_, err = d.decodeSlow(want, 0, src)
		require.NoError(t, err)
		require.Equal(t, want, dst)
	})
}

// FuzzRoundTrip encodes arbitrary bytes with a table of other bytes.
func FuzzRoundTrip(f *testing.F) {
	f.Add(logLines(20), logLines(5))
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaa"), []byte("\x00aaaaaaaaaaaaaaaa\x00"))
	var trainer Trainer
	f.Fuzz(func(t *testing.T, data, src []byte) {
		roundTrip(t, trainer.Train(data), src)
	})
}

// A clone keeps its symbols when the trainer is used again.
func TestClone(t *testing.T) {
	var trainer Trainer
	first := bytes.Repeat([]byte("abcabcabd"), 1000)
	table := trainer.Train(first).Clone()
	want := table.Append(nil)
	trainer.Train(bytes.Repeat([]byte("xyzzyx"), 1000))
	require.Equal(t, want, table.Append(nil))
}

// TestCursor decodes parts of a stream in random order, and compares them with the whole stream.
func TestCursor(t *testing.T) {
	src := append(logLines(200), "\xf1\xf2\xf3 rare bytes are escaped \xf4"...)
	var trainer Trainer
	table := trainer.Train(logLines(50))
	codes := table.Encode(nil, src)
	d := decoderOf(t, table)
	rapid.Check(t, func(t *rapid.T) {
		c := NewCursor(d, codes)
		at := 0
		for range rapid.IntRange(1, 20).Draw(t, "parts") {
			from := rapid.OneOf(rapid.IntRange(at, len(src)), rapid.IntRange(0, len(src))).Draw(t, "from")
			n := rapid.OneOf(rapid.IntRange(0, 30), rapid.IntRange(0, len(src))).Draw(t, "n")
			at = min(from+n, len(src))
			memory := bytes.Repeat([]byte{0xa5}, at-from+16)
			require.NoError(t, c.Read(memory[:at-from], from))
			require.Equal(t, src[from:at], memory[:at-from])
			require.Equal(t, bytes.Repeat([]byte{0xa5}, 16), memory[at-from:])
		}
	})
}

func TestCursorRefuses(t *testing.T) {
	d, err := newDecoder([]byte("abc\x00\x00\x00\x00\x00"), []byte{3})
	require.NoError(t, err)
	for name, src := range map[string][]byte{
		"too short":         bytes.Repeat([]byte{0}, 32),
		"escape at the end": append(bytes.Repeat([]byte{0}, 33), 255),
		"unknown code":      append(bytes.Repeat([]byte{0}, 10), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
	} {
		c := NewCursor(d, src)
		require.Error(t, c.Read(make([]byte, 3), 98), name)
	}
}

// FuzzCursor decodes parts of arbitrary streams. If the whole stream is valid, the parts agree with it.
func FuzzCursor(f *testing.F) {
	f.Add([]byte("abc\x00\x00\x00\x00\x00"), []byte{3}, bytes.Repeat([]byte{0, 0, 255, 'X'}, 20), uint16(140), uint16(7), uint16(90))
	f.Fuzz(func(t *testing.T, symbols, lengths, src []byte, n, from, to uint16) {
		d, err := newDecoder(symbols, lengths)
		if err != nil || from > to || to > n {
			return
		}
		want := make([]byte, n)
		_, err = d.Decode(want, src)
		c := NewCursor(d, src)
		for _, at := range []uint16{from, from + (to-from)/2} {
			got := make([]byte, to-at)
			if readErr := c.Read(got, int(at)); err == nil {
				require.NoError(t, readErr)
				require.Equal(t, want[at:to], got)
			}
		}
	})
}
