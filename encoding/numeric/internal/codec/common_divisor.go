package codec

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// CommonDivisor, code 0x8002 (edition 2026), integers (T of size bytes, U the
// unsigned type of that size):
//
//	02 80 | T base | U divisor | zeros up to H | tree of n U
//
// H is 2 + 2*size rounded up to 8; value = base + divisor * quotient, modulo
// 2^bits. A divisor of 0 is an error. Dates as ticks are the case that it is for: they are multiples of a day.
// Example, int16 1000, 1300, 1100, the quotients as Plain:
//
//	02 80 | e8 03 | 64 00 | 00 00 | 01 00 00 00 03 00 01 00
func layoutOfCommonDivisor(r *trees.Reader) (base, divisor uint64, quotients trees.Part) {
	base, divisor = r.Value("base"), r.Uint(r.T.Size(), "divisor")
	r.Pad()
	quotients = r.Last("quotients", true, r.T.ToUnsigned(), r.N)
	if divisor == 0 {
		r.Fail(fault.Corruptf("divisor 0"))
	}
	return base, divisor, quotients
}

func viewCommonDivisor[U word.Uint](v *trees.View[U], dst []U, r *trees.Reader, places []uint32, s *trees.Scratch) error {
	base, divisor, quotients := layoutOfCommonDivisor(r)
	if r.Err != nil {
		return r.Err
	}
	return v.ParseScaled(dst, &quotients, U(base), U(divisor), places, s)
}

// appendCommonDivisor divides the distances from the least value by what p says,
// or by their greatest common divisor.
func appendCommonDivisor[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	low, _ := in.Bounds()
	mark := e.Mem.Mark()
	quotients := word.Take[U](&e.Mem, len(in.Values))
	divisor := divide(quotients, in.Values, low, U(p.Reference))
	start := len(dst)
	dst = trees.AppendCode(dst, encoding.CommonDivisor)
	dst = trees.Pad(word.StoreOne(word.StoreOne(dst, low), divisor), start)
	dst = encode.Append(e, dst, in.Child(e, quotients, encoding.CommonDivisor, 0), p.Kids[0])
	e.Mem.Release(mark)
	return dst
}

// divide sets quotients to (values - low) / divisor. It begins with a guess of
// the divisor, 0 for none, and returns the one that divides all.
//
// A division that is exact is a product with the inverse of the divisor modulo
// 2^bits, and a rotation for its factors 2; a quotient that is too large shows
// that it is not exact (Granlund and Montgomery, "Division by Invariant Integers
// using Multiplication", 1994, section 9).
func divide[U word.Uint](quotients, values []U, low, divisor U) U {
	for {
		if divisor <= 1 {
			divisor = divisorOf(values, low, divisor)
		}
		shift := bits.TrailingZeros64(uint64(divisor))
		inverse, most := inverseOf(divisor>>shift), ^U(0)/divisor
		done := true
		for i, v := range values {
			q := (v - low) * inverse
			q = q>>shift | q<<(word.BitsOf[U]()-shift)
			if q > most {
				divisor, done = gcd(divisor, v-low), false
				if divisor == 1 {
					done = true
				}
				break
			}
			quotients[i] = q
		}
		if done && divisor > 1 {
			return divisor
		}
		if divisor <= 1 {
			for i, v := range values {
				quotients[i] = v - low
			}
			return 1
		}
	}
}

// divisorOf is the greatest divisor of all distances from low, at least 1. It
// is 1 at once if the guess was 1.
func divisorOf[U word.Uint](values []U, low, guess U) U {
	if guess == 1 {
		return 1
	}
	d := U(0)
	for _, v := range values {
		if d = gcd(d, v-low); d == 1 {
			break
		}
	}
	return max(d, 1)
}

func gcd[U word.Uint](a, b U) U {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// inverseOf is the inverse of an odd number modulo 2^bits, by Newton's method:
// each step doubles the number of bits that are right, of which d has 3.
func inverseOf[U word.Uint](d U) U {
	x := d
	for range 5 {
		x *= 2 - d*x
	}
	return x
}

func commonDivisorCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{
		Decoder: trees.Decoder[U]{View: viewCommonDivisor[U]},
		Append:  appendCommonDivisor[U],
		Look:    lookForDivisor[U],
	}
}

var commonDivisor = encode.Row{
	Row:      trees.Row{Code: encoding.CommonDivisor, Types: word.Ints, Layout: func(r *trees.Reader) { layoutOfCommonDivisor(r) }},
	Codecs:   encode.Codecs{W8: commonDivisorCodec[uint8](), W16: commonDivisorCodec[uint16](), W32: commonDivisorCodec[uint32](), W64: commonDivisorCodec[uint64]()},
	Needs:    edition.Only(edition.CommonDivisor),
	Parts:    []encode.Part{{Type: word.Type.ToUnsigned}},
	Tier:     encode.TierLight,
	Levels:   1,
	Roles:    encode.InRoles(),
	Once:     true,
	PerValue: 200,
	PerByte:  15,
	Estimate: estimateCommonDivisor,
	Guess:    encode.TierLight,
	Nests:    true,
	Plan:     func(_ *encode.Stats, f encode.Found, _ int) encode.Plan { return encode.Plan{Reference: f.Reference} },
}

func estimateCommonDivisor(_ *encode.Weights, s *encode.Stats, f encode.Found) int {
	if f.Reference <= 1 {
		return 0
	}
	return trees.HeaderLen(2*s.T.Size()) + 8 + trees.PackedSize(s.N, bits.Len64(s.Spread/f.Reference))
}

// lookForDivisor finds the greatest divisor of the distances of a sample from the least value.
func lookForDivisor[U word.Uint](_ *encode.Workspace, in encode.Input[U], s *encode.Stats) encode.Found {
	if s.Width <= 1 {
		return encode.Found{}
	}
	low, d := U(s.Low), U(0)
	for i := range in.Windows() {
		for _, v := range in.Window(i) {
			if d = gcd(v-low, d); d == 1 {
				return encode.Found{Reference: 1}
			}
		}
	}
	return encode.Found{Reference: uint64(d)}
}
