package bytestring

import (
	"encoding/binary"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
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

const onPairHeader = 22

// codes are those of an OnPair block.
type pairCodes struct {
	starts []uint32       // n+1: the first code of each value
	chunks numeric.Chunks // of packed codes
	packed bool
	all    []uint16 // others
	have   int      // the chunk that is in the Scratch, counted from 1
}

func parseOnPair(b *Block, tree []byte, limit int64) (uint64, error) {
	header, rest, err := split(tree, onPairHeader)
	if err != nil {
		return 0, err
	}
	tokens, codes, size := binary.LittleEndian.Uint16(header[20:]), uint64(binary.LittleEndian.Uint32(header[12:])), uint64(binary.LittleEndian.Uint32(header[16:]))
	switch {
	case b.fixed > 0:
		return 0, fault.Corruptf("tokens of byte strings of %d bytes each", b.fixed)
	case size > uint64(limit):
		return 0, fault.Limitf("%d bytes of values, more than %d", size, limit)
	case codes > size || size > codes*onpair.MaxTokenLen:
		return 0, fault.Corruptf("%d bytes of values from %d codes", size, codes)
	}
	var parts [3][]byte // heads, bytes, counts
	for i, what := range [...]string{"heads", "bytes of tokens", "counts"} {
		if parts[i], rest, err = padded(rest, uint64(binary.LittleEndian.Uint32(header[4*i:])), what); err != nil {
			return 0, err
		}
	}
	heads := scratch.Slice(&b.s.heads, int(tokens))
	if err := numeric.Decode(heads, parts[0], &b.s.num); err != nil {
		return 0, fault.In(err, "heads", -1)
	}
	if err := b.s.onpair.Reset(heads, parts[1]); err != nil {
		return 0, err
	}
	if err := b.readCounts(parts[2], codes); err != nil {
		return 0, err
	}
	return size, b.readPairCodes(rest, codes)
}

// readCounts finds out where the codes of each value are.
func (b *Block) readCounts(counts []byte, codes uint64) error {
	starts := scratch.Slice(&b.s.starts, b.n+1)
	if err := numeric.Decode(starts[1:], counts, &b.s.num); err != nil {
		return fault.In(err, "counts", -1)
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
	b.pairs.starts = starts
	return nil
}

// readPairCodes reads codes, of which there are at most as many as bytes in all values.
func (b *Block) readPairCodes(tree []byte, n uint64) (err error) {
	b.pairs.chunks, b.pairs.packed, err = numeric.ParseChunks(tree, int(n), &b.s.num)
	if !b.pairs.packed && err == nil {
		b.pairs.all = scratch.Slice(&b.s.pairs, int(n))
		err = numeric.Decode(b.pairs.all, tree, &b.s.num)
	}
	if err != nil {
		return fault.In(err, "codes", -1)
	}
	return b.s.onpair.Check(b.pairs.all)
}

// pairChunk is the codes of a chunk.
func (b *Block) pairChunk(i int) ([]uint16, error) {
	p := &b.pairs
	from := i * numeric.ChunkLen
	n := min(int(p.starts[b.n])-from, numeric.ChunkLen)
	if !p.packed {
		return p.all[from : from+n], nil
	}
	codes := b.s.pairChunk[:n]
	if p.have == i+1 {
		return codes, nil
	}
	p.have = 0
	p.chunks.Unpack(&b.s.pairChunk, i)
	if err := b.s.onpair.Check(codes); err != nil {
		return nil, err
	}
	p.have = i + 1
	return codes, nil
}

// codeReader reads codes of an OnPair block, a chunk at a time.
type codeReader struct {
	b           *Block
	first, last int      // where codes begin among all, and where the reader ends
	codes       []uint16 // of a chunk
	err         error
}

// readCodes reads the codes from first to last.
func (b *Block) readCodes(first, last int) codeReader {
	return codeReader{b: b, first: first, last: last}
}

// next goes on to the next codes; false at the end, or if these are wrong.
func (r *codeReader) next() bool {
	if r.first += len(r.codes); r.first >= r.last {
		return false
	}
	i := r.first / numeric.ChunkLen
	codes, err := r.b.pairChunk(i)
	if err != nil {
		r.err = err
		return false
	}
	r.codes = codes[r.first%numeric.ChunkLen : min(len(codes), r.last-i*numeric.ChunkLen)]
	return true
}

// putOnPair decodes chunk by chunk. Where each token ends tells where values do.
func putOnPair[O int32 | int64](b *Block, from, to int, dst []byte, offsets []O, base O) (err error) {
	starts := b.pairs.starts[from : to+1]
	ends, at, done := &b.s.pairEnds, 0, 0
	r := b.readCodes(int(starts[0]), int(starts[to-from]))
	for r.next() {
		first, codes := r.first, r.codes
		ends[0] = uint32(at)
		if at, err = b.s.onpair.Decode(dst, at, codes, ends[1:]); err != nil {
			return fault.In(err, b.row.Code.String(), -1)
		}
		for done < len(offsets) && int(starts[done+1]) <= first+len(codes) {
			offsets[done] = base + O(ends[int(starts[done+1])-first])
			done++
		}
	}
	if r.err != nil {
		return fault.In(r.err, b.row.Code.String(), -1)
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
func onPairLen(b *Block, from, to int) (size int) {
	first, last := int(b.pairs.starts[from]), int(b.pairs.starts[to])
	if last-first == int(b.pairs.starts[b.n]) {
		return b.dataLen
	}
	r := b.readCodes(first, last)
	for r.next() {
		size += b.s.onpair.Len(r.codes)
	}
	if r.err != nil || size > b.dataLen {
		return 0
	}
	return size
}

// tokensFor is the dictionary that a tree is to be written with; nil if none was trained.
func tokensFor(w *encode.Workspace, in *encode.Input, r encode.Request) *onpair.Dictionary {
	if r.Tokens == nil && r.Forced {
		return w.OnPair.Train(in.Data, in.Offsets)
	}
	return r.Tokens
}

func appendOnPair(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool, err error) {
	d, nums := tokensFor(w, in, r), r.Numbers
	if d == nil || in.Fixed > 0 {
		return dst, false, nil
	}
	counts := scratch.Slice(&w.Lengths, in.N)
	if w.Tokens, d = w.OnPair.Encode(w.Tokens[:0], counts, d, in.Data, in.Offsets); d == nil {
		return dst, false, nil
	}
	if nums.Thorough() {
		d = d.ByFrequency(w.Tokens)
	}
	start := len(dst)
	var header [2 + onPairHeader]byte
	dst = append(dst, header[:]...)
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.OnPair))
	binary.LittleEndian.PutUint32(dst[start+14:], uint32(len(w.Tokens)))
	binary.LittleEndian.PutUint32(dst[start+18:], uint32(len(in.Bytes())))
	binary.LittleEndian.PutUint16(dst[start+22:], uint16(d.Len()))
	part := len(dst)
	end := func(i int) { // of a part
		binary.LittleEndian.PutUint32(dst[start+2+4*i:], uint32(len(dst)-part))
		dst = encode.Pad(dst, start)
		part = len(dst)
	}
	w.Heads = d.AppendHeads(w.Heads[:0])
	if dst, err = nums.AppendTokenHeads(dst, w.Heads); err != nil {
		return dst, false, err
	}
	end(0)
	dst = d.AppendBytes(dst)
	end(1)
	if dst, err = nums.AppendCounts(dst, counts); err != nil {
		return dst, false, err
	}
	end(2)
	dst, err = nums.AppendTokens(dst, w.Tokens)
	return dst, err == nil, err
}

const (
	onPairFrom      = 16 << 10 // bytes of values: for fewer the dictionary is too large
	onPairFromBrief = 1 << 20  // for fewer what is learnt from a part of them is too little
)

// trainOnPair learns tokens.
func trainOnPair(w *encode.Workspace, in *encode.Input, l *encode.Learned) bool {
	if in.Fixed > 0 || len(in.Bytes()) < onPairFrom {
		return false
	}
	if in.Brief {
		if len(in.Bytes()) < onPairFromBrief {
			return false
		}
		l.Tokens = w.OnPair.TrainBrief(in.Data, in.Offsets)
		return l.Tokens.Pays()
	}
	l.Tokens = w.OnPair.Train(in.Data, in.Offsets)
	return l.Tokens.Pays()
}

var onPair = row{
	Row: encode.Row{
		Code:     encoding.OnPair,
		Needs:    edition.Only(edition.OnPair),
		Trials:   encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
		Replaces: encoding.FSST,
		Suits:    trainOnPair,
		Append:   appendOnPair,
		Cost:     encode.DecodeCost{PerByte: 100, PerStored: 400, PerValue: 2000},
		Trained:  true,
		Long:     true,
		Instead:  encoding.Zstd,
		Parts:    []string{"Plain", "Plain", "Plain"},
	},
	parse:    parseOnPair,
	put32:    putOnPair[int32],
	put64:    putOnPair[int64],
	rangeLen: onPairLen,
	begins:   onPairBegins,
	find:     findOnPair,
	describe: describeOnPair,
}

func describeOnPair(d *describer) {
	heads, bytes, counts := d.Uint(4, "heads size"), d.Uint(4, "token bytes size"), d.Uint(4, "counts size")
	codes := d.Uint(4, "codes")
	d.Uint(4, "values size")
	tokens := int(d.Uint(2, "tokens"))
	d.Node.Params = "T=" + strconv.Itoa(tokens)
	d.numbers("heads", heads, numeric.U8, tokens)
	d.Bytes(bytes, "token bytes")
	d.Pad()
	d.numbers("counts", counts, numeric.U32, d.n)
	d.numbers("codes", d.Left(), numeric.U16, int(codes))
}
