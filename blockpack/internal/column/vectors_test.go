package column_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// unhex reads digits; spaces and bars separate.
func unhex(digits string) []byte {
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "|", "", "\n", "", "\t", "").Replace(digits))
	if err != nil {
		panic(err)
	}
	return b
}

// stored is a section of a Zstandard frame with a single stored block, in digits.
func stored(digits string) string {
	b := unhex(digits)
	frame := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, byte(len(b)), byte(len(b)<<3 | 1), byte(len(b) >> 5), 0}, b...)
	return hex.EncodeToString(append(binary.LittleEndian.AppendUint32(nil, uint32(len(frame))), frame...))
}

// Presence of 1 0 1 1, of 1 1 1 1, of 0 0 0 0.
const (
	someRows = `04000000 | 1d000000 01 03000000 | 01000000 01000000 | 01000000 00000000 | 02000000 01000000`
	allRows  = `04000000 | 0d000000 01 01000000 | 04000000 01000000`
	noRows   = `04000000 | 0d000000 01 01000000 | 04000000 00000000`
)

// ab is a dictionary of "a", "bc"; numbers one of 5, 2^63.
var (
	ab      = stored(`02000000 | 01000000 61 | 02000000 6263`)
	numbers = stored(`02000000 | 0500000000000000 | 0000000000000080`)
)

type vector struct {
	name string
	typ  column.Type
	data string
	want []any
	warn string
}

