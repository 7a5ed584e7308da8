package column

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// put sets a value of a buffer: an integer, or a real for kinds of reals.
func put(b []byte, i int, k Kind, v uint64, f float64) {
	switch k {
	case KindBool:
		b[i/8] = b[i/8]&^(1<<(i%8)) | byte(v&1)<<(i%8)
	case KindFloat16:
		binary.LittleEndian.PutUint16(b[2*i:], toHalf(math.Float32bits(float32(f))))
	case KindFloat32:
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(f)))
	case KindFloat64:
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(f))
	default:
		for j := range kinds[k].width {
			b[i*kinds[k].width+j] = byte(v >> (8 * j))
		}
	}
}

// slowPage encodes a page byte by byte, as the specification says.
func slowPage(t Type, src []byte, n int) []byte {
	width := int(types[t].minBits) / 8
	elements := make([]uint64, n)
	last := uint64(0)
	for i := range elements {
		v := uint64(0)
		for j := range width {
			v |= uint64(src[i*width+j]) << (8 * j)
		}
		switch types[t].transform {
		case zigzag:
			signed := int64(v) << (64 - 8*width) >> (64 - 8*width)
			elements[i] = uint64(2 * signed)
			if signed < 0 {
				elements[i] = uint64(-(2*signed + 1))
			}
		case delta:
			elements[i] = v - last
		default:
			elements[i] = v
		}
		last = v
	}
	page := make([]byte, n*width)
	for i, v := range elements {
		for j := range width {
			at := i*width + j
			if types[t].split {
				at = j*n + i
			}
			page[at] = byte(v >> (8 * j))
		}
	}
	return page
}

var lengths = []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 511, 512, 513, 1024, 1031, 3000}

// TestWholeBytes holds the pages of columns of whole bytes against the slow encoder, in both directions.
func TestWholeBytes(t *testing.T) {
	for _, tier := range tiers() {
		t.Run(tier, func(t *testing.T) {
			use(tier)
			wholeBytes(t)
		})
	}
}

func wholeBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for typ := range typeCount {
		k := typ.Native()
		if k == 0 || k == KindBool || typ == Real32Trunc || typ == Real32Quant {
			continue
		}
		c, err := NewCodec(typ, types[typ].maxBits, 0, 0, k)
		require.NoError(t, err)
		for _, n := range lengths {
			const before, behind = 3, 2
			src := make([]byte, k.Size(before+n+behind))
			for i := range src {
				src[i] = byte(rng.Uint32())
			}
			page, err := c.Append([]byte("x"), src, before, n)
			require.NoError(t, err, typ)
			require.Equal(t, slowPage(typ, src[k.Size(before):], n), page[1:], "%v of %d", typ, n)

			got := make([]byte, len(src))
			copy(got, src[:k.Size(before)])
			copy(got[k.Size(before+n):], src[k.Size(before+n):])
			require.NoError(t, c.Decode(got, before, page[1:], n))
			require.Equal(t, src, got, "%v of %d", typ, n)
		}
	}
}

func TestBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	c, err := NewCodec(Bit, 1, 0, 0, KindBool)
	require.NoError(t, err)
	for _, n := range lengths {
		for at := range 9 {
			src := make([]byte, KindBool.Size(at+n+5))
			for i := range src {
				src[i] = byte(rng.Uint32())
			}
			page, err := c.Append(nil, src, at, n)
			require.NoError(t, err)
			require.Len(t, page, (n+7)/8)
			got := make([]byte, len(src))
			for i := range got {
				got[i] = ^src[i]
			}
			require.NoError(t, c.Decode(got, at, page, n))
			for i := range 8 * len(src) {
				same := got[i/8]>>(i%8)&1 == src[i/8]>>(i%8)&1
				require.Equal(t, i >= at && i < at+n, same, "bit %d of %d from %d", i, n, at)
			}
		}
	}
}

func TestTruncated(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for bits := uint16(10); bits < 32; bits++ {
		c, err := NewCodec(Real32Trunc, bits, 0, 0, KindFloat32)
		require.NoError(t, err)
		for _, n := range lengths {
			src := make([]byte, 4*n)
			want := make([]byte, 4*n)
			for i := range n {
				v := math.Float32bits(float32(rng.NormFloat64()))
				le.PutUint32(src[4*i:], v)
				le.PutUint32(want[4*i:], v>>(32-bits)<<(32-bits))
			}
			page, err := c.Append(nil, src, 0, n)
			require.NoError(t, err)
			got := make([]byte, 4*n)
			require.NoError(t, c.Decode(got, 0, page, n))
			require.Equal(t, want, got)
		}
	}
}

