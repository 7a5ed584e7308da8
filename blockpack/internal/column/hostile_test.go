package column_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/column/encode"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// example is data of a column.
type example struct {
	name string
	typ  column.Type
	rows int
	data []byte
}

// examples have each type in each kind.
func examples(t testing.TB) (all []example) {
	r := rand.New(rand.NewPCG(1, 2))
	e := new(encode.Encoder)
	for typ := column.String; typ <= column.Bytes; typ++ {
		for _, nulls := range []int{0, 3, 8} {
			rows := make([]any, 200)
			for row := range rows {
				switch {
				case r.IntN(10) < nulls:
				case typ == column.Bool:
					rows[row] = r.Uint64N(2)
				case typ.Textual():
					rows[row] = fmt.Sprintf("/item/%06d", r.IntN(60))
				default:
					rows[row] = 1<<40 + r.Uint64N(100_000)
				}
			}
			for k := column.Dictionary; k <= allKinds; k++ {
				if data, ok := inKind(t, e, columnOf(typ, rows, false), k); ok {
					all = append(all, example{fmt.Sprintf("%s %s %d", typ, k, nulls), typ, len(rows), data})
				}
			}
		}
	}
	return all
}

// small are limits that hostile data meets soon.
var small = column.DecodeOptions{Limits: column.Limits{DictionaryEntries: 1000, ValueLen: 1000, Bytes: 1 << 20}}

// read reads data in all ways. Errors must be of a kind.
func read(t testing.TB, d *column.Decoder, data []byte, typ column.Type, rows int) error {
	r, err := d.Open(data, "c", typ, rows, small)
	if err != nil {
		requireKind(t, err)
		return err
	}
	r.Present()
	if taken, err := r.Take([]int{0, rows / 2, rows - 1}); err != nil {
		requireKind(t, err)
	} else {
		require.Len(t, rowsOf(taken), 3)
	}
	c, err := r.Column()
	if err != nil {
		requireKind(t, err)
		return err
	}
	require.Len(t, rowsOf(c), rows)
	return nil
}

func requireKind(t testing.TB, err error) { require.True(t, fault.Is(err), "%v", err) }

// TestHostileCuts cuts data at each byte, which is always found.
func TestHostileCuts(t *testing.T) {
	var d column.Decoder
	for _, x := range examples(t) {
		for n := 0; n < len(x.data); n += sweep.Step(13) {
			require.Error(t, read(t, &d, x.data[:n:n], x.typ, x.rows), "%s cut at %d of %d", x.name, n, len(x.data))
		}
	}
}

// TestHostileFlips flips each bit.
func TestHostileFlips(t *testing.T) {
	var d column.Decoder
	for _, x := range examples(t) {
		for bit := 0; bit < 8*len(x.data); bit += sweep.Step(61) {
			data := slices.Clone(x.data)
			data[bit/8] ^= 1 << (bit % 8)
			_ = read(t, &d, data, x.typ, x.rows)
		}
	}
}

// TestHostileLies writes large numbers over all bytes.
func TestHostileLies(t *testing.T) {
	var d column.Decoder
	for _, x := range examples(t) {
		for at := 0; at+4 <= len(x.data); at += sweep.Step(11) {
			for _, lie := range []uint32{0, 1<<16 - 1, 1 << 28, 1<<31 - 1, 1<<32 - 1} {
				data := slices.Clone(x.data)
				binary.LittleEndian.PutUint32(data[at:], lie)
				_ = read(t, &d, data, x.typ, x.rows)
			}
		}
	}
}

// section is data behind its length, in digits.
func section(data []byte) string {
	return hex.EncodeToString(append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...))
}

