package numeric

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// types is a set of Types.
type types uint16

const (
	signedTypes   = types(1<<I8 | 1<<I16 | 1<<I32 | 1<<I64)
	unsignedTypes = types(1<<U8 | 1<<U16 | 1<<U32 | 1<<U64)
	intTypes      = signedTypes | unsignedTypes
	floatTypes    = types(1<<F32 | 1<<F64)
	allTypes      = intTypes | floatTypes
)

func (s types) has(t Type) bool { return s>>t&1 != 0 }

// row is what is known about an encoding apart from its layout.
type row struct {
	code   encoding.Code
	types  types
	tier   tier
	levels int // the encoder tries it down to this depth of a tree
	// What decoding costs in picoseconds: for each value, and for each of its bytes.
	perValue, perByte int64
	// estimate guesses the size of a tree in bytes; 0 if the values do not suit. With
	// learn it is only a guess, to be corrected by what trials give.
	estimate func(w *weights, s *stats) int
	learn    bool
	nests    bool        // its parts may turn out smaller than estimated
	needs    edition.Set // the features that a shard has to have
}

// tier is the profile from which on an encoding is tried.
type tier uint8

const (
	tierPlain  tier = iota // not a matter of choice
	tierLight              // MinimalCompression
	tierMiddle             // Balanced
	tierHeavy              // HighCompression
	tierNever              // only if asked for
)

// rows lists the encodings. A new one is a row here, a case in decodeAs, appendAs
// and describe, and a file. The costs are constants, so that the same values give
// the same bytes on every machine.
var rows = [...]row{
	{encoding.Plain, allTypes, tierPlain, 9, 20, 15, estimatePlain, false, false, 0},
	{encoding.SingleValue, allTypes, tierPlain, 9, 20, 10, estimateSingle, false, false, 0},
	{encoding.FLBitPack, unsignedTypes, tierLight, 9, 60, 30, estimateBitPack, false, false, 0},
	{encoding.FFOR, intTypes, tierLight, 9, 60, 30, estimateFFOR, false, false, 0},
	{encoding.RunLength, allTypes, tierLight, 2, 40, 5, estimateRunLength, false, true, 0},
	{encoding.FOR, intTypes, tierMiddle, 0, 40, 20, estimateFOR, false, true, 0},
	{encoding.Delta, intTypes, tierMiddle, 2, 270, 0, estimateDelta, false, true, 0},
	{encoding.TruncateU8, typesFrom16, tierMiddle, 2, 240, 0, estimateTruncate8, false, true, 0},
	{encoding.TruncateU16, typesFrom16, tierMiddle, 2, 240, 0, estimateTruncate16, false, true, 0},
	{encoding.TruncateU32, typesFrom32, tierMiddle, 2, 240, 0, estimateTruncate32, false, true, 0},
	{encoding.TruncateU64, typesFrom64, tierNever, 2, 240, 0, nil, false, true, 0},
	{encoding.ALP, floatTypes, tierMiddle, 1, 350, 0, estimateALP, true, true, 0},
	{encoding.ALPRD, floatTypes, tierMiddle, 1, 1500, 0, estimateALPRD, true, false, 0},
	{encoding.BlockDictionary, allTypes, tierMiddle, 2, 330, 0, estimateDictionary, true, true, 0},
	{encoding.Sparse, allTypes, tierMiddle, 1, 20, 10, estimateSparse, false, true, 0},
	{encoding.ZigZag, signedTypes, tierNever, 1, 430, 0, nil, false, true, 0},
	{encoding.LZ4, allTypes, tierMiddle, 0, 0, 350, estimateLZ4, true, false, 0},
	{encoding.Zstd, allTypes, tierHeavy, 3, 0, 1300, estimateZstd, true, false, 0},
	{encoding.CommonDivisor, intTypes, tierMiddle, 1, 200, 15, estimateCommonDivisor, false, true, with(edition.CommonDivisor)},
	{encoding.Narrow, unsignedFrom16, tierMiddle, 3, 250, 0, estimateNarrow, false, true, with(edition.Narrow)},
	{encoding.PatchedPack, intTypes, tierMiddle, 1, 70, 30, estimatePatched, false, true, with(edition.PatchedPack)},
	{encoding.TightPack, intTypes, tierMiddle, 9, 600, 50, estimateTight, false, false, with(edition.TightPack)},
	{encoding.BytePlanes, wideTypes, tierHeavy, 1, 100, 150, estimateBytePlanes, true, false, with(edition.BytePlanes)},
	{encoding.PrefixBins, intTypes, tierHeavy, 2, 1000, 0, estimatePrefixBins, true, true, with(edition.PrefixBins)},
}

const (
	typesFrom16 = types(1<<I16 | 1<<I32 | 1<<I64)
	typesFrom32 = types(1<<I32 | 1<<I64)
	typesFrom64 = types(1 << I64)

	unsignedFrom16 = types(1<<U16 | 1<<U32 | 1<<U64)
	wideTypes      = allTypes &^ (1<<I8 | 1<<U8)
)

