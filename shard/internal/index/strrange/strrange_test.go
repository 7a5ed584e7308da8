package strrange

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

var ctx = context.Background()

func openBytes(file []byte, rows int64) (*Index, error) {
	r := storage.FromBytes("index", append([]byte("before "), file...))
	return Open(ctx, storage.ByteRange{Reader: r, Offset: 7, Size: int64(len(file))}, rows)
}

// write makes an index of the values of fields by several builders. A nil is a null.
func write(t require.TestingT, data [][][]byte, pageRows int64, builders int) []byte {
	var all []*Builder
	rows := len(data[0])
	for k := range builders {
		b := NewBuilder(len(data), pageRows)
		for f := range data {
			for i := k * rows / builders; i < (k+1)*rows/builders; i++ {
				if v := data[f][i]; v == nil {
					b.AddNull(f, int64(i))
				} else {
					b.Add(f, int64(i), v)
				}
			}
		}
		all = append(all, b)
	}
	var out bytes.Buffer
	require.NoError(t, Write(&out, Options{Rows: int64(rows), PageRows: pageRows, Fields: len(data)}, all...))
	return out.Bytes()
}

// Values lie within the bounds of their page, whoever collected them. Short ones are bounds themselves.
func TestBounds(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) []byte {
		common := rapid.SampledFrom([]string{"", "common ", strings.Repeat("long ", 12), strings.Repeat("long ", 13), strings.Repeat("\xff", 70), "\xff\xff\xff\xff"}).Draw(t, "common")
		v := append([]byte(common), rapid.SliceOfN(rapid.SampledFrom([]byte("\x00ab\x7f\xff")), 0, 8).Draw(t, "value")...)
		if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
			return nil
		}
		return v
	})
	rapid.Check(t, func(t *rapid.T) {
		data := make([][][]byte, rapid.IntRange(1, 2).Draw(t, "fields"))
		rows := rapid.IntRange(0, 60).Draw(t, "rows")
		for f := range data {
			data[f] = rapid.SliceOfN(value, rows, rows).Draw(t, "values")
		}
		pageRows := rapid.SampledFrom([]int64{1, 2, 7, 100}).Draw(t, "page")
		file := write(t, data, pageRows, 1)
		require.Equal(t, file, write(t, data, pageRows, rapid.IntRange(1, 4).Draw(t, "builders")))
		x, err := openBytes(file, int64(rows))
		require.NoError(t, err)
		for f := range data {
			for k := range int(x.NumPages()) {
				p := x.Page(f, int64(k))
				values, nulls := false, false
				for _, v := range data[f][k*int(pageRows) : min((k+1)*int(pageRows), rows)] {
					if v == nil {
						nulls = true
						continue
					}
					values = true
					require.LessOrEqual(t, bytes.Compare(p.Lo, v), 0)
					require.True(t, p.Unbounded || bytes.Compare(p.Hi, v) >= 0, "%q %q", p.Hi, v)
				}
				require.Equal(t, values, p.Values)
				require.Equal(t, nulls, p.Nulls)
				require.True(t, len(p.Lo) <= maxBound && len(p.Hi) <= maxBound)
			}
		}
	})
	x, err := openBytes(write(t, [][][]byte{{[]byte("abcdefgh"), []byte("abcxyzzzz")}, {[]byte("same"), []byte("same")}}, 2, 1), 2)
	require.NoError(t, err)
	require.Equal(t, Page{Lo: []byte("abcdefg"), Hi: []byte("abcxyz{"), Values: true}, x.Page(0, 0))
	require.Equal(t, Page{Lo: []byte("same"), Hi: []byte("same"), Values: true}, x.Page(1, 0))
}

func small(t require.TestingT) []byte {
	var data [2][][]byte
	for i := range 500 {
		data[0], data[1] = append(data[0], fmt.Appendf(nil, "value %04d", i)), append(data[1], nil)
		if i%3 == 0 {
			data[1][i] = fmt.Appendf(nil, "%d", i%7)
		}
	}
	return write(t, data[:], 16, 1)
}

// A damaged index is an error.
func TestDamage(t *testing.T) {
	file := small(t)
	_, err := openBytes(file, 500)
	require.NoError(t, err)
	_, err = openBytes(file, 501)
	require.Error(t, err)
	for i := 0; i < 8*len(file); i += sweep.Step(3) {
		file[i/8] ^= 1 << (i % 8)
		_, err := openBytes(file, 500)
		require.Error(t, err, "bit %d", i)
		file[i/8] ^= 1 << (i % 8)
	}
	for n := range file {
		_, err := openBytes(file[:n], 500)
		require.Error(t, err)
	}
}

// Differences to the data are found.
func TestCompare(t *testing.T) {
	a, err := openBytes(write(t, [][][]byte{{[]byte("a"), []byte("b"), nil}}, 1, 1), 3)
	require.NoError(t, err)
	b, err := openBytes(write(t, [][][]byte{{[]byte("a"), []byte("c"), []byte("")}}, 1, 1), 3)
	require.NoError(t, err)
	n := 0
	count := func(error) error { n++; return nil }
	require.NoError(t, a.Compare(a, count))
	require.Zero(t, n)
	require.NoError(t, a.Compare(b, count))
	require.Equal(t, 2, n)
}

// Limits are errors before memory is taken.
func TestLimits(t *testing.T) {
	for _, o := range []Options{{Rows: 1 << 62, PageRows: 1, Fields: 1}, {Rows: 1, PageRows: 0, Fields: 1}, {Rows: 1, PageRows: 1}, {Rows: -1, PageRows: 1, Fields: 1}} {
		require.Error(t, Write(new(bytes.Buffer), o))
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(small(f), int64(500))
	f.Fuzz(func(t *testing.T, file []byte, rows int64) {
		for range 2 { // as it is, and with the right checksum
			if x, err := openBytes(file, rows); err == nil {
				require.NoError(t, x.Compare(x, func(err error) error { return err }))
			}
			if len(file) < footerLen {
				return
			}
			file = bytes.Clone(file)
			footer := file[len(file)-footerLen:]
			binary.LittleEndian.PutUint64(footer[24:], hash(file[:len(file)-footerLen], footer[:24]))
			rows = int64(binary.LittleEndian.Uint64(footer))
		}
	})
}
