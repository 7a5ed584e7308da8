package valueset

import (
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/amudai/amudai-go/internal/engine/ast"
)

// floatKey maps floats other than NaN to integers in the same order. The next float has the next integer, and both zeros
// have 0.
func floatKey(bits uint64, width int) int64 {
	sign := uint64(1) << (width - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}

// key is the floatKey of a float of the domain's width.
func (d *Domain) key(v float64) int64 {
	switch d.width {
	case 16:
		return floatKey(uint64(float16.New(float32(v)).Uint16()), 16)
	case 32:
		return floatKey(uint64(math.Float32bits(float32(v))), 32)
	}
	return floatKey(math.Float64bits(v), 64)
}

// float is the float of a key.
func (d *Domain) float(key int64) float64 {
	bits := uint64(max(key, -key))
	if key < 0 {
		bits |= 1 << (d.width - 1)
	}
	switch d.width {
	case 16:
		return float64(float16.FromBits(uint16(bits)).Float32())
	case 32:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// placeFloat is the exact place of a whole number. Any other number has the place of the nearest float, because decimal
// fractions are hardly ever floats.
func (d *Domain) placeFloat(l ast.Literal) (place, error) {
	if l.Kind == ast.LitString {
		switch strings.ToLower(strings.TrimSpace(l.Text)) {
		case "nan":
			return place{nan: true}, nil
		case "inf", "+inf", "infinity", "+infinity":
			return d.placeKey(d.key(math.Inf(1)), true), nil
		case "-inf", "-infinity":
			return d.placeKey(d.key(math.Inf(-1)), true), nil
		}
	}
	r, err := d.numberOf(l)
	if err != nil {
		return place{}, err
	}
	key := d.first(r)
	if d.finite(key).Cmp(r) == 0 && !d.infinite(key) {
		return d.placeKey(key, true), nil
	}
	if near := d.nearest(key, r); !l.Whole() && !d.infinite(near) {
		return d.placeKey(near, true), nil
	}
	return d.placeKey(key, false), nil
}

// infinite reports whether a key is that of an infinity.
func (d *Domain) infinite(key int64) bool { return math.IsInf(d.float(key), 0) }

// placeKey is the place of the float of a key, or with equal unset a place just below that float.
func (d *Domain) placeKey(key int64, equal bool) place {
	p := place{at: d.clamp(big.NewInt(key)), after: d.clamp(big.NewInt(key))}
	if equal {
		p.after = d.clamp(big.NewInt(key + 1))
	}
	return p
}

// finite is the float of a key as a number. An infinity counts as the number that would follow the greatest float: IEEE
// 754 rounds as if it did.
func (d *Domain) finite(key int64) *big.Rat {
	v := d.float(key)
	if !math.IsInf(v, 0) {
		return new(big.Rat).SetFloat64(v)
	}
	exponent := map[int]uint{16: 16, 32: 128, 64: 1024}[d.width]
	power := new(big.Int).Lsh(one, exponent)
	if v < 0 {
		power.Neg(power)
	}
	return new(big.Rat).SetInt(power)
}

// first is the key of the first float that is not below a number.
func (d *Domain) first(r *big.Rat) int64 {
	top := d.key(math.Inf(1))
	guess, _ := r.Float64() // not the nearest of a narrower type, but near
	key := d.key(guess)
	below := func(key int64) bool { return key < top && (key == -top || d.finite(key).Cmp(r) < 0) }
	for below(key) {
		key++
	}
	for key > -top && !below(key-1) {
		key--
	}
	return key
}

// nearest is the key of the float nearest to a number between the floats of key-1 and key. Of two equally near floats it
// is the one with the even key, as IEEE 754 rounds.
func (d *Domain) nearest(key int64, r *big.Rat) int64 {
	below := new(big.Rat).Sub(r, d.finite(key-1))
	above := d.finite(key)
	switch c := below.Cmp(above.Sub(above, r)); {
	case c < 0, c == 0 && key&1 != 0:
		return key - 1
	}
	return key
}