var vectors = []vector{
	{"dictionary", column.String, `02 01 01` + ab + allRows + `00 01 01 00`, []any{"a", "bc", "bc", "a"}, ""},
	{"dictionary with nulls", column.Int64, `02 01 01` + numbers + someRows + `00 00 01 00`, []any{uint64(5), nil, uint64(1 << 63), uint64(5)}, ""},
	{"dictionary, any index of a null", column.Bytes, `02 01 02` + ab + someRows + `0000 ffff 0100 0000`, []any{"a", nil, "bc", "a"}, ""},
	{"dictionary, nulls only", column.Bytes, `02 01 04 00000000` + noRows + `ffffffff 00000000 00000000 00000000`, []any{nil, nil, nil, nil}, ""},
	{"dictionary, unsorted and twice", column.String, `02 01 01` + stored(`03000000 | 01000000 62 | 01000000 61 | 01000000 62`) + allRows + `00 01 02 02`, []any{"b", "a", "b", "b"}, ""},
	{"dictionary, more", column.String, `02 01 01` + stored(`01000000 | 01000000 62 | 7777`) + allRows + `00 00 00 00`, []any{"b", "b", "b", "b"}, "2 bytes follow the entries"},
	{"dictionary of Bool", column.Bool, `02 01 01` + stored(`02000000 | 00 | 07`) + allRows + `01 00 00 01`, []any{uint64(1), uint64(0), uint64(0), uint64(1)}, ""},
	{"dictionary of Range type", column.RangeUint64, `02 01 01` + numbers + allRows + `01 00 00 01`, []any{uint64(1 << 63), uint64(5), uint64(5), uint64(1 << 63)}, ""},
	{"dictionary, bytes behind", column.String, `02 01 01` + ab + allRows + `00 01 01 00 ff`, []any{"a", "bc", "bc", "a"}, "1 bytes follow the data"},
	{"sparse dictionary", column.Float64, `02 02 04` + numbers + someRows + `03000000 | 01000000 00000000 01000000`, []any{uint64(1 << 63), nil, uint64(5), uint64(1 << 63)}, ""},
	{"old presence", column.String, `02 01 01` + ab + `04000000 | 0f000000 01 02000000 | 01000000 01 | 03000000 00` + `01 00 00 00`, []any{"bc", nil, nil, nil}, ""},
	{"short presence", column.String, `02 01 01` + ab + `04000000 | 0d000000 01 01000000 | 02000000 01000000` + `01 00 00 00`, []any{"bc", "a", nil, nil}, "presence of 2 of 4 rows"},
	{"presence of equal runs", column.String, `02 01 01` + ab + `04000000 | 1d000000 01 03000000 | 01000000 01000000 | 00000000 00000000 | 03000000 01000000` + `01 00 00 01`, []any{"bc", "a", "a", "bc"}, ""},
	{"inline", column.Bytes, `02 03` + someRows + `01000000 61 | 02000000 ffff | 00000000 | 02000000 6263`, []any{"a", nil, "", "bc"}, ""},
	{"inline, bytes behind", column.Bytes, `02 03` + someRows + `01000000 61 | 00000000 | 00000000 | 02000000 6263 | 00`, []any{"a", nil, "", "bc"}, "1 bytes follow"},
	{"sparse inline", column.String, `02 04` + someRows + `03000000 | 01000000 61 | 00000000 | 02000000 6263`, []any{"a", nil, "", "bc"}, ""},
	{"delta", column.Uint64, `02 05` + someRows + `e803000000000000 02` + stored(`0000 0100 ff00`), []any{uint64(1000), nil, uint64(1001), uint64(1255)}, ""},
	{"delta, past the end", column.Uint64, `02 05` + allRows + `ffffffffffffffff 01` + stored(`00 01 02 00 99`), []any{^uint64(0), uint64(0), uint64(1), ^uint64(0)}, "5 bytes of offsets"},
	{"delta of four bytes", column.RangeDuration, `02 05` + someRows + `0000000000000000 04` + stored(`01000000 00000080 ffffffff`), []any{uint64(1), nil, uint64(1 << 31), uint64(1<<32 - 1)}, ""},
	{"delta of eight bytes", column.Uint64, `02 05` + someRows + `0100000000000000 08` + stored(`0100000000000000 0000000000000080 ffffffffffffffff`), []any{uint64(2), nil, uint64(1<<63 + 1), uint64(0)}, ""},
	{"delta without offsets", column.Uint64, `02 05` + someRows + `e803000000000000 00`, []any{uint64(1000), nil, uint64(1000), uint64(1000)}, ""},
	{"runs", column.String, `02 06 01` + ab + allRows + `04000000 | 15000000 01 02000000 | 03000000 01000000 | 01000000 00000000`, []any{"bc", "bc", "bc", "a"}, ""},
	{"runs with nulls", column.String, `02 06 01` + ab + someRows + `04000000 | 1d000000 01 03000000 | 01000000 01000000 | 01000000 09000000 | 02000000 00000000`, []any{"bc", nil, "a", "a"}, ""},
	{"sparse runs", column.String, `02 07 01` + ab + someRows + `03000000 | 15000000 01 02000000 | 01000000 01000000 | 02000000 00000000`, []any{"bc", nil, "a", "a"}, ""},
	{"sparse runs, counted twice", column.String, `02 07 01` + ab + someRows + `03000000 | 03000000 | 15000000 01 02000000 | 01000000 01000000 | 02000000 00000000`, []any{"bc", nil, "a", "a"}, ""},
	{"XOR", column.Bytes, `02 08` + allRows + stored(`02000000 0102 | 03000000 010203 | 01000000 ff | 00000000`), []any{"\x01\x02", "\x00\x00\x03", "\xff", ""}, ""},
	{"XOR, padded", column.Bytes, `02 08` + allRows + stored(`01000000 41 | 03000000 030207 | 03000000 000107 | 03000000 000000`), []any{"A", "B\x02\x07", "B\x03\x00", "B\x03\x00"}, "may have been padded"},
	{"sparse XOR", column.Bytes, `02 09` + someRows + stored(`02000000 0102 | 02000000 0103 | 02000000 0000`), []any{"\x01\x02", nil, "\x00\x01", "\x00\x01"}, ""},
	{"prefixes", column.Bytes, `02 0a` + someRows + ab + stored(`01 | 01 01000000 64 | ff 02000000 7879 | 00 00000000`), []any{"bcd", nil, "xy", "a"}, ""},
	{"sparse prefixes", column.Bytes, `02 0b` + someRows + ab + stored(`02 | 0100 01000000 64 | ffff 02000000 7879 | 0000 00000000`), []any{"bcd", nil, "xy", "a"}, ""},
	{"prefixes of wide indexes", column.Bytes, `02 0b` + someRows + ab + stored(`04 | 01000000 01000000 64 | ffffffff 02000000 7879 | 00000000 00000000`), []any{"bcd", nil, "xy", "a"}, ""},
	{"prefixes, nulls only", column.Bytes, `02 0a` + noRows + `00000000 00000000`, []any{nil, nil, nil, nil}, ""},
	{"delta dictionary", column.Bytes, `02 0c 00` + ab + someRows + stored(`01000000 | 00000000 | 00000000 | ffffffff`), []any{"bc", nil, "bc", "a"}, ""},
	{"sparse delta dictionary", column.Bytes, `02 0d 07` + ab + someRows + stored(`00000000 | 01000000 | ffffffff`), []any{"a", nil, "bc", "a"}, ""},
	{"delta dictionary, more", column.Bytes, `02 0d 07` + ab + someRows + stored(`00000000 | 01000000 | ffffffff | 00`), []any{"a", nil, "bc", "a"}, "13 bytes of deltas"},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			var notes []string
			o := column.DecodeOptions{Warn: func(err error) { notes = append(notes, err.Error()) }}
			c, err := column.Decode(unhex(v.data), "c", v.typ, 4, o)
			require.NoError(t, err)
			require.Equal(t, v.want, rowsOf(c))
			require.Equal(t, v.typ.Base(), c.Type)
			if v.warn == "" {
				require.Empty(t, notes)
			} else {
				require.Contains(t, strings.Join(notes, "\n"), v.warn)
			}
			for row := range 4 {
				var d column.Decoder
				r, err := d.Open(unhex(v.data), "c", v.typ, 4, column.DecodeOptions{})
				require.NoError(t, err)
				taken, err := r.Take([]int{row})
				require.NoError(t, err)
				require.Equal(t, v.want[row:row+1], rowsOf(taken))
			}
		})
	}
}

