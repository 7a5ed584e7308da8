package fields

import (
	"github.com/amudai/amudai-go/internal/base/fault"
)

// The header of a column, and before the numbers of Digits, their groups:
//
//	0  1  kind
//	1  1  width of hexadecimal numbers in digits, number of groups of digits, else 0
//	2  1  4 if the numbers are u32, 8 if they are u64, 0 for texts
//	3  1  zero
//	4  4  u32 size of the column in bytes
//	8  4  u32 number of fields
//
//	0  1  width in digits
//	1  1  bytes of the separator before the group
//	2  6  separator, filled up with zeros
//	8  4  u32 least number
//	12 4  u32 numbers there are, 0 in the first group
const (
	HeaderLen = 12
	GroupLen  = 16
)

// Header is the header of a column.
type Header struct {
	Column
	Word  int // bytes of a number, 0 for texts
	Size  int // bytes of the column
	Count int // fields
}

// ReadHeader reads the header of a column, HeaderLen bytes.
func ReadHeader(b []byte) (h Header, width int) {
	h = Header{Column: Column{Kind: Kind(b[0])}, Word: int(b[2]), Size: int(le.Uint32(b[4:])), Count: int(le.Uint32(b[8:]))}
	return h, int(b[1])
}

// ReadForm takes the groups of digits from a column of that width, and checks the header. It keeps the groups in memory,
// of MaxGroups, and the separators where they are.
func (h *Header) ReadForm(width int, column []byte, memory []Group) (rest []byte, err error) {
	want := 0
	switch h.Kind {
	case Digits:
		if width > len(memory) || width*GroupLen > len(column) {
			return nil, fault.Corruptf("%d groups of digits in %d bytes", width, len(column))
		}
		for i := range width {
			g := column[GroupLen*i:]
			if g[1] > MaxSeparator {
				return nil, fault.Corruptf("separator of %d bytes", g[1])
			}
			memory[i] = Group{Width: int(g[0]), Separator: g[2 : 2+g[1]], Low: uint64(le.Uint32(g[8:])), Radix: uint64(le.Uint32(g[12:]))}
		}
		h.Groups, column, want = memory[:width], column[GroupLen*width:], width
	case HexLower, HexUpper:
		h.Width, want = width, width
	}
	switch {
	case h.Kind >= numKinds || width != want:
		return nil, fault.Corruptf("fields of kind %d and width %d", h.Kind, width)
	case h.Kind == Text && h.Word != 0 || h.Kind != Text && h.Word != 4 && h.Word != 8 || h.Kind == Signed && h.Word != 8:
		return nil, fault.Corruptf("fields of kind %d in %d bytes", h.Kind, h.Word)
	}
	return column, h.Check()
}
