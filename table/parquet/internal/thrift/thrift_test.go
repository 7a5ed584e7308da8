package thrift_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/table/parquet/internal/thrift"
)

// example has the fields 1 i32 -3, 2 binary "ab", 3 true, 20 list of two structures with a field 1 i64 7, 21 map, 22 double.
var example = []byte{
	0x15, 5, 0x18, 2, 'a', 'b', 0x11, 0x09, 40, 0x2c, 0x16, 14, 0, 0x16, 14, 0, 0x1b, 1, 0x58, 2, 1, 'x', 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0,
}

func TestFields(t *testing.T) {
	r := thrift.NewReader(example)
	var number, sum int64
	var text string
	truth := false
	r.Fields(func(id int16, kind thrift.Kind) bool {
		switch {
		case id == 1 && kind == thrift.I32:
			number = r.Int()
		case id == 2 && kind == thrift.Binary:
			text = string(r.Binary())
		case id == 3:
			truth = r.Bool()
		case id == 20 && kind == thrift.List:
			item, n := r.List()
			require.EqualValues(t, thrift.Struct, item)
			for range n {
				r.Fields(func(int16, thrift.Kind) bool {
					sum += r.Int()
					return true
				})
			}
		default:
			return false
		}
		return true
	})
	require.NoError(t, r.Err)
	require.Equal(t, len(example), r.At())
	require.Equal(t, []any{int64(-3), "ab", true, int64(14)}, []any{number, text, truth, sum})
}

// A structure that is cut off anywhere is short, and nothing is read beyond it.
func TestCutOff(t *testing.T) {
	for n := range example {
		r := thrift.NewReader(example[:n])
		r.Fields(nil)
		require.ErrorIs(t, r.Err, thrift.ErrShort, n)
	}
	deep := make([]byte, 1000)
	for i := range deep {
		deep[i] = 0x1c
	}
	r := thrift.NewReader(deep)
	r.Fields(nil)
	require.ErrorIs(t, r.Err, thrift.ErrFormat)
}

func FuzzFields(f *testing.F) {
	f.Add(example)
	f.Add([]byte{0x19, 0xfc, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := thrift.NewReader(b)
		r.Fields(nil)
		if r.At() > len(b) || r.Err != nil && !errors.Is(r.Err, thrift.ErrShort) && !errors.Is(r.Err, thrift.ErrFormat) {
			t.Fatalf("%d of %d bytes: %v", r.At(), len(b), r.Err)
		}
	})
}
