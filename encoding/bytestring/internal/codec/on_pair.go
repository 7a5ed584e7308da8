package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/onpair"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// OnPair, code 0x800b: each value as codes of tokens of 1 to 16 bytes (package onpair). No code spans two values.
// Values of a fixed size are not written like that.
//
//	0  2  0b 80
//	2  4  u32 size of the heads in bytes
//	6  4  u32 size of the bytes of tokens
//	10 4  u32 size of the counts in bytes
//	14 4  u32 number of codes
//	18 4  u32 size of all values
//	22 2  u16 number of tokens T
//	24    heads: tree of T u8, each the bytes shared with the token before, and from bit 4 on the length less 1;
//	      zeros up to a multiple of 8
//	      bytes of the tokens that are not shared; zeros up to a multiple of 8
//	      counts: tree of n u32, the number of codes of each value; zeros up to a multiple of 8
//	      codes of all values in their order: tree of u16, to the end
//
// Example, "abcab", "" and "abc" with the tokens "ab" and "abc", trees as Plain:
//
//	0b 80 | 04 00 00 00 | 03 00 00 00 | 0e 00 00 00 | 03 00 00 00 | 08 00 00 00 | 02 00
//	01 00 | 10 22 | 4 zeros | 61 62 63 | 5 zeros
//	01 00 | 02 00 00 00 00 00 00 00 01 00 00 00 | 2 zeros | 01 00 | 01 00 00 00 01 00

// pairTree is the codes of an OnPair block, and the memory for them.
type pairTree struct {
	starts []uint32       // N+1: the first code of each value
	chunks numeric.Chunks // of packed codes
	packed bool
	all    []uint16 // others
	have   int      // the chunk that was unpacked, counted from 1
	chunk  [numeric.ChunkLen]uint16

	tokens *onpair.Decoder // of the block itself, or those that it shares
	own    onpair.Decoder
	heads  []byte
	ends   [numeric.ChunkLen + 1]uint32
	marks  *onpair.Marks
}

// pairParts is the parts of an OnPair block.
type pairParts struct {
	tokens                      int
	codes, size                 uint64
	heads, bytes, counts, pairs []byte
}

func layoutOfOnPair(r *tree.Reader) (p pairParts) {
	heads, bytes, counts := r.Uint(4, "heads size"), r.Uint(4, "token bytes size"), r.Uint(4, "counts size")
	p.codes, p.size, p.tokens = r.Uint(4, "codes"), r.Uint(4, "values size"), int(r.Uint(2, "tokens"))
	r.Params("T=%d", uint64(p.tokens))
	p.heads = r.Numbers("heads", heads, numeric.U8, p.tokens)
	p.bytes = r.Bytes(bytes, "token bytes")
	r.PadBetween()
	p.layoutOfCodes(r, counts)
	return p
}

// layoutOfCodes is that of the codes of all values, which end the tree.
func (p *pairParts) layoutOfCodes(r *tree.Reader, counts uint64) {
	p.counts = r.Numbers("counts", counts, numeric.U32, r.N)
	p.pairs = r.Numbers("codes", r.Left(), numeric.U16, int(p.codes))
	if p.codes > p.size || p.size > p.codes*onpair.MaxTokenLen {
		r.Fail(fault.Corruptf("%d bytes of values from %d codes", p.size, p.codes))
	}
	r.NoFixed()
}

func parseOnPair(t *tree.Tree, r *tree.Reader, limit int64) (uint64, error) {
	parts := layoutOfOnPair(r)
	switch {
	case r.Err != nil:
		return 0, r.Err
	case parts.size > uint64(limit):
		return 0, fault.Limitf("%d bytes of values, more than %d", parts.size, limit)
	}
	p := tree.State[pairTree](t)
	if err := tree.DecodeNumbers(t, "heads", scratch.Slice(&p.heads, parts.tokens), parts.heads); err != nil {
		return 0, err
	}
	p.tokens = &p.own
	if err := p.own.Reset(p.heads, parts.bytes); err != nil {
		return 0, err
	}
	return parts.size, p.read(t, &parts)
}

// read reads the codes of all values.
func (p *pairTree) read(t *tree.Tree, parts *pairParts) error {
	p.have = 0
	if err := p.readCounts(t, parts.counts, parts.codes); err != nil {
		return err
	}
	return p.readCodes(t, parts.pairs, int(parts.codes))
}

