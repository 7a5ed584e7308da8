// Package recovery is the layout of recovery records. One follows every stripe in the root artifact of a shard, framed
// like a message. No message refers to it, and readers of a finished shard do not see it. A program that saves what is
// left of an unfinished shard finds records by their magic, and needs nothing that is written later (docs/format.md §2.7).
package recovery

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Record is a recovery record.
//
//	0   16  magic                8a "amudai-recover" 0a
//	16  2   version, u16         1
//	18  2   zero
//	20  4   number of the stripe, u32, from 0
//	24  8   position of this record's frame in the artifact, u64
//	32  8   schema message: start of its frame, u64
//	40  8   schema message: end of its frame, u64
//	48  4   bytes of the StripeDirectory, u32
//	52  4   bytes of the ShardProperties, u32
//	56      StripeDirectory, as in the StripeList
//	        ShardProperties, as known when the stripe was written
//
// Numbers are little-endian. The position tells a record from a copy of one in the data, such as in a column that holds
// the bytes of other shards. The first record of a shard with a schema frame of 8..120:
//
//	8a616d75 6461692d 7265636f 7665720a 0100 0000 00000000 <position>
//	08000000 00000000 78000000 00000000 23000000 4b000000 <35 bytes> <75 bytes>
type Record struct {
	Stripe                 uint32 // number of the stripe
	Position               int64  // of the frame of the record
	SchemaStart, SchemaEnd int64  // of the frame of the schema
	Directory, Properties  []byte // encoded messages
}

// Magic begins every record.
const Magic = "\x8aamudai-recover\n"

const (
	version    = 1
	headerSize = 56
)

// MaxSize bounds a record, of which only the properties can be long.
const MaxSize = 64 << 20

// Append appends the bytes of a record.
func (r *Record) Append(dst []byte) []byte {
	le := binary.LittleEndian
	dst = append(dst, Magic...)
	dst = le.AppendUint16(dst, version)
	dst = le.AppendUint16(dst, 0)
	dst = le.AppendUint32(dst, r.Stripe)
	dst = le.AppendUint64(dst, uint64(r.Position))
	dst = le.AppendUint64(dst, uint64(r.SchemaStart))
	dst = le.AppendUint64(dst, uint64(r.SchemaEnd))
	dst = le.AppendUint32(dst, uint32(len(r.Directory)))
	dst = le.AppendUint32(dst, uint32(len(r.Properties)))
	return append(append(dst, r.Directory...), r.Properties...)
}

// Parse reads the payload of the frame at position. The record keeps b.
func Parse(b []byte, position int64) (*Record, error) {
	le := binary.LittleEndian
	if len(b) < headerSize || string(b[:len(Magic)]) != Magic || le.Uint64(b[24:]) != uint64(position) {
		return nil, fault.Corruptf("not a recovery record")
	}
	if v := le.Uint16(b[16:]); v != version {
		return nil, fault.Unsupportedf("recovery record of version %d", v)
	}
	start, end := le.Uint64(b[32:]), le.Uint64(b[40:])
	n, m, rest := uint64(le.Uint32(b[48:])), uint64(le.Uint32(b[52:])), b[headerSize:]
	if start > end || end > uint64(position) || n+m != uint64(len(rest)) {
		return nil, fault.Corruptf("recovery record does not add up")
	}
	return &Record{
		Stripe: le.Uint32(b[20:]), Position: position, SchemaStart: int64(start), SchemaEnd: int64(end),
		Directory: rest[:n], Properties: rest[n:],
	}, nil
}

// Find calls found with the offset of every magic in an artifact, in order. It ends with the first error of found.
func Find(ctx context.Context, r storage.Reader, found func(at int64) error) error {
	size, err := r.Size(ctx)
	if err != nil {
		return err
	}
	const overlap = len(Magic) - 1
	buf := make([]byte, min(size, 1<<20))
	for at := int64(0); at+int64(overlap) < size; at += int64(len(buf) - overlap) {
		b := buf[:min(int64(len(buf)), size-at)]
		if err := r.ReadAt(ctx, b, at); err != nil {
			return err
		}
		for from := 0; ; {
			i := bytes.Index(b[from:], []byte(Magic))
			if i < 0 {
				break
			}
			if err := found(at + int64(from+i)); err != nil {
				return err
			}
			from += i + 1
		}
	}
	return nil
}
