package encode

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// AppendTree appends the tree of a whole sequence: as p says, or the best if p is nil, which h remembers; never
// larger than Plain then. valid says which values are not null; its Data may be nil if all are.
func AppendTree[U word.Uint](e *Workspace, dst []byte, values []U, t word.Type, valid bitmap.Bits, h *Hint, p *Plan) []byte {
	e.Mem.Reset()
	in := Input[U]{Values: values, T: t, Hint: h}
	e.left = e.Weights.work * int64(len(values))
	if valid.Data != nil {
		in.Nulls = valid.Nulls()
	}
	if in.Nulls > 0 {
		in.Valid = valid
		in.Values = word.Take[U](&e.Mem, len(values))
		fillNulls(in.Values, values, valid)
	}
	start := len(dst)
	dst = Append(e, dst, in, p)
	if p == nil && len(dst)-start > 2+len(values)*word.SizeOf[U]() {
		dst = AppendPlain(dst[:start], in.Values)
	}
	return dst
}

// fillNulls copies values, with the value before it in the place of each null: that costs least in most encodings.
// Nulls at the beginning get the first value.
func fillNulls[U word.Uint](dst, values []U, valid bitmap.Bits) {
	var last U
	for i := range values {
		if valid.At(i) {
			last = values[i]
			break
		}
	}
	for i := 0; i < len(values); i += 64 {
		w := valid.Word(i)
		end := min(i+64, len(values))
		if w == ^uint64(0) {
			copy(dst[i:end], values[i:end])
			last = values[end-1]
			continue
		}
		for k := i; k < end; k++ {
			if w&1 != 0 {
				last = values[k]
			}
			dst[k] = last
			w >>= 1
		}
	}
}

// Append writes a tree as p says, or as is best if p is nil.
func Append[U word.Uint](e *Workspace, dst []byte, in Input[U], p *Plan) []byte {
	if p == nil {
		return appendBest(e, dst, in)
	}
	if p.Code == 0 || len(in.Values) == 0 {
		return appendAs(e, dst, in, Plan{Code: encoding.Plain})
	}
	return appendAs(e, dst, in, *p)
}

// AppendPart writes a part that may be a tree (flag 1) or raw (flag 0).
func AppendPart[U word.Uint](e *Workspace, dst []byte, in Input[U], p *Plan) ([]byte, byte) {
	if p != nil && p.Code == 0 {
		e.cost(encoding.Plain, in.T, len(in.Values))
		return word.Store(dst, in.Values), 0
	}
	at := len(dst)
	dst = Append(e, dst, in, p)
	if p == nil && trees.Peek(dst[at:]) == encoding.Plain { // the code would be waste
		return append(dst[:at], dst[at+2:]...), 0
	}
	return dst, 1
}

// AppendPlain writes a tree of the values as they are, which is what encodings write if values do not suit them.
func AppendPlain[U word.Uint](dst []byte, values []U) []byte {
	return word.Store(trees.AppendCode(dst, encoding.Plain), values)
}

// AppendSame writes a tree of SingleValue.
func AppendSame[U word.Uint](dst []byte, v U) []byte {
	return word.StoreOne(trees.AppendCode(dst, encoding.SingleValue), v)
}

// appendAs writes a tree of a code that the table has.
func appendAs[U word.Uint](e *Workspace, dst []byte, in Input[U], p Plan) []byte {
	e.cost(p.Code, in.T, len(in.Values))
	e.left -= int64(len(in.Values))
	return codecOf[U](e.table.Find(p.Code)).Append(e, dst, in, p)
}
