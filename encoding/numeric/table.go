package numeric

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/fault"
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

// typesOf says which types an encoding takes; none for a code that is unknown or
// that belongs to byte strings.
func typesOf(code encoding.Code) types {
	switch code {
	case encoding.Plain, encoding.RunLength, encoding.SingleValue, encoding.BlockDictionary,
		encoding.Zstd, encoding.LZ4, encoding.Sparse:
		return allTypes
	case encoding.FLBitPack:
		return unsignedTypes
	case encoding.FOR, encoding.FFOR, encoding.Delta:
		return intTypes
	case encoding.TruncateU8, encoding.TruncateU16:
		return 1<<I16 | 1<<I32 | 1<<I64
	case encoding.TruncateU32:
		return 1<<I32 | 1<<I64
	case encoding.TruncateU64:
		return 1 << I64
	case encoding.ZigZag:
		return signedTypes
	case encoding.ALP, encoding.ALPRD:
		return floatTypes
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
	if code >= encoding.Plain && code <= encoding.Sparse {
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
	if s.depth++; s.depth > maxDepth {
		return fault.Limitf("encoding trees nested more than %d deep", maxDepth)
	}
	if s.nodes++; s.nodes > maxNodes {
		return fault.Limitf("encoding tree of more than %d nodes", maxNodes)
	}
	mark := s.mark()
	err = decodeAs(dst, code, tree, t, s)
	s.release(mark)
	s.depth--
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
	}
	return fault.Unsupportedf("encoding %v is not known", code)
}
