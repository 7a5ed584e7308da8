package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/onpair"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// SharedPair, code 0x800f: each value as codes of tokens (on_pair.go), which lie in a buffer of their own that all blocks of the column
// share. Blocks may then be small, and a value be read without reading tokens first.
//
//	0  2  0f 80
//	2  4  u32 id of the dictionary's buffer
//	6  4  u32 size of the counts in bytes
//	10 4  u32 number of codes
//	14 4  u32 size of all values
//	18 6  zeros
//	24    counts and codes, as in OnPair

func layoutOfSharedPair(r *tree.Reader) (id uint32, p pairParts) {
	id = uint32(r.Uint(4, "dictionary"))
	counts := r.Uint(4, "counts size")
	p.codes, p.size = r.Uint(4, "codes"), r.Uint(4, "values size")
	r.Pad()
	p.layoutOfCodes(r, counts)
	return id, p
}

func parseSharedPair(t *tree.Tree, r *tree.Reader, limit int64) (uint64, error) {
	id, parts := layoutOfSharedPair(r)
	switch {
	case r.Err != nil:
		return 0, r.Err
	case t.Dictionary == nil || t.Dictionary.ID != id:
		return 0, fault.Corruptf("the dictionary with id %d is not there", id)
	case parts.size > uint64(limit):
		return 0, fault.Limitf("%d bytes of values, more than %d", parts.size, limit)
	}
	p := tree.State[pairTree](t)
	p.tokens = &t.Dictionary.Tokens
	return parts.size, p.read(t, &parts)
}

func appendSharedPair(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool) {
	if in.Shared == nil || in.Fixed > 0 {
		return dst, false
	}
	counts := scratch.Slice(&w.Lengths, in.N)
	w.Tokens, _ = w.OnPair.Encode(w.Tokens[:0], counts, in.Shared, in.Data, in.Offsets) // which has all bytes
	start := len(dst)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(encoding.SharedPair))
	dst = binary.LittleEndian.AppendUint32(dst, tree.DictionaryID)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(w.Tokens)))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(in.Bytes())))
	dst = append(dst, 0, 0)
	return appendCodes(w, dst, start, 6, r.Numbers, counts), true
}

// orderBytes is how many bytes of values tell which tokens are frequent.
const orderBytes = 256 << 10

// shareTokens completes tokens that were learnt from all values, for blocks of values like these. In profiles where frequent ones are shorter they
// come first.
func shareTokens(w *encode.Workspace, in *encode.Input, l *encode.Learned, thorough bool) *onpair.Dictionary {
	d := l.Tokens
	n := max(1, in.N*orderBytes/max(orderBytes, len(in.Bytes())))
	codes := func() []uint16 {
		w.Tokens, _ = w.OnPair.Encode(w.Tokens[:0], scratch.Slice(&w.Lengths, n), d, in.Data, in.Offsets[:n+1])
		return w.Tokens
	}
	d = d.Complete(codes())
	if thorough {
		d = d.ByFrequency(codes())
	}
	return d
}

var sharedPair = encode.Row{
	Row: tree.Row{
		Code:       encoding.SharedPair,
		Layout:     func(r *tree.Reader) { layoutOfSharedPair(r) },
		Parse:      parseSharedPair,
		Put32:      putOnPair[int32],
		Put64:      putOnPair[int64],
		RangeLen:   onPairLen,
		AddLengths: addPairLengths,
		Begins:     onPairBegins,
		Find:       findOnPair,
	},
	Needs:    edition.Only(edition.SharedDictionaries),
	Trials:   onPair.Trials,
	Replaces: encoding.OnPair,
	Shared:   true,
	Short:    true,
	Append:   appendSharedPair,
	Cost:     encode.DecodeCost{PerByte: 400, PerStored: 400, PerValue: 2000}, // tokens are packed, or compressed, and their dictionary is larger than caches
}