// readCounts finds out where the codes of each value are.
func (p *pairTree) readCounts(t *tree.Tree, counts []byte, codes uint64) error {
	starts := scratch.Slice(&p.starts, t.N+1)
	if err := tree.DecodeNumbers(t, "counts", starts[1:], counts); err != nil {
		return err
	}
	starts[0] = 0
	sum := uint64(0)
	for i, n := range starts {
		sum += uint64(n)
		starts[i] = uint32(sum)
	}
	if sum != codes {
		return fault.Corruptf("values have %d codes of %d", sum, codes)
	}
	return nil
}

// readCodes reads codes, of which there are at most as many as bytes in all values.
func (p *pairTree) readCodes(t *tree.Tree, part []byte, n int) (err error) {
	if p.chunks, p.packed, err = numeric.ParseChunks(part, n, t.Num); err != nil {
		return fault.In(err, "codes", -1)
	}
	if p.packed {
		return nil
	}
	if err := tree.DecodeNumbers(t, "codes", scratch.Slice(&p.all, n), part); err != nil {
		return err
	}
	return p.tokens.Check(p.all)
}

// chunkAt is the codes of a chunk.
func (p *pairTree) chunkAt(i int) ([]uint16, error) {
	from := i * numeric.ChunkLen
	n := min(int(p.starts[len(p.starts)-1])-from, numeric.ChunkLen)
	if !p.packed {
		return p.all[from : from+n], nil
	}
	codes := p.chunk[:n]
	if p.have == i+1 {
		return codes, nil
	}
	p.have = 0
	p.chunks.Unpack(&p.chunk, i)
	if err := p.tokens.Check(codes); err != nil {
		return nil, err
	}
	p.have = i + 1
	return codes, nil
}

// codeReader reads codes of an OnPair block, a chunk at a time.
type codeReader struct {
	p           *pairTree
	first, last int      // where codes begin among all, and where the reader ends
	codes       []uint16 // of a chunk
	err         error
}

// codesOf reads the codes of the values from one up to (not including) another.
func (p *pairTree) codesOf(from, to int) codeReader {
	return codeReader{p: p, first: int(p.starts[from]), last: int(p.starts[to])}
}

// next goes on to the next codes; false at the end, or if these are wrong.
func (r *codeReader) next() bool {
	if r.first += len(r.codes); r.first >= r.last {
		return false
	}
	i := r.first / numeric.ChunkLen
	codes, err := r.p.chunkAt(i)
	if err != nil {
		r.err = err
		return false
	}
	r.codes = codes[r.first%numeric.ChunkLen : min(len(codes), r.last-i*numeric.ChunkLen)]
	return true
}

// putOnPair decodes chunk by chunk. Where each token ends tells where values do.
func putOnPair[O int32 | int64](t *tree.Tree, from, to int, dst []byte, offsets []O, base O) (err error) {
	p := tree.State[pairTree](t)
	starts := p.starts[from : to+1]
	ends, at, done := &p.ends, 0, 0
	r := p.codesOf(from, to)
	for r.next() {
		first, codes := r.first, r.codes
		ends[0] = uint32(at)
		if at, err = p.tokens.Decode(dst, at, codes, ends[1:]); err != nil {
			return fault.In(err, encoding.OnPair.String(), -1)
		}
		for done < len(offsets) && int(starts[done+1]) <= first+len(codes) {
			offsets[done] = base + O(ends[int(starts[done+1])-first])
			done++
		}
	}
	if r.err != nil {
		return fault.In(r.err, encoding.OnPair.String(), -1)
	}
	for ; done < len(offsets); done++ {
		offsets[done] = base + O(at)
	}
	if at != len(dst) {
		return fault.Corruptf("codes give %d of %d bytes", at, len(dst))
	}
	return nil
}

// onPairLen is the bytes of some values, 0 if codes are wrong, or give more than all values have.
func onPairLen(t *tree.Tree, from, to int) (size int) {
	p := tree.State[pairTree](t)
	if p.starts[to]-p.starts[from] == p.starts[t.N] {
		return t.DataLen
	}
	r := p.codesOf(from, to)
	for r.next() {
		size += p.tokens.Len(r.codes)
	}
	if r.err != nil || size > t.DataLen {
		return 0
	}
	return size
}