// TestRefusals reads data that breaks rules.
func TestRefusals(t *testing.T) {
	for _, v := range []struct {
		name   string
		typ    column.Type
		data   string
		kind   error
		offset int64
		text   string
	}{
		{"nothing", column.String, ``, fault.ErrCorrupt, 0, "encoding version"},
		{"type", 12, `02 01`, fault.ErrCorrupt, -1, "type 12"},
		{"version 3", column.String, `03 01`, fault.ErrUnsupported, 0, "encoding version 3"},
		{"kind 0", column.String, `02 00`, fault.ErrUnsupported, 1, "kind 0"},
		{"kind 14", column.String, `02 0e`, fault.ErrUnsupported, 1, "kind 14"},
		{"XOR of numbers", column.Uint64, `02 08`, fault.ErrCorrupt, 1, "Uint64 column in encoding XORBytes"},
		{"delta of strings", column.String, `02 05`, fault.ErrCorrupt, 1, "String column in encoding DeltaUint64"},
		{"width 3", column.String, `02 01 03` + ab + allRows + `000000000000`, fault.ErrCorrupt, 2, "indexes of 3 bytes"},
		{"other rows", column.String, `02 01 01` + ab + `05000000`, fault.ErrCorrupt, 31, "5 rows in a block of 4"},
		{"presence of version 2", column.String, `02 01 01` + ab + `04000000 05000000 02 00000000`, fault.ErrCorrupt, 39, "runs of version 2"},
		{"presence of four bytes", column.String, `02 01 01` + ab + `04000000 04000000 01 000000`, fault.ErrCorrupt, 39, "runs of 4 bytes"},
		{"presence of other size", column.String, `02 01 01` + ab + `04000000 0b000000 01 01000000 000000000000`, fault.ErrCorrupt, 40, "1 runs in 6 bytes"},
		{"presence of value 2", column.String, `02 01 01` + ab + `04000000 0d000000 01 01000000 04000000 02000000`, fault.ErrCorrupt, 44, "value 2"},
		{"presence of five rows", column.String, `02 01 01` + ab + `04000000 0d000000 01 01000000 05000000 01000000`, fault.ErrCorrupt, 44, "ends at row 5 of 4"},
		{"few indexes", column.String, `02 01 01` + ab + allRows + `000000`, fault.ErrCorrupt, 52, "4 bytes needed, 3 left"},
		{"index", column.String, `02 01 01` + ab + allRows + `00000002`, fault.ErrCorrupt, 52, "index 2 into a dictionary of 2 entries"},
		{"present count", column.String, `02 02 01` + ab + someRows + `04000000 00000000`, fault.ErrCorrupt, 68, "4 values for 3 rows"},
		{"index runs too short", column.String, `02 06 01` + ab + allRows + `04000000 0d000000 01 01000000 03000000 01000000`, fault.ErrCorrupt, 60, "3 indexes for 4"},
		{"index runs of old size", column.String, `02 06 01` + ab + allRows + `04000000 0a000000 01 01000000 04000000 01`, fault.ErrCorrupt, 61, "1 runs in 5 bytes"},
		{"index count", column.String, `02 06 01` + ab + allRows + `05000000 0d000000 01 01000000 05000000 01000000`, fault.ErrCorrupt, 52, "5 indexes for 4"},
		{"no frame", column.String, `02 01 01 02000000 6162` + allRows + `00000000`, fault.ErrCorrupt, 7, "frame header"},
		{"entries", column.String, `02 01 01` + stored(`03000000 00000000 00000000`) + allRows + `00000000`, fault.ErrCorrupt, 7, "3 entries in 8 bytes"},
		{"entry", column.String, `02 01 01` + stored(`02000000 00000000 01000000`) + allRows + `00000000`, fault.ErrCorrupt, 7, "entry 1 of 2: corrupt: a value of 1 bytes, of which 0"},
		{"offsets of three bytes", column.Uint64, `02 05` + allRows + `0000000000000000 03`, fault.ErrCorrupt, 31, "offsets of 3 bytes"},
		{"few offsets", column.Uint64, `02 05` + allRows + `0000000000000000 01` + stored(`000000`), fault.ErrCorrupt, 36, "3 bytes of offsets"},
		{"few XOR values", column.Bytes, `02 08` + allRows + stored(`00000000 00000000 00000000`), fault.ErrCorrupt, 27, "12 bytes, where 4 rows"},
		{"prefix", column.Bytes, `02 0a` + someRows + ab + stored(`01 | 01 01000000 64 | 02 02000000 7879 | 00 00000000`), fault.ErrCorrupt, 71, "prefix 2 of 2"},
		{"prefix width", column.Bytes, `02 0a` + someRows + ab + stored(`03`), fault.ErrCorrupt, 71, "no width"},
		{"deltas below 0", column.Bytes, `02 0c 00` + ab + allRows + stored(`01000000 | 00000000 | 00000000 | feffffff`), fault.ErrCorrupt, 56, "index 4294967295 into"},
		{"few deltas", column.Bytes, `02 0c 00` + ab + allRows + stored(`01000000 | 00000000 | 00000000`), fault.ErrCorrupt, 56, "12 bytes of deltas for 4 rows"},
	} {
		t.Run(v.name, func(t *testing.T) {
			_, err := column.Decode(unhex(v.data), "span.x", v.typ, 4, column.DecodeOptions{})
			require.ErrorIs(t, err, v.kind)
			require.ErrorContains(t, err, v.text)
			var place *fault.Error
			require.True(t, errors.As(err, &place))
			require.Equal(t, v.offset, place.Offset, "%v", err)
			require.Equal(t, "span.x", place.Column)
		})
	}
}

