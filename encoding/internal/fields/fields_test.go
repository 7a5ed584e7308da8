package fields

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// wanted is the text of a number in a column, as docs/format.md §7.5 says; false if it has none.
func wanted(c *Column, x uint64) (string, bool) {
	switch c.Kind {
	case Decimal:
		return strconv.FormatUint(x, 10), true
	case Signed:
		return strconv.FormatInt(int64(x), 10), true
	case HexLower, HexUpper:
		text := fmt.Sprintf(map[Kind]string{HexLower: "%0*x", HexUpper: "%0*X"}[c.Kind], c.Width, x)
		return text, len(text) == c.Width
	}
	text := ""
	for i := len(c.Groups) - 1; i > 0; i-- {
		g := c.Groups[i]
		text = fmt.Sprintf("%s%0*d", g.Separator, g.Width, g.Low+x%g.Radix) + text
		x /= g.Radix
	}
	text = fmt.Sprintf("%0*d", c.Groups[0].Width, x) + text
	return text, len(text) == c.TextWidth()
}

// requireFormat compares the texts of numbers with those that they should have, in both widths if they fit.
func requireFormat(t testing.TB, c *Column, numbers []uint64) {
	t.Helper()
	want, ok := "", true
	narrow, fit := make([]uint32, len(numbers)), true
	for i, x := range numbers {
		text, valid := wanted(c, x)
		want, ok = want+text, ok && valid
		narrow[i], fit = uint32(x), fit && x < 1<<32
	}
	var b Buffer
	compare := func(f Fields, err error) {
		if !ok {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want, string(f.Text))
	}
	compare(Format(&b, c, numbers))
	if fit && c.Kind != Signed {
		compare(Format(&b, c, narrow))
	}
}

// Numbers in several groups have the texts of each, also where one number is as far behind another as numbers go.
func TestGroups(t *testing.T) {
	c := &Column{Kind: Digits, Groups: []Group{{Width: 19}, {Width: 1, Separator: []byte("."), Radix: 10}}}
	require.NoError(t, c.Check())
	requireFormat(t, c, []uint64{15, 17, 23, 1<<64 - 1, 2, 1<<64 - 3, 1<<64 - 4, 1<<64 - 9, 0})
}

// FuzzFormat writes numbers in any form that a column may have.
func FuzzFormat(f *testing.F) {
	group := func(width, low, radix int, separator string) []byte {
		b := make([]byte, GroupLen)
		b[0], b[1] = byte(width), byte(len(separator))
		copy(b[2:], separator)
		le.PutUint32(b[8:], uint32(low))
		le.PutUint32(b[12:], uint32(radix))
		return b
	}
	times := bytes.Join([][]byte{group(2, 0, 0, ""), group(2, 0, 60, ":"), group(2, 0, 60, ":"), group(3, 0, 1000, ".")}, nil)
	f.Add(byte(Digits), byte(4), times, uint64(86_399_999), uint64(1))
	f.Add(byte(Digits), byte(1), group(7, 0, 0, ""), uint64(1234), uint64(9_000_000))
	f.Add(byte(HexLower), byte(8), []byte{}, uint64(0xdeadbeef), uint64(0xf00))
	f.Add(byte(HexUpper), byte(16), []byte{}, uint64(1<<63), uint64(0xffff_ffff_ffff))
	f.Add(byte(Decimal), byte(0), []byte{}, uint64(1e8-1), uint64(1e11))
	f.Add(byte(Signed), byte(0), []byte{}, uint64(1<<63), uint64(1e15))
	f.Fuzz(func(t *testing.T, kind, width byte, groups []byte, x, by uint64) {
		h := Header{Column: Column{Kind: Kind(kind)}, Word: 8}
		if _, err := h.ReadForm(int(width), groups, make([]Group, MaxGroups)); err != nil || h.Kind == Text {
			return
		}
		requireFormat(t, &h.Column, []uint64{x, x + by, x, x + 1, x >> 1, x >> 8, x >> 32, x >> 33, by, by % 100, 0})
	})
}

// FuzzAssemble takes any patterns, and gives what these say, with no byte too many.
func FuzzAssemble(f *testing.F) {
	f.Add([]byte(" INFO took  ms"), []byte{14, 2, 0, 0, 1, 12}, []byte{0, 0, 0})
	f.Add([]byte("disk is fullx"), []byte{12, 1, 1, 5, 1, 0}, []byte{0, 1, 0})
	f.Fuzz(func(t *testing.T, text, layout, codes []byte) {
		var sizes, counts []uint32
		var places []Place
		for at := 0; at+1 < len(layout); {
			sizes, counts = append(sizes, uint32(layout[at])), append(counts, uint32(layout[at+1]%4))
			at += 2
			for range counts[len(counts)-1] {
				if at+1 < len(layout) {
					places = append(places, Place{Column: uint32(layout[at]), Before: uint32(layout[at+1])})
					at += 2
				}
			}
		}
		const columns = 3
		room := append(bytes.Clone(text), make([]byte, Slack)...)
		var d Decoder
		if d.Reset(room[:len(text)], sizes, counts, append(places, Place{})[:len(places)], columns) != nil {
			return
		}
		values := make([]uint32, min(len(codes), 300))
		for i := range values {
			values[i] = uint32(codes[i])
		}
		var used [columns]uint64
		constant, err := d.Count(used[:], values)
		if err != nil {
			return
		}
		size, want := int(constant), ""
		d.Begin(used[:])
		for c := range columns { // field i of column c is c+1 times its digit
			var text []byte
			ends := make([]int32, used[c])
			for i := range ends {
				text = append(text, bytes.Repeat([]byte{'0' + byte(i%10)}, 9*c+1)...)
				ends[i] = int32(len(text))
			}
			size += len(text)
			room, err := d.Room(len(text))
			require.NoError(t, err)
			copy(room, text)
			require.NoError(t, d.SetEnds(c, room, ends))
		}
		var next [columns]int
		for _, v := range values {
			at, place := 0, 0
			for i := range v {
				at, place = at+int(sizes[i]), place+int(counts[i])
			}
			end := at + int(sizes[v])
			for _, p := range places[place : place+int(counts[v])] {
				want += string(text[at : at+int(p.Before)])
				at += int(p.Before)
				want += string(bytes.Repeat([]byte{'0' + byte(next[p.Column]%10)}, 9*int(p.Column)+1))
				next[p.Column]++
			}
			want += string(text[at:end])
		}
		mem := bytes.Repeat([]byte{0xa5}, size+Slack+1)
		ends := make([]int64, len(values))
		Assemble(&d, mem[:size:size+Slack], values, ends, 0)
		require.Equal(t, want, string(mem[:size]))
		require.EqualValues(t, 0xa5, mem[size+Slack], "written behind the room")
	})
}
