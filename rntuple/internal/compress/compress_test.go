package compress

import (
	"bytes"
	"encoding/hex"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/microbench"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

var allSettings = []Settings{0, 101, 109, 207, 401, 404, 409, 501, 505, 507, 519}

// text is n bytes that shrink by more than a half, for any algorithm.
func text(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	b := make([]byte, 0, n+16)
	for len(b) < n {
		k := r.IntN(16)
		b = append(b, "muon_charge eta_phi energy"[k:k+3+k%7]...)
	}
	return b[:n]
}

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func encode(t testing.TB, s Settings, content []byte) []byte {
	t.Helper()
	e, err := NewEncoder(s)
	require.NoError(t, err)
	block, err := e.Append(nil, content)
	require.NoError(t, err)
	return block
}

// Blocks of all settings give their content back, whatever was packed and unpacked before
// with the same encoder and decoder, and are the same each time.
func TestRoundTrips(t *testing.T) {
	for _, s := range allSettings {
		e, err := NewEncoder(s)
		require.NoError(t, err)
		var d Decoder
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(0, 5000).Draw(t, "n")
			content := rapid.SampledFrom([][]byte{text(n), noise(n), make([]byte, n), append(text(n), noise(n)...)}).Draw(t, "content")
			block, err := e.Append([]byte("before"), content)
			require.NoError(t, err)
			require.Equal(t, "before", string(block[:6]))
			block = block[6:]
			require.LessOrEqual(t, len(block), len(content))
			require.NoError(t, Check(block, uint64(len(content))))
			got := noise(len(content))
			require.NoError(t, d.Decode(got, block))
			require.True(t, bytes.Equal(content, got))
			grown, err := d.DecodeGrow(block, uint64(len(content)))
			require.NoError(t, err)
			require.True(t, bytes.Equal(content, grown))
			again, err := e.Append(nil, content)
			require.NoError(t, err)
			require.True(t, bytes.Equal(block, again))
		})
		fresh := encode(t, s, text(3000))
		used, err := e.Append(nil, text(3000))
		require.NoError(t, err)
		require.Equal(t, fresh, used, "%d: a used encoder writes other bytes", s)
	}
}

// Content of more than 16 MiB is stored in chunks.
func TestSeveralChunks(t *testing.T) {
	for _, s := range []Settings{101, 401, 505} {
		content := bytes.Repeat(text(1<<16), 257)
		content = append(content, 7)
		block := encode(t, s, content)
		first, rest, err := NextChunk(block)
		require.NoError(t, err)
		second, rest, err := NextChunk(rest)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, len(content), first.Size+second.Size)
		require.Equal(t, s.Algorithm(), first.Algorithm)
		var d Decoder
		got, err := d.DecodeGrow(block, uint64(len(content)))
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got))
		clear(got)
		require.NoError(t, d.Decode(got, block))
		require.True(t, bytes.Equal(content, got))
	}
}

func TestStoredAsItIs(t *testing.T) {
	for _, s := range allSettings {
		for _, n := range []int{0, 1, 8, 9, 10, 20, 1000} {
			require.Equal(t, noise(n), append(make([]byte, 0, n), encode(t, s, noise(n))...))
		}
	}
}

func TestSettings(t *testing.T) {
	for _, s := range []Settings{0, 100, 200, 400, 500} {
		require.NoError(t, s.Check())
		require.Equal(t, None, s.Algorithm())
	}
	for _, s := range []Settings{1, 99, 301, 601, 700, 1 << 31} {
		require.ErrorIs(t, s.Check(), fault.ErrUnsupported, "%d", s)
		_, err := NewEncoder(s)
		require.Error(t, err)
	}
	require.Equal(t, Zstd, Settings(505).Algorithm())
	require.Equal(t, "lzma", LZMA.String())
	require.Equal(t, "unknown", Algorithm(77).String())
}

