package numeric

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// TestForReference writes blocks of every forced form and every profile, with
// what they must decode to, to the file that AMUDAI_REFERENCE_BLOCKS names, or
// nowhere: input for a program that decodes them with the reference. A record is
//
//	u8 type | u8 checksum | u32 n | u32 size, block | u32 size, values | u8 1 and n bytes, or u8 0 | u32 size, name
func TestForReference(t *testing.T) {
	f, err := os.Create(cmp.Or(os.Getenv("AMUDAI_REFERENCE_BLOCKS"), os.DevNull))
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	writeReference[int8](t, w)
	writeReference[int16](t, w)
	writeReference[int32](t, w)
	writeReference[int64](t, w)
	writeReference[uint8](t, w)
	writeReference[uint16](t, w)
	writeReference[uint32](t, w)
	writeReference[uint64](t, w)
	writeReference[float32](t, w)
	writeReference[float64](t, w)
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
}

func writeReference[T Value](t *testing.T, w *bufio.Writer) {
	encoders := map[encoding.Profile]*Encoder[T]{}
	for p := range encoding.MinimalSize + 1 {
		encoders[p] = NewEncoder[T](encoding.Options{Profile: p})
	}
	rapid.Check(t, func(t *rapid.T) {
		values := drawValues[T](t)
		if len(values) == 0 {
			return
		}
		valid := drawNulls(t, len(values))
		for p := range encoding.MinimalSize + 1 {
			blk, err := encoders[p].AppendBlock(nil, values, valid)
			require.NoError(t, err)
			writeRecord(w, blk, values, valid, p.String())
		}
		for _, shape := range shapes {
			p, err := parseShape(shape)
			require.NoError(t, err)
			if !suits(p, Of[T]()) {
				continue
			}
			e := NewEncoder[T](encoding.Options{})
			e.forced = p
			blk, err := e.AppendBlock(nil, values, valid)
			require.NoError(t, err)
			writeRecord(w, blk, values, valid, shape)
		}
	})
}

func writeRecord[T Value](w *bufio.Writer, blk []byte, values []T, valid bitmap.Bits, name string) {
	part := func(b []byte) {
		var size [4]byte
		binary.LittleEndian.PutUint32(size[:], uint32(len(b)))
		w.Write(size[:])
		w.Write(b)
	}
	w.Write([]byte{byte(Of[T]()), 1})
	var n [4]byte
	binary.LittleEndian.PutUint32(n[:], uint32(len(values)))
	w.Write(n[:])
	part(blk)
	part(word.Store(nil, values))
	if valid.Data == nil {
		w.WriteByte(0)
	} else {
		w.WriteByte(1)
		for i := range values {
			if valid.At(i) {
				w.WriteByte(1)
			} else {
				w.WriteByte(0)
			}
		}
	}
	part([]byte(Of[T]().String() + " " + name))
}