// TestPackedUUIDs decodes strings of 16 bytes each.
func TestPackedUUIDs(t *testing.T) {
	const one, text = "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff"
	const ascii, letters = "61616161616161616161616161616161", "aaaaaaaaaaaaaaaa"
	dict := func(kind, entry string) string {
		return `02 ` + kind + ` 01` + stored(`01000000 | 10000000`+entry) + allRows + `00 00 00 00`
	}
	xor := func(entry string) string {
		zero := strings.Repeat("00", 16)
		return `02 08` + allRows + stored(`10000000`+entry+`10000000`+zero+`10000000`+zero+`10000000`+zero)
	}
	bytes := string(unhex(one))
	for _, v := range []struct {
		name, data string
		typ        column.Type
		hint       column.UUIDHint
		want       string
	}{
		{"XOR", xor(one), column.String, column.UUIDUnknown, text},
		{"XOR of letters", xor(ascii), column.String, column.UUIDUnknown, "61616161-6161-6161-6161-616161616161"},
		{"XOR of our own", xor(ascii), column.String, column.UUIDPlain, letters},
		{"XOR of Bytes", xor(one), column.Bytes, column.UUIDUnknown, bytes},
		{"dictionary", dict("01", one), column.String, column.UUIDUnknown, text},
		{"dictionary of letters", dict("01", ascii), column.String, column.UUIDUnknown, letters},
		{"dictionary of letters, with statistics of UUIDs", dict("01", ascii), column.String, column.UUIDPacked, "61616161-6161-6161-6161-616161616161"},
		{"dictionary, with plain statistics", dict("01", one), column.String, column.UUIDPlain, bytes},
		{"dictionary of Bytes", dict("01", one), column.Bytes, column.UUIDPacked, bytes},
	} {
		t.Run(v.name, func(t *testing.T) {
			var d column.Decoder
			r, err := d.Open(unhex(v.data), "c", v.typ, 4, column.DecodeOptions{UUID: v.hint})
			require.NoError(t, err)
			c, err := r.Column()
			require.NoError(t, err)
			require.Equal(t, []any{v.want, v.want, v.want, v.want}, rowsOf(c))
			require.Equal(t, len(v.want) == 36, c.PackedUUID)
			taken, err := r.Take([]int{1, 3})
			require.NoError(t, err)
			require.Equal(t, []any{v.want, v.want}, rowsOf(taken))
			require.Equal(t, c.PackedUUID, taken.PackedUUID)
		})
	}
}
