package vector

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// TestGather compares tables of all slots, and of none, with looking values up
// one by one, with exact room and with more, and looks for bytes written outside.
func TestGather(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, longest := range []int{0, 1, 2, 3, 4, 7, 8, 13, 16, 17, 32, 40, 64, 65, 200} {
		for _, same := range []bool{true, false} {
			for _, n := range []int{1, 3, 300} {
				v := makeValues(n, func(int) []byte {
					size := longest
					if !same {
						size = rnd.IntN(longest + 1)
					}
					b := make([]byte, size)
					for i := range b {
						b[i] = byte(rnd.Uint32())
					}
					return b
				})
				for _, first := range []int{0, 1} {
					var table Table
					table.Reset(v, first, rnd.IntN(2)*manySlot)
					for _, count := range []int{0, 1, 2, 100} {
						checkGather(t, &table, v, first, count, rnd)
					}
				}
			}
		}
	}
}

func checkGather(t *testing.T, table *Table, v Values, first, count int, rnd *rand.Rand) {
	codes := make([]uint32, count)
	var want []byte
	var ends []int32
	for i := range codes {
		codes[i] = uint32(rnd.IntN(v.N + first))
		if k := int(codes[i]) - first; k >= 0 {
			want = append(want, v.At(k)...)
		}
		ends = append(ends, int32(len(want))+5)
	}
	size, err := table.Size(codes)
	require.NoError(t, err)
	require.Equal(t, uint64(len(want)), size)
	require.LessOrEqual(t, size, table.Bound(count))
	for _, slack := range []int{0, 1, 7, 50, 1000} {
		const canary = 0xa5
		memory := make([]byte, 64+len(want)+slack+64)
		for i := range memory {
			memory[i] = canary
		}
		got := make([]int32, count)
		end := 64 + len(want)
		dst := memory[64 : end+rnd.IntN(slack+1) : end+slack]
		n, err := Gather(table, dst, got, 5, codes)
		require.NoError(t, err)
		require.Equal(t, string(want), string(dst[:n]))
		require.Equal(t, append([]int32{}, ends...), got)
		for i, b := range memory {
			if (i < 64 || i >= end+slack) && b != canary {
				t.Fatalf("byte %d written, outside of %d to %d", i, 64, end+slack)
			}
		}
		if len(want) > 0 {
			_, err = Gather(table, make([]byte, len(want)-1), got, 5, codes)
			require.Error(t, err)
		}
		if count > 0 {
			codes[count-1] += uint32(table.Len())
			_, err = Gather(table, make([]byte, len(want)+64), got, 5, codes)
			require.ErrorIs(t, err, fault.ErrCorrupt)
			_, err = table.Size(codes)
			require.ErrorIs(t, err, fault.ErrCorrupt)
			codes[count-1] -= uint32(table.Len())
		}
	}
}

// A table takes no memory once it has enough, whatever lies behind the values.
func TestResetAllocs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, as with the race detector, which allocates")
	}
	v := makeValues(100, func(int) []byte { return make([]byte, 200) })
	v.Data = v.Data[:len(v.Data):len(v.Data)]
	var table Table
	table.Reset(v, 1, 0)
	require.Zero(t, testing.AllocsPerRun(10, func() { table.Reset(v, 1, 0) }))
}

// Check finds a code that is not in the table anywhere.
func TestCheck(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		table := NewTable(makeValues(1+r.IntN(300), func(int) []byte { return []byte("x") }))
		codes := make([]uint32, r.IntN(3*64*checked))
		for i := range codes {
			codes[i] = r.Uint32N(uint32(table.Len()))
		}
		require.NoError(t, table.Check(codes))
		if len(codes) > 0 {
			codes[r.IntN(len(codes))] = []uint32{uint32(table.Len()), 1 << 31, 1<<32 - 1}[r.IntN(3)]
			require.ErrorIs(t, table.Check(codes), fault.ErrCorrupt)
		}
	}
	empty := NewTable(makeValues(0, nil))
	require.NoError(t, empty.Check(nil))
	require.ErrorIs(t, empty.Check(make([]uint32, 5000)), fault.ErrCorrupt)
}

// Values up to the end of a room of which there is no more leave no pointer behind it, as empty ones would that follow (the race detector tells).
func TestGatherToTheEnd(t *testing.T) {
	long := make([]byte, 128)
	v := makeValues(2, func(i int) []byte { return long[:128*i] })
	var table Table
	table.Reset(v, 0, 0)
	n, err := Gather(&table, bytes.Clone(long), make([]int32, 3), 0, []uint32{1, 0, 0})
	require.NoError(t, err)
	require.Equal(t, 128, n)
}
