package message

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// MaxCopied is the largest number of bytes of descriptors that are copied at the end of a shard.
const MaxCopied = 2 << 20

// Pack is the payload of the message with copies of the frames of the descriptors and the field list of each stripe (docs/format.md §11.2).
//
//	u32 × stripes   bytes of each stripe, which end with its field list
//	Zstandard       the bytes of all stripes
func Pack(stripes [][]byte) ([]byte, error) {
	var payload, all []byte
	for _, b := range stripes {
		payload = binary.LittleEndian.AppendUint32(payload, uint32(len(b)))
		all = append(all, b...)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(all, payload), nil
}

// Unpack is the inverse of Pack for a number of stripes.
func Unpack(payload []byte, stripes int) ([][]byte, error) {
	if len(payload)/4 < stripes {
		return nil, fault.Corruptf("%d bytes for %d stripes", len(payload), stripes)
	}
	out, size := make([][]byte, stripes), 0
	for i := range out {
		n := binary.LittleEndian.Uint32(payload[4*i:])
		if n > MaxCopied || size+int(n) > MaxCopied {
			return nil, fault.Corruptf("more than %d bytes", MaxCopied)
		}
		size += int(n)
	}
	all := make([]byte, size)
	var z decompress.Zstd
	if err := z.Decode(all, payload[4*stripes:]); err != nil {
		return nil, err
	}
	for i := range out {
		n := binary.LittleEndian.Uint32(payload[4*i:])
		out[i], all = all[:n:n], all[n:]
	}
	return out, nil
}
