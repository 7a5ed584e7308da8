package bytestring

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/codec"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
)

// Encoder writes the blocks of one column. It tries all encodings of its profile
// on the first block, from time to time, and when blocks get larger; in
// between it writes the encoding that was the best. The same values in the same
// calls give the same bytes. It serves one goroutine at a time.
type Encoder = encode.Encoder

// NewEncoder makes an encoder of values of fixed bytes or, if fixed is 0, of any
// length. It takes no memory worth mention before the first block.
func NewEncoder(o encoding.Options, fixed int) *Encoder { return encode.New(codec.Table, o, fixed) }

// BriefBytes is up to how many bytes of values Encoder.Brief is meant for.
const BriefBytes = 8 << 20

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