func with(f edition.Feature) edition.Set { return edition.Set(0).With(f) }

// rowIndex is the row of each code, by place: the reference's codes, then ours,
// which begin at ownCodes. It is -1 where there is no row.
var rowIndex = func() (index [2][32]int8) {
	for i := range index[0] {
		index[0][i], index[1][i] = -1, -1
	}
	for i, r := range rows {
		index[r.code/ownCodes][r.code%ownCodes] = int8(i)
	}
	return index
}()

const ownCodes = 0x8000

// rowOf is the row of a code, -1 if there is none.
func rowOf(code encoding.Code) int {
	if code%ownCodes >= 32 {
		return -1
	}
	return int(rowIndex[code/ownCodes][code%ownCodes])
}

// find is the row of a code, nil if there is none.
func find(code encoding.Code) *row {
	if i := rowOf(code); i >= 0 {
		return &rows[i]
	}
	return nil
}

// typesOf says which types an encoding takes; none for a code that is unknown or
// that belongs to byte strings.
func typesOf(code encoding.Code) types {
	if r := find(code); r != nil {
		return r.types
	}
	return 0
}

// codeOf reads the code of a tree and checks that it takes values of type t.
func codeOf(tree []byte, t Type) (encoding.Code, error) {
	if len(tree) < 2 {
		return 0, fault.Corruptf("encoding tree of %d bytes has no code", len(tree))
	}
	code := encoding.Code(binary.LittleEndian.Uint16(tree))
	if typesOf(code).has(t) {
		return code, nil
	}
	if code.Known() {
		return 0, fault.Corruptf("%v does not take values of type %v", code, t)
	}
	return 0, fault.Unsupportedf("encoding %v is not known", code)
}

// peek is the code of a tree, 0 if it has none.
func peek(tree []byte) encoding.Code {
	if len(tree) < 2 {
		return 0
	}
	return encoding.Code(binary.LittleEndian.Uint16(tree))
}

// headerLen is where the payload starts behind a header of own bytes.
func headerLen(own int) int { return encoding.PadTo8(2 + own) }

// split cuts a tree into its header of own bytes and its payload.
func split(tree []byte, own int) (header, payload []byte, err error) {
	h := headerLen(own)
	if len(tree) < h {
		return nil, nil, fault.Corruptf("tree of %d bytes ends in its header of %d", len(tree), h)
	}
	return tree[2 : 2+own], tree[h:], nil
}

// decode decodes a tree of len(dst) values of type t, which U is as wide as.
func decode[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	code, err := codeOf(tree, t)
	if err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	mark := s.mark()
	err = decodeAs(dst, code, tree, t, s)
	s.release(mark)
	s.leave()
	if err != nil {
		return fault.In(err, code.String(), -1)
	}
	return nil
}

// decodeAs is the one place that knows the decoder of each code.
func decodeAs[U word](dst []U, code encoding.Code, tree []byte, t Type, s *Scratch) error {
	switch code {
	case encoding.Plain:
		return decodePlain(dst, tree)
	case encoding.FLBitPack:
		return decodeBitPack(dst, tree, s)
	case encoding.FOR:
		return decodeFOR(dst, tree, t, s)
	case encoding.FFOR:
		return decodeFFOR(dst, tree, s)
	case encoding.Delta:
		return decodeDelta(dst, tree, t, s)
	case encoding.RunLength:
		return decodeRunLength(dst, tree, t, s)
	case encoding.SingleValue:
		return decodeSingleValue(dst, tree)
	case encoding.TruncateU8, encoding.TruncateU16, encoding.TruncateU32, encoding.TruncateU64:
		return decodeTruncate(dst, code, tree, s)
	case encoding.ALP:
		return decodeALP(dst, tree, t, s)
	case encoding.ALPRD:
		return decodeALPRD(dst, tree, t, s)
	case encoding.BlockDictionary:
		return decodeDictionary(dst, tree, t, s)
	case encoding.Zstd:
		return decodeZstd(dst, tree, s)
	case encoding.LZ4:
		return decodeLZ4(dst, tree)
	case encoding.ZigZag:
		return decodeZigZag(dst, tree, t, s)
	case encoding.Sparse:
		return decodeSparse(dst, tree, t, s)
	case encoding.CommonDivisor:
		return decodeCommonDivisor(dst, tree, t, s)
	case encoding.Narrow:
		return decodeNarrow(dst, tree, s)
	case encoding.TightPack:
		return decodeTight(dst, tree)
	case encoding.PatchedPack:
		return decodePatched(dst, tree, t, s)
	case encoding.BytePlanes:
		return decodeBytePlanes(dst, tree, s)
	case encoding.PrefixBins:
		return decodePrefixBins(dst, tree, t, s)
	}
	return fault.Unsupportedf("encoding %v is not known", code)
}