func TestQuantized(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for bits := uint16(1); bits <= 32; bits++ {
		for _, k := range []Kind{KindFloat32, KindFloat64} {
			c, err := NewCodec(Real32Quant, bits, -1.5, 6, k)
			require.NoError(t, err)
			for _, n := range lengths {
				src := make([]byte, k.Size(n))
				for i := range n {
					put(src, i, k, 0, rng.Float64()*7.5-1.5)
				}
				page, err := c.Append(nil, src, 0, n)
				require.NoError(t, err)
				got := make([]byte, k.Size(n))
				require.NoError(t, c.Decode(got, 0, page, n))
				for i := range n {
					v := realAt(got, i, k)
					require.InDelta(t, realAt(src, i, k), v, c.step()*0.5001+1e-6)
					require.True(t, v >= -1.5 && v <= 6)
				}
			}
			for _, bad := range []float64{-1.75, 6.25, math.NaN(), math.Inf(1)} {
				src := make([]byte, k.Size(1))
				put(src, 0, k, 0, bad)
				_, err := c.Append(nil, src, 0, 1)
				require.ErrorIs(t, err, fault.ErrLimit)
			}
		}
	}
}

// TestHalf holds all halves against arithmetic, and rounding against the nearest of them.
func TestHalf(t *testing.T) {
	value := func(h uint16) float64 {
		v := math.Ldexp(float64(h&0x3FF), -24)
		if e := int(h >> 10 & 0x1F); e == 31 {
			v = math.Inf(1)
			if h&0x3FF != 0 {
				v = math.NaN()
			}
		} else if e > 0 {
			v = math.Ldexp(float64(h&0x3FF|0x400), e-25)
		}
		return math.Copysign(v, 1-2*float64(h>>15))
	}
	for h := range 1 << 16 {
		want := value(uint16(h))
		f := math.Float32frombits(fromHalf(uint16(h)))
		if math.IsNaN(want) {
			require.True(t, f != f)
			require.Equal(t, uint16(h)|0x200, toHalf(fromHalf(uint16(h))))
			continue
		}
		require.Equal(t, math.Float64bits(want), math.Float64bits(float64(f)))
		require.Equal(t, uint16(h), toHalf(fromHalf(uint16(h))))
	}
	for h := range uint16(0x7BFF) {
		low, high := value(h), value(h+1)
		middle := float32((low + high) / 2) // halves have 11 bits, so that it is exact
		require.Equal(t, h+h&1, toHalf(math.Float32bits(middle)))
		require.Equal(t, h, toHalf(math.Float32bits(math.Nextafter32(middle, 0))))
		require.Equal(t, h+1, toHalf(math.Float32bits(math.Nextafter32(middle, 1e9))))
	}
	require.Equal(t, uint16(0x7BFF), toHalf(math.Float32bits(math.Nextafter32(halfOverflow, 0))))
	require.Equal(t, uint16(0x7C00), toHalf(math.Float32bits(halfOverflow)))
}

// TestConversions reads extreme values of each column of integers as each kind that is allowed.
func TestConversions(t *testing.T) {
	values := []int64{0, 1, -1, 127, 128, 255, 256, -128, -129, 32767, 32768, 65535, 65536, -32768, -32769,
		math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, math.MaxUint32 + 1, math.MinInt32, math.MinInt32 - 1, math.MaxInt64, math.MinInt64}
	for typ := range typeCount {
		native := typ.Native()
		if typ.Real() || native == 0 {
			continue
		}
		for k := Kind(1); k < kindCount; k++ {
			c, err := NewCodec(typ, types[typ].maxBits, 0, 0, k)
			if !Readable(typ, k) {
				require.ErrorIs(t, err, fault.ErrUnsupported)
				continue
			}
			require.NoError(t, err)
			for _, v := range values {
				src := make([]byte, native.Size(8))
				put(src, 2, native, uint64(v), 0)
				w, err := NewCodec(typ, types[typ].maxBits, 0, 0, native)
				require.NoError(t, err)
				page, err := w.Append(nil, src, 0, 8)
				require.NoError(t, err)
				stored, negative := widened(src, 2, native)
				dst := make([]byte, k.Size(9))
				err = c.Decode(dst, 1, page, 8)
				if !fits(stored, negative, k) {
					require.ErrorIs(t, err, fault.ErrUnsupported, "%v as %v: %d", typ, k, stored)
					require.ErrorContains(t, err, "element 2 ")
					continue
				}
				require.NoError(t, err)
				got, _ := widened(dst, 3, k)
				if k == KindBool && stored != 0 {
					stored = 1
				}
				require.Equal(t, stored, got, "%v as %v", typ, k)
			}
		}
	}
}

// widened gives an integer with the bits of an int64, and whether it is negative.
func widened(b []byte, i int, k Kind) (uint64, bool) {
	if k == KindBool {
		return uint64(b[i/8] >> (i % 8) & 1), false
	}
	width := kinds[k].width
	v := uint64(0)
	for j := range width {
		v |= uint64(b[i*width+j]) << (8 * j)
	}
	switch k {
	case KindChar, KindInt8, KindInt16, KindInt32, KindInt64, KindOffset32, KindOffset64:
		v = uint64(int64(v) << (64 - 8*width) >> (64 - 8*width))
		return v, int64(v) < 0
	}
	return v, false
}

