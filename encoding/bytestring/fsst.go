package bytestring

import (
	"encoding/binary"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
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

const fsstHeader = 7

func parseFSST(b *Block, tree []byte, _ int64) (uint64, error) {
	header, rest, err := split(tree, fsstHeader)
	if err != nil {
		return 0, err
	}
	if err := b.checkWidth(header[6], offsetWidth); err != nil {
		return 0, err
	}
	symbols := 9 * uint64(header[0])
	stream, rest, err := padded(rest, symbols+uint64(binary.LittleEndian.Uint32(header[1:])), "symbols and codes")
	if err != nil {
		return 0, err
	}
	b.tokens, b.payload = stream[:symbols], stream[symbols:]
	size, err := b.readOffsets(rest, header[5] != 0)
	if err == nil && size/8 > uint64(len(b.payload)) {
		err = fault.Corruptf("%d bytes of values from %d codes", size, len(b.payload))
	}
	return size, err
}

// unpackFSST decodes all values.
func unpackFSST(b *Block, dst []byte) error {
	if err := b.readSymbols(); err != nil {
		return err
	}
	_, err := b.s.fsst.Decode(dst, b.payload)
	return err
}

// readSymbols gives the decoder the symbols of the block, once.
func (b *Block) readSymbols() error {
	if b.ready {
		return nil
	}
	s := len(b.tokens) / 9
	if err := b.s.fsst.Reset(b.tokens[:8*s], b.tokens[8*s:]); err != nil {
		return err
	}
	b.cursor, b.ready = fsst.NewCursor(&b.s.fsst, b.payload), true
	return nil
}

// readFSST decodes the value bytes from from on, as many as dst takes.
func readFSST(b *Block, dst []byte, from int) error {
	if err := b.readSymbols(); err != nil {
		return err
	}
	return b.cursor.Read(dst, from)
}

// symbolsFor is the table that a tree is to be written with; nil if none was trained.
func symbolsFor(w *encode.Workspace, in *encode.Input, r encode.Request) *fsst.Table {
	if r.Symbols == nil && r.Forced {
		return w.Trainer.Train(in.Bytes())
	}
	return r.Symbols
}

func appendFSST(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool, error) {
	s := symbolsFor(w, in, r)
	if s == nil {
		return dst, false, nil
	}
	start := len(dst)
	var header [16]byte
	dst = append(dst, header[:]...)
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.FSST))
	dst[start+2] = byte(s.Len())
	dst = s.Append(dst)
	at := len(dst)
	dst = s.Encode(dst, in.Bytes())
	binary.LittleEndian.PutUint32(dst[start+3:], uint32(len(dst)-at))
	dst = encode.Pad(dst, start) // the reference needs the zeros even if no offsets follow
	dst, err := w.AppendOffsets(dst, in.Values, start+8, start+7, r.Numbers)
	return dst, err == nil, err
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

var fsstStream = row{
	Row: encode.Row{
		Code:      encoding.FSST,
		Trials:    encode.Once(encoding.Balanced),
		Suits:     trainFSST,
		Append:    appendFSST,
		Cost:      encode.DecodeCost{PerStored: 600, PerValue: 1700},
		FixedCost: encode.DecodeCost{PerStored: 650},
		Trained:   true,
	},
	parse:    parseFSST,
	unpack:   unpackFSST,
	readSome: readFSST,
	describe: describeFSST,
}

func describeFSST(d *describer) {
	symbols, size := d.Uint(1, "symbols"), d.Uint(4, "codes size")
	nested := d.Flag("offsets are a tree")
	d.Uint(1, "offset width")
	d.Bytes(7, "zeros")
	d.Node.Params = "S=" + strconv.FormatUint(symbols, 10)
	d.Bytes(8*symbols, "symbols")
	d.Bytes(symbols, "symbol lengths")
	d.Bytes(size, "codes")
	d.offsets(nested)
}
