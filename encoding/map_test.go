package encoding

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
)

func pad16(n int64) int64 { return (n + 15) &^ 15 }

// A block map of one block, and the example of docs/format.md §6.2.
func TestMapExamples(t *testing.T) {
	var b BlockMapBuilder
	b.Add(3, 32)
	require.Equal(t, "00000000000000000000000000000000"+"0300000020000000"+"08080100"+"00000000"+"0000000000000000"+
		"0000000000000000"+"0300000000000000"+"0000000000000000"+"2800000000000000"+
		"0300000000000000"+"0100000000000000"+"0100000000000000"+"0004000000000000"+"2000000000000000",
		hex.EncodeToString(b.Append(nil)))

	b.Reset()
	b.Add(100, 200)
	b.Add(150, 250)
	bytes := b.Append([]byte("shift"))[5:]
	require.Equal(t, "00000000000000000000000000000000"+"64000000c8000000"+"08080200"+"00320000"+"0032000000000000",
		hex.EncodeToString(bytes[:40]))
	require.Len(t, bytes, 112)
	m, err := ParseBlockMap(bytes, 464)
	require.NoError(t, err)
	first, n, off, size := m.Block(1)
	require.Equal(t, []any{uint64(100), 150, int64(200), 250}, []any{first, n, off, size})
	require.Equal(t, []int{0, 0, 1, 1, 2}, []int{m.Find(0), m.Find(99), m.Find(100), m.Find(249), m.Find(250)})
}

func TestEmptyMap(t *testing.T) {
	var b BlockMapBuilder
	bytes := b.Append(nil)
	require.Len(t, bytes, 56)
	m, err := ParseBlockMap(bytes, 0)
	require.NoError(t, err)
	require.Zero(t, m.Len())
	require.Zero(t, m.Values())
	require.Zero(t, m.Find(0))
	require.Empty(t, m.Append(nil, 0, 0))
}

func TestMapRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.SampledFrom([]int{1, 2, 7, 1023, 1024, 1025, 2048, 3000}).Draw(t, "blocks")
		most := rapid.SampledFrom([]int{1, 200, 300, 60_000, 70_000, 1 << 24}).Draw(t, "most")
		seed := rapid.Uint64().Draw(t, "seed")
		var b BlockMapBuilder
		var want []BlockEntry
		var pos uint64
		var off int64
		each := rapid.SampledFrom([]int{0, 0, 1, 512}).Draw(t, "each") // values of a block, 0 for any
		odd := rapid.SampledFrom([]int{count - 1, count, count / 2}).Draw(t, "odd")
		for i := range count {
			seed = seed*6364136223846793005 + 1442695040888963407
			n, size := 1+int(seed>>33)%most, 1+int(seed>>40)%most
			if each > 0 && i != odd {
				n = each
			}
			b.Add(n, size)
			want = append(want, BlockEntry{pos, n, off, size})
			pos += uint64(n)
			off += int64(size)
		}
		bytes := b.Append(nil)
		m, err := ParseBlockMap(bytes, pad16(off))
		require.NoError(t, err)
		require.Equal(t, count, m.Len())
		require.Equal(t, pos, m.Values())
		require.Equal(t, off, m.DataSize())
		require.Equal(t, want, m.Append(nil, 0, count))
		for i := 0; i < count; i += 1 + count/50 {
			e := want[i]
			first, n, at, size := m.Block(i)
			require.Equal(t, e, BlockEntry{first, n, at, size})
			require.Equal(t, i, m.Find(e.First))
			require.Equal(t, i, m.Find(e.First+uint64(e.N)-1))
			require.Equal(t, want[i:], m.Append(nil, i, count))
		}
		require.Equal(t, count, m.Find(pos))
		_, err = ParseBlockMap(bytes, pad16(off)+16)
		require.ErrorIs(t, err, fault.ErrCorrupt)
		_, err = ParseBlockMap(bytes, off-1)
		require.ErrorIs(t, err, fault.ErrCorrupt)
	})
}

