package frontcode

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// split is values as front coding has them.
func split(values []string, restart int) (data []byte, prefixes []uint32, rests []byte, ends []int32) {
	offsets := []int64{0}
	for _, v := range values {
		data = append(data, v...)
		offsets = append(offsets, int64(len(data)))
	}
	prefixes = make([]uint32, len(values))
	Prefixes(prefixes, data, offsets, restart)
	for i, v := range values {
		rests = append(rests, v[prefixes[i]:]...)
		ends = append(ends, int32(len(rests)))
	}
	return data, prefixes, rests, ends
}

// Values of any lengths come back, whatever room there is, and from any restart on.
func TestExpand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.StringMatching(`(a{0,40}|(ab){0,30})[abc]{0,3}|`), 1, 40).Draw(t, "values")
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(values)
		}
		restart := rapid.IntRange(1, 20).Draw(t, "restart")
		data, prefixes, rests, ends := split(values, restart)
		for i := range prefixes {
			require.True(t, i%restart != 0 || prefixes[i] == 0)
		}
		slack := rapid.SampledFrom([]int{0, 1, 40, 100}).Draw(t, "slack")
		memory := bytes.Repeat([]byte{0xa5}, len(data)+slack+8)
		dst := memory[: len(data) : len(data)+slack]
		offsets := make([]int64, len(values))
		if rapid.Bool().Draw(t, "room behind rests") {
			rests = append(slices.Clone(rests), make([]byte, Slack)...)[:len(rests)]
		}
		err := Expand(dst, offsets, 7, prefixes, rests, 0, ends, nil, 0, restart)
		require.NoError(t, err)
		require.Equal(t, string(data), string(dst))
		require.Equal(t, bytes.Repeat([]byte{0xa5}, 8), memory[len(data)+slack:])
		at := 0
		for i, v := range values {
			at += len(v)
			require.EqualValues(t, at+7, offsets[i])
		}
	})
}

func TestBadPrefixes(t *testing.T) {
	data, prefixes, rests, ends := split([]string{"abc", "abd", "", "abdf"}, 64)
	require.Equal(t, []uint32{0, 2, 0, 3}, prefixes)
	expand := func() error {
		return Expand(make([]byte, len(data)), make([]int32, 4), 0, prefixes, rests, 0, ends, nil, 0, 64)
	}
	require.NoError(t, expand())
	for i := range prefixes {
		for _, by := range []uint32{1, 4, 1 << 31, ^uint32(0)} {
			prefixes[i] += by
			require.ErrorIs(t, expand(), fault.ErrCorrupt)
			prefixes[i] -= by
		}
	}
}

func paths(n int) (values []string) {
	for i := range n {
		values = append(values, fmt.Sprintf("/usr/share/doc/package-%03d/examples/%d/file_%d.txt", i/100, i/10, i))
	}
	return values
}

func BenchmarkExpand(b *testing.B) {
	data, prefixes, rests, ends := split(paths(2000), 64)
	dst, offsets := make([]byte, len(data), len(data)+Slack), make([]int32, 2000)
	rests = append(rests, make([]byte, Slack)...)[:len(rests)]
	microbench.Output(b, len(data))
	for b.Loop() {
		if err := Expand(dst, offsets, 0, prefixes, rests, 0, ends, nil, 0, 64); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/value")
}

func BenchmarkPrefixes(b *testing.B) {
	data, prefixes, _, _ := split(paths(2000), 64)
	offsets := []int64{0}
	for _, v := range paths(2000) {
		offsets = append(offsets, offsets[len(offsets)-1]+int64(len(v)))
	}
	microbench.Output(b, len(data))
	for b.Loop() {
		Prefixes(prefixes, data, offsets, 64)
	}
}

// FuzzExpand takes any prefixes and rests, and gives the same whatever room there is, and no byte too many.
func FuzzExpand(f *testing.F) {
	f.Add([]byte{0, 8, 5}, []byte{8, 5, 4}, []byte("/var/log/cronmail"), uint8(64))
	f.Add([]byte{0, 2, 0, 1}, []byte{3, 1, 3, 1}, []byte("abcdxyzw"), uint8(2))
	f.Fuzz(func(t *testing.T, shared, own, rests []byte, restart uint8) {
		n := min(len(shared), len(own))
		prefixes, ends := make([]uint32, n), make([]int32, n)
		at, size := 0, 0
		for i := range n {
			at = min(at+int(own[i]), len(rests))
			prefixes[i], ends[i] = uint32(shared[i]), int32(at)
			size += int(shared[i])
		}
		size += at
		expand := func(slack int) ([]byte, []int32, error) {
			mem := bytes.Repeat([]byte{0xa5}, size+slack+1)
			in := append(bytes.Clone(rests[:at]), make([]byte, slack)...)
			offsets := make([]int32, n)
			err := Expand(mem[:size:size+slack], offsets, 0, prefixes, in[:at:at+slack], 0, ends, nil, 0, int(restart)+1)
			require.EqualValues(t, 0xa5, mem[size+slack], "written behind the room")
			return mem[:size], offsets, err
		}
		narrow, offsets, err := expand(0)
		wide, same, other := expand(2 * Slack)
		require.Equal(t, err == nil, other == nil)
		if err == nil {
			require.Equal(t, narrow, wide)
			require.Equal(t, offsets, same)
		}
	})
}
