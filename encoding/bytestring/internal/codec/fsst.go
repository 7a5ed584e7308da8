package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/fsst"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// FSST, code 15: all value bytes as one stream of codes for short strings
// (package fsst). Codes may span values, so a block is decoded as a whole.
//
//	0  2  0f 00
//	2  1  number of symbols S
//	3  4  u32 size of the stream in bytes
//	7  1  1 if the offsets are a tree, 0 if they are raw
//	8  1  width of the offsets: 8, or 0 if values have a fixed size
//	9  7  zeros
//	16    S times 8 bytes: the symbols; S times 1 byte: their lengths
//	      the stream; zeros up to a multiple of 8 from 16 on
//	      offsets: tree of n+1 u64, or raw, to the end; nothing if the width is 0
//
// Code 255 stands for the byte behind it. Example, "abcabcX" with the symbol "abc":
//
//	0f 00 | 01 | 04 00 00 00 | 00 | 08 | 7 zeros
//	61 62 63 00 00 00 00 00 | 03 | 00 00 ff 58 | 3 zeros | 00.. 07.. (u64 each)

// fsstTree is the symbols of an FSST block, and the memory for them; the stream is its payload.
type fsstTree struct {
	symbols, lengths []byte
	ready            bool // the decoder has the symbols
	decoder          fsst.Decoder
	cursor           fsst.Cursor // where the last part ended
}

func layoutOfFSST(r *tree.Reader) (symbols, lengths, stream []byte, offsets tree.Numbers) {
	n, size := r.Uint(1, "symbols"), r.Uint(4, "codes size")
	nested := r.Flag("offsets are a tree")
	r.Width("offset width", offsetWidth)
	r.Pad()
	r.Params("S=%d", n)
	symbols, lengths = r.Bytes(8*n, "symbols"), r.Bytes(n, "symbol lengths")
	stream = r.Bytes(size, "codes")
	return symbols, lengths, stream, r.Offsets(nested)
}

func parseFSST(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	symbols, lengths, stream, offsets := layoutOfFSST(r)
	if r.Err != nil {
		return 0, r.Err
	}
	f := tree.State[fsstTree](t)
	f.symbols, f.lengths, f.ready, t.Payload = symbols, lengths, false, stream
	size, err := t.ReadOffsets(offsets)
	if err == nil && size/8 > uint64(len(stream)) {
		err = fault.Corruptf("%d bytes of values from %d codes", size, len(stream))
	}
	return size, err
}

// fsstOf is the symbols of a block, once the decoder has them.
func fsstOf(t *tree.Tree) (*fsstTree, error) {
	f := tree.State[fsstTree](t)
	if f.ready {
		return f, nil
	}
	if err := f.decoder.Reset(f.symbols, f.lengths); err != nil {
		return nil, err
	}
	f.cursor, f.ready = fsst.NewCursor(&f.decoder, t.Payload), true
	return f, nil
}

// unpackFSST decodes all values.
func unpackFSST(t *tree.Tree, dst []byte) error {
	f, err := fsstOf(t)
	if err == nil {
		_, err = f.decoder.Decode(dst, t.Payload)
	}
	return err
}

// readFSST decodes the value bytes from from on, as many as dst takes.
func readFSST(t *tree.Tree, dst []byte, from int) error {
	f, err := fsstOf(t)
	if err != nil {
		return err
	}
	return f.cursor.Read(dst, from)
}

// symbolsFor is the table that a tree is to be written with; nil if none was trained.
func symbolsFor(w *encode.Workspace, in *encode.Input, r encode.Request) *fsst.Table {
	if r.Symbols == nil && r.Forced {
		return w.Trainer.Train(in.Bytes())
	}
	return r.Symbols
}

func appendFSST(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool) {
	s := symbolsFor(w, in, r)
	if s == nil {
		return dst, false
	}
	start := len(dst)
	var header [16]byte
	dst = append(dst, header[:]...)
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.FSST))
	dst[start+2] = byte(s.Len())
	dst = s.Append(dst)
	at := len(dst)
	dst = s.Encode(dst, in.Bytes())
	dst = encode.EndPart(dst, start, at, 3) // the reference needs the zeros even if no offsets follow
	return w.AppendOffsets(dst, in.Values, start+8, start+7, r.Numbers), true
}

const (
	fsstFrom = 16 << 10 // bytes of values: for fewer the table is too large
	// LZ4 leaves less than this share of the bytes, in 1024ths, where FSST has no chance.
	fsstAbove = 256
)

// trainFSST trains symbols if LZ4 or FlatLZ left enough of the bytes.
func trainFSST(w *encode.Workspace, in *encode.Input, l *encode.Learned) bool {
	if len(in.Bytes()) < fsstFrom || w.LZShare < fsstAbove {
		return false
	}
	l.Symbols = w.Trainer.Train(in.Bytes()).Clone()
	return l.Symbols.Len() > 0 // the reference may fail on an empty table
}

var fsstStream = encode.Row{
	Row: tree.Row{
		Code:     encoding.FSST,
		Layout:   func(r *tree.Reader) { layoutOfFSST(r) },
		Parse:    parseFSST,
		Unpack:   unpackFSST,
		ReadSome: readFSST,
	},
	Trials:    encode.Once(encoding.Balanced),
	Suits:     trainFSST,
	Append:    appendFSST,
	Cost:      encode.DecodeCost{PerStored: 600, PerValue: 1700},
	FixedCost: encode.DecodeCost{PerStored: 650},
	Trained:   true,
	Short:     true,
}
