package encoding

import (
	"bytes"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func appendMask(dst []byte, mask bitmap.Bits, nulls int, plainOnly bool) []byte {
	o := Options{}
	if plainOnly {
		o.Profile = ProfilePlain
	}
	return AppendPresence(dst, mask, nulls, o)
}

func maskOf(present []bool) bitmap.Bits {
	b := bitmap.Bits{Data: make([]byte, (len(present)+7)/8), Len: len(present)}
	for i, p := range present {
		if p {
			b.Data[i/8] |= 1 << (i % 8)
		}
	}
	return b
}

// requireDecodes checks that section has the presence of present, at a bit offset, and that no other bits change.
func requireDecodes(t require.TestingT, present []bool, section []byte, off int) {
	n := len(present)
	dst := bytes.Repeat([]byte{0xa5}, (off+n)/8+2)
	nulls, err := DecodePresence(section, n, dst, off)
	require.NoError(t, err)
	counted, err := DecodePresence(section, n, nil, 0)
	require.NoError(t, err)
	require.Equal(t, maskOf(present).Nulls(), nulls)
	require.Equal(t, nulls, counted)
	got := bitmap.Bits{Data: dst, Len: 8 * len(dst)}
	for i := range got.Len {
		want := byte(0xa5)>>(i%8)&1 != 0
		if i >= off && i < off+n {
			want = present[i-off]
		}
		if got.At(i) != want {
			require.Failf(t, "wrong bit", "bit %d of %d at offset %d", i-off, n, off)
		}
	}
}

func TestReferencePresence(t *testing.T) {
	present := make([]bool, 200)
	for i := range present {
		present[i] = i != 5
	}
	want := unhex(t, "0301 3a300000 01000000 0000 0000 10000000 0500")
	require.Equal(t, want, appendMask(nil, maskOf(present), 1, false))
	requireDecodes(t, present, want, 3)
	// The reference can write a mask without nulls.
	requireDecodes(t, []bool{true, true}, unhex(t, "0301 3a300000 00000000"), 0)
	requireDecodes(t, []bool{true, true}, nil, 7)
	requireDecodes(t, []bool{false, false, false}, []byte{1}, 7)
	requireDecodes(t, []bool{false, true, true}, []byte{2, 0, 1, 255}, 7)
	requireDecodes(t, nil, nil, 0)
}

// drawMask draws runs of random lengths, so that every kind of container occurs.
func drawMask(t *rapid.T) []bool {
	n := rapid.SampledFrom([]int{1, 2, 63, 64, 65, 100, 1024, 8192, 65535, 65536, 65537, 140000, 300000}).Draw(t, "n")
	longest := rapid.SampledFrom([]int{1, 2, 10, 1000, 100000}).Draw(t, "longest")
	ratio := rapid.SampledFrom([]float64{0.001, 0.3, 0.5, 0.999}).Draw(t, "ratio")
	seed := rapid.Uint64().Draw(t, "seed")
	next := func(k int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int((seed >> 33) % uint64(k))
	}
	out := make([]bool, 0, n)
	for len(out) < n {
		v := float64(next(1000)) < ratio*1000
		for k := min(1+next(longest), n-len(out)); k > 0; k-- {
			out = append(out, v)
		}
	}
	return out
}

func TestPresenceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		present := drawMask(t)
		mask := maskOf(present)
		nulls := mask.Nulls()
		off := rapid.IntRange(0, 17).Draw(t, "off")
		small := appendMask(nil, mask, nulls, false)
		plain := appendMask(nil, mask, nulls, true)
		require.LessOrEqual(t, len(small), len(plain))
		requireDecodes(t, present, small, off)
		runs := AppendPresence([]byte("before"), mask, nulls, Options{Features: edition.E2026.Features()})[6:]
		require.LessOrEqual(t, len(runs), len(small))
		requireDecodes(t, present, runs, off)
		requireDecodes(t, present, plain, off)
	})
}

// An independent library reads the same bitmaps, and its bitmaps are read here.
func TestAgainstRoaringLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		present := drawMask(t)
		negated := rapid.Bool().Draw(t, "negated")
		theirs := roaring.New()
		for i, p := range present {
			if p != negated {
				theirs.Add(uint32(i))
			}
		}
		if rapid.Bool().Draw(t, "optimize") {
			theirs.RunOptimize()
		}
		flag := byte(0)
		if negated {
			flag = 1
		}
		b, err := theirs.ToBytes()
		require.NoError(t, err)
		requireDecodes(t, present, append([]byte{3, flag}, b...), 0)

		mask := maskOf(present)
		section := appendMask(nil, mask, mask.Nulls(), false)
		if len(section) > 2 && section[0] == 3 {
			ours := roaring.New()
			_, err := ours.FromBuffer(section[2:])
			require.NoError(t, err)
			require.NoError(t, ours.Validate())
			var want []uint32
			for i, p := range present {
				if p == (section[1] == 0) {
					want = append(want, uint32(i))
				}
			}
			require.Equal(t, want, ours.ToArray())
		}
	})
}

