package radixpack

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func random(rnd *rand.Rand, k, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(rnd.IntN(k)*151 + 7) // 151 is odd: any k of them differ
	}
	return out
}

// Characters of an alphabet of any size take at most 2 % more than their entropy.
func TestUniform(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var e Encoder
	var d Decoder
	worst := 0.0
	for k := 1; k <= 256; k++ {
		chars := random(rnd, k, 20_000)
		size := e.Plan(chars, 0)
		packed := e.Append(nil, chars)
		require.Equal(t, size, len(packed)+len(e.Layout.Append(nil)))
		used := len(e.Layout.Alphabets[0])
		over := float64(len(packed)*8) / (20_000 * math.Log2(float64(used)))
		if k > 1 {
			if over > worst {
				worst = over
			}
			require.Less(t, over, 1.021, "%d", k)
		}
		check(t, &e, &d, chars, packed, rnd)
	}
	t.Log(worst)
}

// Values of one length whose alphabets are powers of two are unpacked as fields.
func TestFields(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var e Encoder
	var d Decoder
	for _, each := range []int{1, 7, 8, 9, 31, 32, 33, 36, 64, 65, 255, 256} {
		for range 10 {
			var kinds []int
			for range each {
				kinds = append(kinds, 1<<rnd.IntN(6))
			}
			var chars []byte
			for range 700 {
				for i, k := range kinds {
					chars = append(chars, byte(i%3*20+rnd.IntN(k)))
				}
			}
			e.Plan(chars, each)
			check(t, &e, &d, chars, e.Append(nil, chars), rnd)
		}
	}
	uuid := func(b []byte) []byte {
		return fmt.Appendf(b, "%08x-%04x-4%03x-%x%03x-%012x", rnd.Uint32(), rnd.IntN(1<<16), rnd.IntN(1<<12), 8+rnd.IntN(4), rnd.IntN(1<<12), rnd.Int64N(1<<48))
	}
	var chars []byte
	for range 1000 {
		chars = uuid(chars)
	}
	require.Less(t, e.Plan(chars, 36), 1000*122/8+200)
	check(t, &e, &d, chars, e.Append(nil, chars), rnd)
	require.Equal(t, fieldKernel, d.fields.chunks > 0)
}

func check(t *testing.T, e *Encoder, d *Decoder, chars, packed []byte, rnd *rand.Rand) {
	var l Layout
	b := e.Layout.Append(nil)
	n, err := l.ParseLayout(b, len(e.Layout.Alphabets), len(e.Layout.Positions), len(e.Layout.Groups))
	require.NoError(t, err)
	require.Len(t, b, n)
	d.Reset(&l)
	for _, slack := range []int{0, 1, 100} {
		out := make([]byte, len(chars), len(chars)+slack)
		require.NoError(t, d.Decode(out, packed, 0))
		require.True(t, bytes.Equal(chars, out))
	}
	for range 20 {
		from := rnd.IntN(len(chars))
		to := from + rnd.IntN(min(len(chars)-from, 300))
		out := make([]byte, to-from)
		require.NoError(t, d.Decode(out, packed, from))
		require.True(t, bytes.Equal(chars[from:to], out))
	}
}

// Values of one length have alphabets by position.
func TestPositions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var e Encoder
	var d Decoder
	for range 300 {
		each := 2 + rnd.IntN(MaxPeriod-2)
		var kinds []int
		for range each {
			kinds = append(kinds, 1<<rnd.IntN(8)-rnd.IntN(2))
		}
		var chars []byte
		for range 300 {
			for i, k := range kinds {
				chars = append(chars, byte(i+rnd.IntN(max(k, 1))))
			}
		}
		e.Plan(chars, each)
		check(t, &e, &d, chars, e.Append(nil, chars), rnd)
	}
}