func fits(v uint64, negative bool, k Kind) bool {
	bits := 8 * kinds[k].width
	switch k {
	case KindBool:
		return true
	case KindChar, KindInt8, KindInt16, KindInt32, KindInt64:
		if negative {
			return int64(v) >= math.MinInt64>>(64-bits)
		}
		return v <= math.MaxInt64>>(64-bits)
	case KindOffset32, KindOffset64:
		return !negative && v <= math.MaxInt64>>(64-bits)
	}
	return !negative && v <= math.MaxUint64>>(64-bits)
}

func TestReals(t *testing.T) {
	c, err := NewCodec(SplitReal64, 64, 0, 0, KindFloat32)
	require.NoError(t, err)
	w, err := NewCodec(SplitReal64, 64, 0, 0, KindFloat64)
	require.NoError(t, err)
	read := func(v float64) (float32, error) {
		src := make([]byte, 16)
		put(src, 1, KindFloat64, 0, v)
		page, err := w.Append(nil, src, 0, 2)
		require.NoError(t, err)
		dst := make([]byte, 8)
		err = c.Decode(dst, 0, page, 2)
		return math.Float32frombits(le.Uint32(dst[4:])), err
	}
	for _, v := range []float64{0, 1, 0.1, -3e38, math.Inf(-1), math.Copysign(0, -1)} {
		got, err := read(v)
		require.NoError(t, err)
		require.Equal(t, float32(v), got)
	}
	got, err := read(math.NaN())
	require.NoError(t, err)
	require.True(t, got != got)
	for _, v := range []float64{1e39, -1e300, 1e-39, 1e-300, 5e-324} {
		_, err := read(v)
		require.ErrorIs(t, err, fault.ErrUnsupported, v)
		require.ErrorContains(t, err, "element 1 ")
	}

	half, err := NewCodec(Real16, 16, 0, 0, KindFloat64)
	require.NoError(t, err)
	src := make([]byte, 8)
	put(src, 0, KindFloat64, 0, 65520)
	_, err = half.Append(nil, src, 0, 1)
	require.ErrorIs(t, err, fault.ErrLimit)
	put(src, 0, KindFloat64, 0, math.Inf(1))
	_, err = half.Append(nil, src, 0, 1)
	require.NoError(t, err)
}

func TestSwitch(t *testing.T) {
	tags, places := []int8{1, 0, 125}, []int32{7, 0, math.MaxInt32}
	page := AppendSwitch(nil, tags, places)
	gotTags, gotPlaces := make([]int8, 3), make([]int32, 3)
	require.NoError(t, DecodeSwitch(gotTags, gotPlaces, page, 0))
	require.Equal(t, tags, gotTags)
	require.Equal(t, places, gotPlaces)
	require.ErrorIs(t, DecodeSwitch(gotTags, gotPlaces, page[:len(page)-1], 0), fault.ErrCorrupt)
	page[8] = 200
	require.ErrorIs(t, DecodeSwitch(gotTags, gotPlaces, page, 0), fault.ErrUnsupported)
}

func TestNames(t *testing.T) {
	for k := Kind(0); k <= kindCount; k++ {
		want := k
		if k == kindCount || k == KindFloat16 || k == KindOffset32 || k == KindOffset64 {
			want = 0
		}
		require.Equal(t, want, KindOf(k.String()), k)
	}
	for code := range uint16(0x20) {
		typ := FromV02(code)
		require.Equal(t, code >= 1 && code <= 0x1C, typ.Known())
	}
	require.Equal(t, "SplitInt16", FromV02(0x1C).String())
	require.Equal(t, "Real32Quant", Type(0x1D).String())
}

func TestSizesAreChecked(t *testing.T) {
	c, err := NewCodec(SplitInt32, 32, 0, 0, KindInt32)
	require.NoError(t, err)
	require.ErrorIs(t, c.Decode(make([]byte, 16), 0, make([]byte, 15), 4), fault.ErrCorrupt)
	require.ErrorIs(t, c.Decode(make([]byte, 15), 0, make([]byte, 16), 4), fault.ErrLimit)
	require.ErrorIs(t, c.Decode(make([]byte, 16), 1, make([]byte, 16), 4), fault.ErrLimit)
	require.ErrorIs(t, c.Decode(make([]byte, 16), -1, make([]byte, 16), 4), fault.ErrLimit)
	_, err = NewCodec(Real32Trunc, 9, 0, 0, KindFloat32)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	_, err = NewCodec(Real32Quant, 9, 1, 1, KindFloat32)
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

// FuzzDecode feeds pages of any bytes to any column: no input may do more than fail.
func FuzzDecode(f *testing.F) {
	f.Add(byte(SplitInt32), byte(32), byte(KindInt8), uint16(2), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(byte(Real32Quant), byte(13), byte(KindFloat32), uint16(3), []byte{1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, typ, bits, kind byte, n uint16, page []byte) {
		c, err := NewCodec(Type(typ), uint16(bits), -1, 1, Kind(kind))
		if err != nil {
			return
		}
		dst := make([]byte, c.Kind().Size(int(n)+3))
		err = c.Decode(dst, 3, page, int(n))
		if err != nil && !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrUnsupported) {
			t.Fatal(err)
		}
	})
}