func TestBadPresence(t *testing.T) {
	for _, c := range []struct{ name, bytes, want string }{
		{"kind", "05", "unknown kind 5"},
		{"runs without a head", "04 00 00", "no valid head"},
		{"runs of an order", "04 00 11 00 00", "no valid head"},
		{"runs that begin with neither", "04 02 00 00 00", "no valid head"},
		{"a run that is too long", "04 00 03 00 1f1f", "run of"},
		{"a run of many bits", "04 00 00 00 ffffffff", "run of 2^"},
		{"runs that end", "04 00 00 00", "at bit 1 of 0"},
		{"a byte behind runs", "04 00 04 00 1000", "ends at bit"},
		{"bits behind runs", "04 00 04 00 f0", "ends at bit"},
		{"kind 0", "00", "unknown kind 0"},
		{"plain too short", "020101", "2 bytes for 9"},
		{"no bitmap", "03", "ends before"},
		{"no cookie", "0300 3a30", "in its header"},
		{"cookie", "0300 01020304", "unknown cookie"},
		{"count", "0300 3a300000 ffffffff", "claims"},
		{"no containers", "0300 3a300000 02000000 0000", "in its header"},
		{"order", "0300 3a300000 02000000 0000 0000 0000 0000 00000000 00000000 0100 0200", "container 0 after 0"},
		{"position", "0300 3a300000 01000000 0000 0000 10000000 0900", "position 9"},
		{"not ascending", "0300 3a300000 01000000 0000 0100 10000000 0300 0300", "position 3 after 3"},
		{"key", "0300 3a300000 01000000 0100 0000 10000000 0000", "position 65536"},
		{"array cut", "0300 3a300000 01000000 0000 0100 10000000 0300", "ends in an array"},
		{"bitmap cut", "0300 3a300000 01000000 0000 ffff 10000000 0300", "ends in a container"},
		{"run past the end", "0300 3b300000 01 0000 0900 0100 0000 0900", "run of 10"},
		{"runs overlap", "0300 3b300000 01 0000 0300 0200 0000 0100 0100 0100", "run of 2 at 1 after 2"},
		{"runs count", "0300 3b300000 01 0000 0300 0100 0000 0100", "holds 2 positions, announces 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodePresence(unhex(t, c.bytes), 9, make([]byte, 2), 0)
			require.ErrorIs(t, err, fault.ErrCorrupt)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzPresence(f *testing.F) {
	f.Add([]byte{1}, uint16(9), uint8(3))
	f.Add(unhex(f, "0301 3a300000 01000000 0000 0000 10000000 0500"), uint16(200), uint8(0))
	f.Add(unhex(f, "0300 3b300000 01 0000 0300 0100 0000 0300"), uint16(9), uint8(1))
	f.Fuzz(func(t *testing.T, section []byte, n uint16, off uint8) {
		dst := bytes.Repeat([]byte{0xa5}, (int(n)+int(off))/8+1)
		nulls, err := DecodePresence(section, int(n), dst, int(off))
		counted, err2 := DecodePresence(section, int(n), nil, 0)
		require.Equal(t, err == nil, err2 == nil)
		if err != nil {
			return
		}
		got := bitmap.Bits{Data: dst, Off: int(off), Len: int(n)}
		require.Equal(t, nulls, got.Nulls())
		require.Equal(t, nulls, counted)
	})
}

func BenchmarkPresence(b *testing.B) {
	const n = 8192
	present := make([]bool, n)
	for _, every := range []int{3, 50, 500} {
		for i := range present {
			present[i] = (uint64(i)*2654435761>>7)%uint64(every) != 0
		}
		mask := maskOf(present)
		for _, plain := range []bool{true, false} {
			section := appendMask(nil, mask, mask.Nulls(), plain)
			b.Run(PresenceKind(section)+"/every="+string(rune('0'+every%10)), func(b *testing.B) {
				dst := make([]byte, n/8)
				microbench.Output(b, n/8)
				for b.Loop() {
					if _, err := DecodePresence(section, n, dst, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