func addPairLengths(t *tree.Tree, dst []int64, from int) error {
	p := tree.State[pairTree](t)
	starts := p.starts[from : from+len(dst)+1]
	done, size := 0, int64(0) // bytes of the value that goes on
	r := p.codesOf(from, from+len(dst))
	for r.next() {
		at := r.first
		for done < len(dst) && int(starts[done+1]) <= r.first+len(r.codes) {
			end := int(starts[done+1])
			dst[done] += size + int64(p.tokens.Len(r.codes[at-r.first:end-r.first]))
			at, size = end, 0
			done++
		}
		size += int64(p.tokens.Len(r.codes[at-r.first:]))
	}
	return fault.In(r.err, encoding.OnPair.String(), -1)
}

// tokensFor is the dictionary that a tree is to be written with; nil if none was trained.
func tokensFor(w *encode.Workspace, in *encode.Input, r encode.Request) *onpair.Dictionary {
	if r.Tokens == nil && r.Forced {
		return w.OnPair.Train(in.Data, in.Offsets, false)
	}
	return r.Tokens
}

func appendOnPair(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool) {
	d, nums := tokensFor(w, in, r), r.Numbers
	if d == nil || in.Fixed > 0 {
		return dst, false
	}
	counts := scratch.Slice(&w.Lengths, in.N)
	if w.Tokens, d = w.OnPair.Encode(w.Tokens[:0], counts, d, in.Data, in.Offsets); d == nil {
		return dst, false
	}
	if nums.Thorough() {
		d = d.ByFrequency(w.Tokens)
	}
	start := len(dst)
	var header [24]byte
	dst = append(dst, header[:]...)
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.OnPair))
	binary.LittleEndian.PutUint32(dst[start+14:], uint32(len(w.Tokens)))
	binary.LittleEndian.PutUint32(dst[start+18:], uint32(len(in.Bytes())))
	binary.LittleEndian.PutUint16(dst[start+22:], uint16(d.Len()))
	w.Heads = d.AppendHeads(w.Heads[:0])
	at := len(dst)
	dst = encode.EndPart(encode.AppendNumbers(nums, dst, encode.TokenHeads, 0, w.Heads), start, at, 2)
	at = len(dst)
	dst = encode.EndPart(d.AppendBytes(dst), start, at, 6)
	return appendCodes(w, dst, start, 10, nums, counts), true
}

// appendCodes appends the codes of all values, which end the tree that begins at start. The size of their counts is at some place in it.
func appendCodes(w *encode.Workspace, dst []byte, start, size int, nums *encode.Numbers, counts []uint32) []byte {
	at := len(dst)
	dst = encode.EndPart(encode.AppendNumbers(nums, dst, encode.Lengths, 1, counts), start, at, size)
	return nums.AppendTokens(dst, w.Tokens)
}

const (
	onPairFrom      = 16 << 10  // bytes of values: for fewer the dictionary is too large
	onPairFromBrief = 1 << 20   // for fewer what is learnt from a part of them is too little
	guessFrom       = 256 << 10 // fewer are learnt from in hardly more time than a part of them
)

// trainOnPair learns tokens.
func trainOnPair(w *encode.Workspace, in *encode.Input, l *encode.Learned) bool {
	if size := len(in.Bytes()); in.Fixed > 0 || size < onPairFrom || in.Brief && size < onPairFromBrief {
		return false
	}
	l.Tokens = w.OnPair.Train(in.Data, in.Offsets, in.Brief)
	return l.Tokens.Pays()
}

// guessOnPair is about the size of the tree.
func guessOnPair(w *encode.Workspace, in *encode.Input) int {
	if size := len(in.Bytes()); in.Fixed > 0 || in.Brief || size < guessFrom {
		return 0
	}
	return w.OnPair.Guess(in.Data, in.Offsets)
}

var onPair = encode.Row{
	Row: tree.Row{
		Code:       encoding.OnPair,
		Layout:     func(r *tree.Reader) { layoutOfOnPair(r) },
		Parse:      parseOnPair,
		Put32:      putOnPair[int32],
		Put64:      putOnPair[int64],
		RangeLen:   onPairLen,
		AddLengths: addPairLengths,
		Begins:     onPairBegins,
		Find:       findOnPair,
	},
	Needs:    edition.Only(edition.OnPair),
	Trials:   encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
	Replaces: encoding.FSST,
	Guess:    guessOnPair,
	Suits:    trainOnPair,
	Append:   appendOnPair,
	Cost:     encode.DecodeCost{PerByte: 100, PerStored: 400, PerValue: 2000},
	Trained:  true,
	Long:     true,
	Short:    true,
	Instead:  encoding.Zstd,
	Parts:    []string{"Plain", "Plain", "Plain"},
	Share:    shareTokens,
}
