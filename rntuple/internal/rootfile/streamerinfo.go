package rootfile

import (
	"bytes"
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// The streamer info describes the classes of a file's objects. JSROOT opens no RNTuple
// without that of its anchor:
//
//	TList               count, u16 5, TObject, name, i32 objects, per object: object, u8 0
//	  TStreamerInfo     count, class, count, u16 10, TNamed, u32 checksum, u32 class version 2, array
//	    TObjArray       count, class, count, u16 3, TObject, name, i32 11 members, i32 0
//	      member        count, class, count, u16 2, count, u16 4, TNamed, i32 type, i32 size, 7 × i32 0, type name
//
//	count     u32       0x40000000 plus the number of bytes behind it
//	TObject             u16 1, u32 0, u32 bits
//	TNamed              count, u16 1, TObject, name, title
//	class     u32       0xffffffff and the name with a zero behind it, the first time; then
//	                    0x80000000 plus the place of that name's number, 2 added, counted
//	                    from the start of the record: it includes the size of the key
const (
	countFlag    = 0x40000000
	newClass     = 0xffffffff
	classFlag    = 0x80000000
	listVersion  = 5
	infoVersion  = 10 // of ROOT 6.36 and later
	isReferenced = 1 << 4
	heapBit      = 0x00010000
)

// spelling is the type of the 64-bit members, which platforms call by different names.
type spelling struct {
	code     uint32
	name     string
	checksum uint32 // of the class
}

var spellingLinux = spelling{14, "unsigned long", 0x28e632ec}

// newStreamerInfo is the payload of a record with the class ROOT::RNTuple, whose key has
// keySize bytes.
func newStreamerInfo(keySize int64, s spelling, version uint16) []byte {
	return counted(nil, func(b []byte) []byte {
		b = binary.BigEndian.AppendUint16(b, listVersion)
		b = appendText(appendObject(b, 0), "")
		b = binary.BigEndian.AppendUint32(b, 1)
		return append(appendNTupleInfo(b, keySize, s, version), 0)
	})
}

// counted appends what body appends, and its size in front.
func counted(b []byte, body func([]byte) []byte) []byte {
	at := len(b)
	b = body(append(b, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(b[at:], countFlag|uint32(len(b)-at-4))
	return b
}

func appendObject(b []byte, bits uint32) []byte {
	b = binary.BigEndian.AppendUint16(b, 1)
	b = binary.BigEndian.AppendUint32(b, 0)
	return binary.BigEndian.AppendUint32(b, bits)
}

func appendNamed(b []byte, name string, bits uint32) []byte {
	return counted(b, func(b []byte) []byte {
		b = appendObject(binary.BigEndian.AppendUint16(b, 1), bits)
		return appendText(appendText(b, name), "")
	})
}

func appendClass(b []byte, name string) []byte {
	b = binary.BigEndian.AppendUint32(b, newClass)
	return append(append(b, name...), 0)
}

// appendNTupleInfo appends the object for ROOT::RNTuple. b is the payload from its first byte on.
func appendNTupleInfo(b []byte, keySize int64, s spelling, version uint16) []byte {
	be := binary.BigEndian
	return counted(b, func(b []byte) []byte {
		b = appendClass(b, "TStreamerInfo")
		return counted(b, func(b []byte) []byte {
			b = appendNamed(be.AppendUint16(b, version), ClassNTuple, heapBit)
			b = be.AppendUint32(be.AppendUint32(b, s.checksum), 2)
			return counted(b, func(b []byte) []byte {
				b = appendClass(b, "TObjArray")
				return counted(b, func(b []byte) []byte {
					b = appendText(appendObject(be.AppendUint16(b, 3), 0), "")
					b = be.AppendUint32(be.AppendUint32(b, 11), 0)
					return appendMembers(b, keySize, s)
				})
			})
		})
	})
}

func appendMembers(b []byte, keySize int64, s spelling) []byte {
	short := spelling{code: 12, name: "unsigned short"}
	class := uint32(0)
	for i, name := range []string{"fVersionEpoch", "fVersionMajor", "fVersionMinor", "fVersionPatch", "fSeekHeader", "fNBytesHeader",
		"fLenHeader", "fSeekFooter", "fNBytesFooter", "fLenFooter", "fMaxKeySize"} {
		kind, size := s, uint32(8)
		if i < 4 {
			kind, size = short, 2
		}
		b = counted(b, func(b []byte) []byte {
			if i == 0 {
				class = classFlag | uint32(keySize+int64(len(b))+2)
				b = appendClass(b, "TStreamerBasicType")
			} else {
				b = binary.BigEndian.AppendUint32(b, class)
			}
			return appendMember(b, name, kind, size)
		})
	}
	return b
}

func appendMember(b []byte, name string, kind spelling, size uint32) []byte {
	be := binary.BigEndian
	return counted(b, func(b []byte) []byte {
		return counted(be.AppendUint16(b, 2), func(b []byte) []byte {
			b = appendNamed(be.AppendUint16(b, 4), name, 0)
			b = be.AppendUint32(be.AppendUint32(b, kind.code), size)
			b = append(b, make([]byte, 7*4)...)
			return appendText(b, kind.name)
		})
	})
}

// describesNTuples tells whether a streamer info has the class ROOT::RNTuple.
func describesNTuples(info []byte) bool {
	return bytes.Contains(info, append(appendText(nil, ClassNTuple), 0))
}

// extendStreamerInfo adds the class ROOT::RNTuple to a streamer info. What it has stays in
// its place, so that references stay true, too; the key must keep its size.
func extendStreamerInfo(info []byte, keySize int64) ([]byte, error) {
	c := newReader(info, 0)
	var count, bits, objects uint32
	var version, object uint16
	c.U32("", &count)
	c.U16("", &version)
	c.U16("", &object)
	c.Take(4)
	if c.U32("", &bits); bits&isReferenced != 0 {
		c.Take(2)
	}
	c.text("", new(string))
	at := c.Pos
	c.U32("", &objects)
	end := int64(count&^countFlag) + 4
	switch {
	case c.Err != nil:
		return nil, c.Err
	case count&countFlag == 0 || version != listVersion || object != 1:
		return nil, fault.Unsupportedf("a streamer info that does not begin as that of ROOT 5 and 6 does")
	case end < int64(c.Pos) || end > int64(len(info)):
		return nil, fault.Corruptf("a list of %d bytes in %d", end, len(info))
	}
	b := bytes.Clone(info[:end])
	binary.BigEndian.PutUint32(b[at:], objects+1)
	b = append(appendNTupleInfo(b, keySize, spellingLinux, infoVersion), 0)
	binary.BigEndian.PutUint32(b, countFlag|uint32(len(b)-4))
	return b, nil
}