// chunk puts a header in front of stored bytes.
func chunk(letters string, stored []byte, size int) []byte {
	n := len(stored)
	return append([]byte{letters[0], letters[1], 8, byte(n), byte(n >> 8), byte(n >> 16), byte(size), byte(size >> 8), byte(size >> 16)}, stored...)
}

// xzStreams hold "RNTuple " 20 times, written by liblzma 5.4 at level 9, whose dictionary is 64 MiB.
var xzStreams = map[string]string{
	"none":   "fd377a585a000000ff12d941020021011c00000010cf58cce0009f000f5d00291386d1500d09191d554095f600000000000123a001000000b65bf68aa8000afc020000000000595a",
	"crc32":  "fd377a585a0000016922de36020021011c00000010cf58cce0009f000f5d00291386d1500d09191d554095f600000000d11e3a40000127a001000000a01967113e300d8b020000000001595a",
	"crc64":  "fd377a585a000004e6d6b446020021011c00000010cf58cce0009f000f5d00291386d1500d09191d554095f6000000006084bc56056bc4ae00012ba001000000dbd9a566b1c467fb020000000004595a",
	"sha256": "fd377a585a00000ae1fb0ca1020021011c00000010cf58cce0009f000f5d00291386d1500d09191d554095f6000000007ba62cd497fbf5f5ae02686b3ea0eb6e3d14922b3bc1bcc969ef7fc5549d6f6e000143a001000000ec540282b6e9df1c02000000000a595a",
}

func TestForeignXZ(t *testing.T) {
	content := bytes.Repeat([]byte("RNTuple "), 20)
	var d Decoder
	for check, stream := range xzStreams {
		raw, err := hex.DecodeString(stream)
		require.NoError(t, err)
		got := make([]byte, len(content))
		require.NoError(t, d.Decode(got, chunk("XZ", raw, len(content))), check)
		require.Equal(t, content, got)
		for i := range raw {
			b := bytes.Clone(raw)
			b[i] ^= 0x10
			if err := d.Decode(got, chunk("XZ", b, len(content))); err == nil && check != "none" {
				require.Equal(t, content, got)
			}
		}
	}
}

// A dictionary of 4 GiB in a header is a claim that costs nothing.
func TestXZDictionaryIsAClaim(t *testing.T) {
	raw, err := hex.DecodeString(xzStreams["crc32"])
	require.NoError(t, err)
	raw[16] = 40
	le.PutUint32(raw[20:], crc32.ChecksumIEEE(raw[12:20]))
	before := leaktest.Allocated()
	got := make([]byte, 160)
	require.NoError(t, new(Decoder).Decode(got, chunk("XZ", raw, 160)))
	require.Less(t, leaktest.Allocated()-before, uint64(1<<20))
}

// Chunks of a few bytes cannot make the decoder take megabytes each.
func TestLZMAChunksAreCheap(t *testing.T) {
	one := []byte{0xe0, 0, 30, 0, 6, 0x5d, 0, 0, 0x6e, 0x16, 0x47, 0xa0, 0} // 31 zeros, lc = 3, lp = 0, pb = 2
	for _, c := range []struct {
		properties byte
		n          int
		ok         bool
	}{
		{0x5d, 1, true},
		{0x5d, 1000, false},          // each with new properties
		{(4*5+4)*9 + 8, 1, false},    // lc + lp = 12: 6 MiB
		{(4*5+4)*9 + 8, 1000, false}, // 6 GiB
		{(4*5+4)*9 + 0, 1, true},     // lc + lp = 4
		{(4*5+4)*9 + 1, 1000, false}, // lc + lp = 5
		{(4*5 + 4) * 10, 1, false},   // no properties at all
		{(4*5+4)*9 + 0, 1000, false}, // allowed, but not each time
		{(2*5+0)*9 + 3, 2, false},    // twice in 62 bytes
	} {
		one[5] = c.properties
		stream := append(bytes.Repeat(one, c.n), 0)
		before := leaktest.Allocated()
		n, err := decodeLZMA2(make([]byte, 31*c.n), stream)
		require.Less(t, leaktest.Allocated()-before, uint64(1<<20))
		if c.ok {
			require.NoError(t, err)
			require.Equal(t, len(stream), n)
		} else {
			require.ErrorIs(t, err, fault.ErrCorrupt, "%v", c)
		}
	}
}