// A flipped bit or a cut gives an error or the same positions and sizes.
func TestDamagedMap(t *testing.T) {
	for _, count := range []int{1, 5, -40, 1030} {
		var b BlockMapBuilder
		regular := count < 0
		count = max(count, -count)
		for i := range count {
			n := 1000 + i%7
			if regular {
				n = 1000 - i/(count-1)*300 // the last one has less
			}
			b.Add(n, 500+(i*37)%400)
		}
		good := b.Append(nil)
		size := pad16(b.DataSize())
		m, err := ParseBlockMap(good, size)
		require.NoError(t, err)
		want := m.Append(nil, 0, count)
		for bit := range 8 * len(good) {
			bad := append([]byte(nil), good...)
			bad[bit/8] ^= 1 << (bit % 8)
			if m, err := ParseBlockMap(bad, size); err == nil {
				require.Equal(t, want, m.Append(nil, 0, m.Len()), "bit %d of %d blocks", bit, count)
			}
		}
		for n := range good {
			_, err := ParseBlockMap(good[:n], size)
			require.ErrorIs(t, err, fault.ErrCorrupt)
		}
	}
}

func TestMapAllocs(t *testing.T) {
	var b BlockMapBuilder
	b.Add(100, 200)
	bytes := b.Append(nil)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		m, err := ParseBlockMap(bytes, 208)
		if err != nil || m.Find(3) != 0 {
			panic("bad map")
		}
	}), 1.0)
}

func FuzzMap(f *testing.F) {
	var b BlockMapBuilder
	f.Add(b.Append(nil), int64(0))
	b.Add(100, 200)
	b.Add(1000, 700)
	f.Add(b.Append(nil), int64(912))
	f.Fuzz(func(t *testing.T, bytes []byte, size int64) {
		m, err := ParseBlockMap(bytes, size)
		if err != nil {
			return
		}
		var pos uint64
		var off int64
		for i, e := range m.Append(nil, 0, m.Len()) {
			if e.First != pos || e.Offset != off || e.N < 1 || e.Size < 1 || m.Find(pos) != i {
				t.Fatalf("block %d: %+v, expected value %d at %d", i, e, pos, off)
			}
			pos += uint64(e.N)
			off += int64(e.Size)
		}
		if pos != m.Values() || off > size {
			t.Fatalf("%d values of %d, %d bytes of %d", pos, m.Values(), off, size)
		}
	})
}

func BenchmarkMapParse(b *testing.B) {
	var one BlockMapBuilder
	one.Add(100, 200)
	bytes := one.Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseBlockMap(bytes, 208); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMapFind(b *testing.B) {
	var many BlockMapBuilder
	for i := range 1024 {
		many.Add(1000+i%100, 4000+i%2000)
	}
	m, err := ParseBlockMap(many.Append(nil), pad16(many.DataSize()))
	if err != nil {
		b.Fatal(err)
	}
	pos := uint64(0)
	for b.Loop() {
		pos = (pos + 7919*97) % m.Values()
		m.Block(m.Find(pos))
	}
}

// TestSingle compares Single with the map of one block.
func TestSingleMap(t *testing.T) {
	m, err := SingleBlockMap(100, 24)
	require.NoError(t, err)
	first, n, off, size := m.Block(0)
	require.Equal(t, []any{uint64(0), 100, int64(0), 24}, []any{first, n, off, size})
	require.Equal(t, 1, m.Len())
	require.EqualValues(t, 100, m.Values())
	for _, bad := range []struct {
		values uint64
		size   int64
	}{{0, 24}, {1<<32 - 1, 24}, {1 << 63, 24}, {100, 0}, {100, -8}, {100, 1<<32 - 1}} {
		_, err := SingleBlockMap(bad.values, bad.size)
		require.ErrorIs(t, err, fault.ErrCorrupt, "%v", bad)
	}
	_, err = SingleBlockMap(1<<31, 24)
	require.ErrorIs(t, err, fault.ErrLimit)
}
