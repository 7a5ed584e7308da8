package stats

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// StoredBound is the longest bound of a range of byte strings that is stored. Longer ones are cut
// to a shorter bound that is outside of all values, and so not inclusive.
//
//	greatest value   "aaa…ab…" of 100 bytes
//	upper bound      "aaa…b"   of 64, exclusive
const StoredBound = 64

// bytesRange keeps the least and the greatest of byte strings, in byte order,
// up to one byte more than a bound may have: the least prefix is the prefix of
// the least value.
type bytesRange struct {
	lo, hi   []byte
	lo8, hi8 uint64 // their first 8 bytes, most significant first
	started  bool
}

func (r *bytesRange) add(v []byte, most int) {
	k := first8(v)
	if r.started && r.lo8 < k && k < r.hi8 { // most values
		return
	}
	v = v[:min(len(v), most+1)]
	if !r.started || bytes.Compare(v, r.lo) < 0 {
		r.lo, r.lo8 = append(r.lo[:0], v...), k
	}
	if !r.started || bytes.Compare(v, r.hi) > 0 {
		r.hi, r.hi8 = append(r.hi[:0], v...), k
	}
	r.started = true
}

// first8 has the order of byte strings, except for those that differ after 8 bytes or only by
// trailing zeros.
func first8(v []byte) uint64 {
	if len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	var b [8]byte
	copy(b[:], v)
	return binary.BigEndian.Uint64(b[:])
}

// stats is the range with bounds of at most so many bytes, in the format's form; nil if it has no such form.
func (r *bytesRange) stats(most int, isString bool) *shardpb.RangeStats {
	if !r.started {
		return rangeOf(nil, nil)
	}
	out := &shardpb.RangeStats{MinInclusive: len(r.lo) <= most, MaxInclusive: len(r.hi) <= most}
	lo, hi := r.lo, r.hi
	if !out.MinInclusive {
		lo = cut(lo, most, isString)
	}
	if !out.MaxInclusive {
		if hi = successor(cut(hi, most, isString), most, isString); hi == nil {
			return nil
		}
	}
	if isString && !(utf8.Valid(lo) && utf8.Valid(hi)) {
		return nil
	}
	out.MinValue, out.MaxValue = AnyBytes(lo, isString), AnyBytes(hi, isString)
	return out
}

// cut shortens v to so many bytes, or a little less, between two characters.
func cut(v []byte, most int, isString bool) []byte {
	end := most
	for isString && end > most-utf8.UTFMax && !utf8.RuneStart(v[end]) {
		end--
	}
	return v[:end]
}

// successor is a byte string of at most so many bytes above all that begin with p, which is no
// longer; nil if there is none.
func successor(p []byte, most int, isString bool) []byte {
	for len(p) > 0 {
		if !isString {
			last := p[len(p)-1]
			if p = p[:len(p)-1]; last < 0xff {
				return append(bytes.Clone(p), last+1)
			}
			continue
		}
		last, n := utf8.DecodeLastRune(p)
		p = p[:len(p)-n]
		switch {
		case last == utf8.MaxRune || last == utf8.RuneError && n == 1:
		case len(p)+utf8.RuneLen(last+1) > most: // the next of U+007F takes a byte more
		case last == 0xd7ff: // surrogates are no characters
			return utf8.AppendRune(bytes.Clone(p), 0xe000)
		default:
			return utf8.AppendRune(bytes.Clone(p), last+1)
		}
	}
	return nil
}

// TextOf is a string or byte string.
func TextOf(v *commonpb.AnyValue) (string, bool) {
	switch k := v.GetKind().(type) {
	case *commonpb.AnyValue_StringValue:
		return k.StringValue, true
	case *commonpb.AnyValue_BytesValue:
		return string(k.BytesValue), true
	}
	return "", false
}

// AnyBytes is the inverse of [TextOf].
func AnyBytes(v []byte, isString bool) *commonpb.AnyValue {
	if isString {
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_StringValue{StringValue: string(v)}}
	}
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_BytesValue{BytesValue: bytes.Clone(v)}}
}