// Raw deflate is what ROOT wrote before zlib.
func TestDeflate(t *testing.T) {
	var d Decoder
	for _, n := range []int{300, 1000, 300} {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, 6)
		require.NoError(t, err)
		w.Write(text(n))
		require.NoError(t, w.Close())
		got := make([]byte, n)
		require.NoError(t, d.Decode(got, chunk("CS", b.Bytes(), n)))
		require.Equal(t, text(n), got)
		require.ErrorIs(t, d.Decode(got, chunk("CS", append(b.Bytes(), 0), n)), fault.ErrCorrupt)
	}
}

func TestBrokenHeaders(t *testing.T) {
	zeros := encode(t, 101, make([]byte, 1000))
	edit := func(at int, v byte) []byte {
		b := bytes.Clone(zeros)
		b[at] = v
		return b
	}
	cases := map[string]struct {
		block []byte
		size  uint64
		kind  error
	}{
		"more stored than content":   {make([]byte, 11), 10, fault.ErrCorrupt},
		"nothing for content":        {nil, 10, fault.ErrCorrupt},
		"half a header":              {zeros[:8], 1000, fault.ErrCorrupt},
		"cut":                        {zeros[:len(zeros)-1], 1000, fault.ErrCorrupt},
		"leftover":                   {append(bytes.Clone(zeros), 0), 1000, fault.ErrCorrupt},
		"leftover chunk":             {append(bytes.Clone(zeros), zeros...), 1000, fault.ErrCorrupt},
		"too small":                  {zeros, 1001, fault.ErrCorrupt},
		"too large":                  {zeros, 999, fault.ErrCorrupt},
		"unknown letters":            {edit(0, 'Q'), 1000, fault.ErrUnsupported},
		"no content":                 {chunk("ZL", make([]byte, 20), 0), 30, fault.ErrCorrupt},
		"more than zlib can hold":    {chunk("ZL", make([]byte, 20), 1<<24-1), 1<<24 - 1, fault.ErrCorrupt},
		"more than LZ4 can hold":     {chunk("L4", make([]byte, 20), 1<<24-1), 1<<24 - 1, fault.ErrCorrupt},
		"more than zstd can hold":    {chunk("ZS", make([]byte, 20), 1<<24-1), 1<<24 - 1, fault.ErrCorrupt},
		"a claim beyond all memory":  {zeros, 1 << 60, fault.ErrCorrupt},
		"LZ4 without a checksum":     {chunk("L4", make([]byte, 7), 100), 100, fault.ErrCorrupt},
		"LZ4 with a wrong checksum":  {chunk("L4", make([]byte, 30), 100), 100, fault.ErrChecksum},
		"another method is harmless": {edit(2, 77), 1000, nil},
	}
	var d Decoder
	for name, c := range cases {
		before := leaktest.Allocated()
		_, err := d.DecodeGrow(c.block, c.size)
		require.Less(t, leaktest.Allocated()-before, uint64(4<<20), name)
		if c.kind == nil {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, c.kind, name)
		if c.size < 1<<20 {
			require.ErrorIs(t, d.Decode(make([]byte, c.size), c.block), c.kind, name)
		}
	}
}