func BenchmarkDecode(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{2, 10, 16, 26, 33, 36, 62, 64, 65, 90, 128} {
		chars := random(rnd, k, 128<<10)
		var e Encoder
		e.Plan(chars, 0)
		packed := e.Append(nil, chars)
		b.Run(fmt.Sprintf("%d in %d", len(e.Layout.Positions), k), func(b *testing.B) {
			var d Decoder
			out := make([]byte, len(chars), len(chars)+Slack)
			d.Reset(&e.Layout)
			microbench.Output(b, len(chars))
			for b.Loop() {
				if err := d.Decode(out, packed, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(packed)*8)/(float64(len(chars))*math.Log2(float64(k))), "entropy")
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{16, 36, 90} {
		chars := random(rnd, k, 128<<10)
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			var e Encoder
			var out []byte
			microbench.Output(b, len(chars))
			for b.Loop() {
				e.Plan(chars, 64)
				out = e.Append(out[:0], chars)
			}
		})
	}
}

// FuzzDecode unpacks any bytes by any layout: the whole as its parts, and no byte too many.
func FuzzDecode(f *testing.F) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var e Encoder
	for _, each := range []int{0, 6, 16} {
		chars := random(rnd, 5+each, 96)
		e.Plan(chars, each)
		l := &e.Layout
		f.Add(l.Append(nil), uint8(len(l.Alphabets)), uint8(len(l.Positions)), uint8(len(l.Groups)), e.Append(nil, chars), uint8(7))
	}
	f.Fuzz(func(t *testing.T, layout []byte, alphabets, period, groups uint8, packed []byte, cut uint8) {
		var l Layout
		if _, err := l.ParseLayout(layout, int(alphabets), int(period), int(groups)); err != nil {
			return
		}
		n := 1000
		if bits := l.Bits(); bits > 0 {
			n = min(n, 8*len(packed)/bits*int(period))
		}
		var d Decoder
		d.Reset(&l)
		mem := bytes.Repeat([]byte{0xa5}, n+1)
		if d.Decode(mem[:n:n], packed, 0) != nil {
			return
		}
		require.EqualValues(t, 0xa5, mem[n], "written behind the end")
		roomy := make([]byte, n+Slack)
		require.NoError(t, d.Decode(roomy[:n], packed, 0))
		require.Equal(t, mem[:n], roomy[:n])
		at := min(int(cut), n)
		part := make([]byte, n-at)
		require.NoError(t, d.Decode(part, packed, at))
		require.Equal(t, mem[at:n], part)

		each := int(period)
		if values := n / each; values > 0 {
			found := make([]byte, (values+7)/8)
			prefix, part := mem[:1+at%each], mem[at%each:][:1+int(cut/7)%(each-at%each)]
			if l.Find(found, packed, values, each, prefix, false) {
				for i := range values {
					require.True(t, found[i/8]>>(i%8)&1 == 1 || !bytes.HasPrefix(mem[i*each:n], prefix), "value %d", i)
				}
			}
			if l.Find(found, packed, values, each, part, true) {
				for i := range values {
					require.True(t, found[i/8]>>(i%8)&1 == 1 || !bytes.Contains(mem[i*each:(i+1)*each], part), "value %d", i)
				}
			}
		}
	})
}

// Parts that can be at few places of values are found there, and nowhere else.
func TestFind(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for name, value := range map[string]func() string{
		"phone": func() string { return fmt.Sprintf("(%03d) %03d-%04d", rnd.IntN(1000), rnd.IntN(1000), rnd.IntN(10000)) },
		"uuid":  func() string { return fmt.Sprintf("%08x-%04x-4%03x", rnd.Uint32(), rnd.IntN(1<<16), rnd.IntN(1<<12)) },
		"time": func() string {
			return fmt.Sprintf("2024-%02d-%02dT%02d:%02dZ", 1+rnd.IntN(12), 1+rnd.IntN(28), rnd.IntN(24), rnd.IntN(60))
		},
	} {
		var values []string
		for range 700 {
			values = append(values, value())
		}
		each, chars := len(values[0]), []byte(strings.Join(values, ""))
		var e Encoder
		e.Plan(chars, each)
		packed, told := e.Append(nil, chars), 0
		for range 1000 {
			from := rnd.IntN(each)
			part := values[rnd.IntN(len(values))][from : from+1+rnd.IntN(each-from)]
			found := bytes.Repeat([]byte{0xff}, (len(values)+7)/8)
			if !e.Layout.Find(found, packed, len(values), each, []byte(part), true) {
				continue
			}
			told++
			for i, v := range values {
				require.True(t, found[i/8]>>(i%8)&1 == 1 || !strings.Contains(v, part), "%s: %q in %q", name, part, v)
			}
		}
		require.Greater(t, told, 300, name)
	}
}

// FuzzRoundTrip packs any characters.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("2026-11-22 2026-11-23 "), uint8(11))
	f.Add([]byte("the quick brown fox"), uint8(0))
	f.Fuzz(func(t *testing.T, chars []byte, each uint8) {
		if each > 0 {
			chars = chars[:len(chars)/int(each)*int(each)]
		}
		if len(chars) == 0 {
			return
		}
		var e Encoder
		e.Plan(chars, int(each))
		check(t, &e, new(Decoder), chars, e.Append(nil, chars), rand.New(rand.NewPCG(1, 2)))
	})
}

// The alphabets of a sample of random bytes are not complete, and all different: with one for each position, they take more than they save.
func TestRandomBytesShareAnAlphabet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 16*512)
	for i := range data {
		if i%16 < 13 {
			data[i] = byte(r.Uint32())
		}
	}
	var e Encoder
	require.Less(t, e.Plan(data, 16), 13*512+400)
}
