package tree

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/onpair"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Dictionary is tokens that the blocks of a buffer share. It is safe for concurrent use. Its buffer (docs/format.md §8.2):
//
//	0   4  u32 number of tokens T, at most 65,535
//	4   T  head of each token (package onpair)
//	4+T    bytes of the tokens that are not shared
//	    4  checksum of all that
type Dictionary struct {
	ID     uint32 // of its buffer, by which blocks refer to it
	Tokens onpair.Decoder
}

// DictionaryID is the id of the dictionaries that are written here.
const DictionaryID = 1

const dictionaryHeads = 4

// AppendDictionary appends the buffer of a dictionary.
func AppendDictionary(dst []byte, d *onpair.Dictionary) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(d.Len()))
	dst = d.AppendBytes(d.AppendHeads(dst))
	return binary.LittleEndian.AppendUint32(dst, encoding.BlockChecksum(dst[start:]))
}

// ParseDictionary is that of package bytestring.
func ParseDictionary(b []byte, id uint32) (*Dictionary, error) {
	if len(b) < dictionaryHeads+encoding.BlockChecksumLen {
		return nil, fault.Corruptf("dictionary of %d bytes", len(b))
	}
	body := b[:len(b)-encoding.BlockChecksumLen]
	if got, want := encoding.BlockChecksum(body), binary.LittleEndian.Uint32(b[len(body):]); got != want {
		return nil, fault.Checksumf("dictionary has checksum %#08x, expected %#08x", got, want)
	}
	n, rest := binary.LittleEndian.Uint32(body), body[dictionaryHeads:]
	if uint64(n) > uint64(len(rest)) {
		return nil, fault.Corruptf("dictionary of %d tokens in %d bytes", n, len(b))
	}
	d := &Dictionary{ID: id}
	return d, d.Tokens.Reset(rest[:n], rest[n:])
}
