package bytestring

import (
	"fmt"
	"math"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/codec"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Encoder writes the blocks of one column. It tries all encodings of its profile
// on the first block, from time to time, and when blocks get larger; in
// between it writes the encoding that was the best. The same values in the same
// calls give the same bytes. It serves one goroutine at a time.
type Encoder struct {
	o     encoding.Options
	trees *encode.Encoder
}

// NewEncoder makes an encoder of values of fixed bytes or, if fixed is 0, of any
// length. It takes no memory worth mention before the first block.
func NewEncoder(o encoding.Options, fixed int) *Encoder {
	return &Encoder{o: o, trees: encode.New(codec.Table, o, fixed)}
}

// Clone makes another encoder with the same memory of earlier blocks, for another goroutine.
func (e *Encoder) Clone() *Encoder { return &Encoder{o: e.o, trees: e.trees.Clone()} }

// Brief says whether the values that follow are all that the column has, and few. In Balanced of edition 2026, only encodings are
// then tried that take hardly longer than writing them, and no dictionary if unequal says that most of the values are distinct.
func (e *Encoder) Brief(brief, unequal bool) { e.trees.Brief(brief, unequal) }

// Plan says how many of the staged values the next block should hold:
// as many as the profile's bounds on values and bytes allow, at least one. The
// buffer has at values before them. A result of v.N may grow once more values are
// staged.
func (e *Encoder) Plan(at int64, v Values, valid encoding.Bits) (blockLen int) {
	return e.trees.Plan(at, v, valid)
}

// Whole tells whether a block of n values, the result of [Encoder.Plan], stays the
// same whatever values follow.
func (e *Encoder) Whole(at int64, n int) bool { return e.trees.Whole(at, n) }

// Longest is the most bytes of values that a block is planned to have now.
func (e *Encoder) Longest() int { return e.trees.Longest() }

// BriefBytes is up to how many bytes of values [Encoder.Brief] is meant for.
const BriefBytes = 8 << 20

// AppendBlock appends a block of all values of v. valid says which are not null;
// its Data may be nil if none is. Null slots of any length must be
// empty. The tree is never larger than that of Plain. A block of more than 2 GiB
// of values is an error.
func (e *Encoder) AppendBlock(dst []byte, v Values, valid encoding.Bits) ([]byte, error) {
	if size := len(v.Bytes()); size > math.MaxInt32 {
		return dst, fmt.Errorf("bytestring: block of %d values, %d bytes", v.N, size)
	}
	if valid.Data == nil {
		valid = bitmap.All(v.N)
	}
	in := encode.Input{Values: v, Valid: valid}
	if valid.Data != nil {
		in.Nulls = valid.Nulls()
	}
	dst, mark := encoding.BeginBlock(dst)
	if !e.o.NoPresence {
		dst = encoding.AppendPresence(dst, valid.Data, valid.Off, valid.Len, in.Nulls, e.o.Profile == encoding.ProfilePlain)
	}
	dst = encoding.EndPresence(dst, mark)
	return encoding.EndBlock(e.trees.AppendTree(dst, in), mark, !e.o.NoChecksums), nil
}

// AppendTreeAs appends the tree of v in a given form, written as
// [encoding.Tree.String] does: "Plain", "BlockDictionary(FLBitPack,raw)",
// "FSST(Delta(FFOR))", "LZ4(raw)". Parts that are not named are raw, or Plain
// where only a tree can be. Zstd takes a level: "Zstd[3]", from 1,
// the fastest, to 4. Null slots of any length must be empty. Tests and
// reproducible samples use it. SingleValue of unequal values is an error, as is a form
// that does not take values of this type.
func AppendTreeAs(dst []byte, v Values, valid encoding.Bits, shape string) ([]byte, error) {
	return codec.Table.AppendTreeAs(dst, v, valid, shape)
}