// With any bit flipped or any end cut off, a block gives an error or n bytes, and does no
// harm to the blocks after it. Checksums cover zlib, LZ4 and xz.
func TestDamage(t *testing.T) {
	content := text(600)
	for _, s := range allSettings[1:] {
		block := encode(t, s, content)
		require.Less(t, len(block), len(content))
		var d Decoder
		got := make([]byte, len(content))
		for cut := range block {
			require.Error(t, d.Decode(got, block[:cut]), "%d cut at %d", s, cut)
		}
		for bit := 0; bit < 8*len(block); bit += sweep.Step(7) {
			b := bytes.Clone(block)
			b[bit/8] ^= 1 << (bit % 8)
			before := leaktest.Allocated()
			err := d.Decode(got, b)
			require.Less(t, leaktest.Allocated()-before, uint64(1<<20), "%d bit %d", s, bit)
			if err == nil && s.Algorithm() != Zstd {
				require.Equal(t, content, got, "%d bit %d", s, bit)
			}
			if err != nil {
				require.True(t, fault.Is(err), "%v", err)
			}
			require.NoError(t, d.Decode(got, block))
			require.Equal(t, content, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range allSettings {
		f.Add(encode(f, s, text(300)), uint16(300))
	}
	var d Decoder
	f.Fuzz(func(t *testing.T, block []byte, n uint16) {
		got := make([]byte, n)
		err := d.Decode(got, block)
		grown, gerr := d.DecodeGrow(block, uint64(n))
		require.Equal(t, err == nil, gerr == nil)
		if err == nil {
			require.True(t, bytes.Equal(got, grown))
		} else {
			require.True(t, fault.Is(err))
		}
	})
}

var sinkErr error

// libraries unpack what a chunk stores as their documentation says, to compare with.
var libraries = map[Algorithm]func(dst, src []byte) error{
	Zlib: func() func(dst, src []byte) error {
		var z io.ReadCloser
		return func(dst, src []byte) (err error) {
			if z == nil {
				z, err = zlib.NewReader(bytes.NewReader(src))
			} else {
				err = z.(zlib.Resetter).Reset(bytes.NewReader(src), nil)
			}
			if err == nil {
				_, err = io.ReadFull(z, dst)
			}
			return err
		}
	}(),
	LZMA: func(dst, src []byte) error {
		z, err := xz.NewReader(bytes.NewReader(src))
		if err == nil {
			_, err = io.ReadFull(z, dst)
		}
		return err
	},
	LZ4: func(dst, src []byte) error {
		_, err := lz4.UncompressBlock(src[8:], dst)
		return err
	},
	Zstd: func() func(dst, src []byte) error {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		return func(dst, src []byte) error {
			if err == nil {
				_, err = z.DecodeAll(src, dst[:0])
			}
			return err
		}
	}(),
}

func BenchmarkDecode(b *testing.B) {
	content := text(1 << 20)
	for _, s := range []Settings{101, 207, 404, 505} {
		b.Run(s.Algorithm().String(), func(b *testing.B) {
			block := encode(b, s, content)
			var d Decoder
			got := make([]byte, len(content))
			microbench.Output(b, len(content))
			for b.Loop() {
				sinkErr = d.Decode(got, block)
			}
			require.NoError(b, sinkErr)
		})
		b.Run(s.Algorithm().String()+"/library", func(b *testing.B) {
			c, _, err := NextChunk(encode(b, s, content))
			require.NoError(b, err)
			decode := libraries[s.Algorithm()]
			got := make([]byte, len(content))
			microbench.Output(b, len(content))
			for b.Loop() {
				sinkErr = decode(got, c.Stored)
			}
			require.NoError(b, sinkErr)
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	content := text(1 << 20)
	for _, s := range []Settings{101, 207, 401, 404, 505} {
		b.Run(s.Algorithm().String(), func(b *testing.B) {
			e, err := NewEncoder(s)
			require.NoError(b, err)
			var block []byte
			microbench.Output(b, len(content))
			for b.Loop() {
				block, sinkErr = e.Append(block[:0], content)
			}
			require.NoError(b, sinkErr)
		})
	}
}