// TestHostileBombs decompresses frames of much content.
func TestHostileBombs(t *testing.T) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	require.NoError(t, err)
	bomb := section(z.EncodeAll(make([]byte, 64<<20), nil))
	// A frame of 2^60 bytes by its header, with a block of four bytes.
	liar := section(unhex(`28b52ffd e0 0000000000000010 | 21 00 00 00 00 00 00`))
	// A frame of no claim, in blocks of 128 KiB from one byte each.
	var silent []byte
	silent = append(silent, unhex(`28b52ffd 00 88`)...)
	for range 4000 {
		silent = append(silent, 0x02, 0x00, 0x10, 0x00)
	}
	silent = append(silent, 0x03, 0x00, 0x10, 0x00)
	// A prefix of 1,000 bytes in many values.
	long := section(z.EncodeAll(append(unhex(`01000000 e8030000`), make([]byte, 1000)...), nil))
	many := section(z.EncodeAll(append([]byte{1}, make([]byte, 5*4000)...), nil))
	rows4000 := `a00f0000 | 0d000000 01 01000000 | a00f0000 01000000`
	for _, v := range []struct {
		name, data string
		typ        column.Type
		rows       int
	}{
		{"dictionary", `02 01 01` + bomb + allRows + `00000000`, column.String, 4},
		{"dictionary that lies", `02 01 01` + liar + allRows + `00000000`, column.String, 4},
		{"dictionary without a claim", `02 01 01` + section(silent) + allRows + `00000000`, column.String, 4},
		{"frames", `02 01 01` + section(append(z.EncodeAll(nil, nil), silent...)) + allRows + `00000000`, column.Uint64, 4},
		{"entries", `02 01 01` + section(z.EncodeAll(append(unhex(`e9030000`), make([]byte, 8*1001)...), nil)) + allRows + `00000000`, column.Uint64, 4},
		{"value", `02 01 01` + section(z.EncodeAll(append(unhex(`01000000 e9030000`), make([]byte, 1001)...), nil)) + allRows + `00000000`, column.String, 4},
		{"offsets", `02 05` + allRows + `0000000000000000 01` + bomb, column.Uint64, 4},
		{"XOR", `02 08` + allRows + bomb, column.Bytes, 4},
		{"prefixes", `02 0a` + allRows + bomb + stored(`01`), column.Bytes, 4},
		{"suffixes", `02 0a` + allRows + stored(`00000000`) + bomb, column.Bytes, 4},
		{"prefix in many values", `02 0a` + rows4000 + long + many, column.Bytes, 4000},
		{"deltas", `02 0c 00` + ab + allRows + bomb, column.Bytes, 4},
	} {
		t.Run(v.name, func(t *testing.T) {
			data := unhex(v.data)
			var d column.Decoder
			_ = read(t, &d, data, v.typ, v.rows) // the decompressor takes its memory
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := d.Open(data, "c", v.typ, v.rows, small)
			require.NoError(t, err)
			_, err = r.Column()
			require.Error(t, err)
			if v.name != "dictionary that lies" {
				require.ErrorIs(t, err, fault.ErrLimit)
			}
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
		})
	}
}

// TestFrames reads compressed parts in all forms of frames.
func TestFrames(t *testing.T) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	require.NoError(t, err)
	body := unhex(`02000000 | 01000000 61 | 02000000 6263`)
	var stream bytes.Buffer
	z.Reset(&stream)
	for _, part := range [][]byte{body[:5], body[5:]} {
		_, err = z.Write(part)
		require.NoError(t, err)
		require.NoError(t, z.Flush()) // a block for each part, and no size of the content in the header
	}
	require.NoError(t, z.Close())
	for name, frames := range map[string][]byte{
		"stream":         stream.Bytes(),
		"one":            z.EncodeAll(body, nil),
		"several":        z.EncodeAll(body[3:], z.EncodeAll(body[:3], nil)),
		"skippable":      append(unhex(`502a4d18 02000000 ffff`), z.EncodeAll(body, nil)...),
		"skippable last": append(z.EncodeAll(body, nil), unhex(`5f2a4d18 00000000`)...),
		"run of a byte":  append(z.EncodeAll(body[:9], nil), append(z.EncodeAll(body[9:13], nil), unhex(`28b52ffd 20 02 | 12 00 00 62 | 01 00 00`)...)...),
	} {
		t.Run(name, func(t *testing.T) {
			want := []any{"a", "bc", "bc", "a"}
			if name == "run of a byte" {
				want = []any{"a", "bb", "bb", "a"}
			}
			c, err := column.Decode(unhex(`02 01 01`+section(frames)+allRows+`00 01 01 00`), "c", column.String, 4, column.DecodeOptions{})
			require.NoError(t, err)
			require.Equal(t, want, rowsOf(c))
		})
	}
}

// FuzzDecode reads any bytes. What can be read is written again, and is the same.
func FuzzDecode(f *testing.F) {
	for _, x := range examples(f) {
		f.Add(x.data, uint8(x.typ), uint16(x.rows))
	}
	for _, v := range vectors {
		f.Add(unhex(v.data), uint8(v.typ), uint16(4))
	}
	var d column.Decoder
	e := new(encode.Encoder)
	f.Fuzz(func(t *testing.T, data []byte, typ uint8, rows uint16) {
		if rows == 0 || read(t, &d, data, column.Type(typ), int(rows)) != nil {
			return
		}
		c, err := d.Decode(data, "c", column.Type(typ), int(rows), small)
		require.NoError(t, err)
		again, _, err := e.Append(nil, c)
		require.NoError(t, err)
		got, err := d.Decode(again, "c", c.Type, c.Rows, column.DecodeOptions{UUID: column.UUIDPlain})
		require.NoError(t, err)
		require.Equal(t, rowsOf(c), rowsOf(got))
	})
}

// TestChecksums flips bits of frames. Their checksums find all flips.
func TestChecksums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]any, 2000)
	for row := range rows {
		rows[row] = r.Uint64()
	}
	data, ok, err := new(encode.Encoder).AppendKind(nil, columnOf(column.Uint64, rows, false), column.DeltaUint64)
	require.NoError(t, err)
	require.True(t, ok)
	const frame = 2 + 4 + 4 + 13 + 8 + 1 + 4
	var d column.Decoder
	for at := frame + 10; at < len(data); at += sweep.Step(211) {
		flipped := slices.Clone(data)
		flipped[at] ^= 4
		_, err := d.Decode(flipped, "c", column.Uint64, len(rows), plain)
		require.Error(t, err, "byte %d", at)
	}
}
