package rootfile

import (
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	magic     = "root"
	bareMagic = "rntuple"
	// wideFile is added to the version of files whose header has offsets of 64 bits.
	wideFile = 1_000_000
	// bigFile is the size up to which ROOT writes offsets of 32 bits.
	bigFile = 2_000_000_000
)

// Header is the file header.
//
//	  32-bit form         64-bit form
//	 0  "root"           0  "root"
//	 4  i32              4  i32         version of ROOT: 63600 is 6.36.00; plus 1,000,000 in the 64-bit form
//	 8  i32              8  i32         begin of the first record
//	12  i32             12  i64         end of the last record
//	16  i32             20  i64         free list: where
//	20  i32             28  i32         bytes
//	24  i32             32  i32         segments
//	28  i32             36  i32         bytes in front of the root's directory record, from begin
//	32  u8              40  u8          bytes of an offset, 4 or 8
//	33  i32             41  i32         compression settings
//	37  i32             45  i64         streamer info: where
//	41  i32             53  i32         bytes
//	45  u16, 16 B       57  u16, 16 B   version and UUID
//	63                  75
type Header struct {
	Version     int32 // of ROOT, without what marks the 64-bit form
	Wide        bool  // the 64-bit form
	Begin       int64 // of the first record
	End         int64 // of the last record
	SeekFree    int64 // where the free list lies, 0 if there is none
	FreeSize    int64 // bytes of that record
	FreeCount   int   // segments of the free list
	NameSize    int64 // from Begin to the directory record of the root
	Units       uint8 // bytes of an offset
	Compression uint32
	SeekInfo    int64 // where the streamer info lies, 0 if there is none
	InfoSize    int64 // bytes of that record
	UUIDVersion uint16
	UUID        [16]byte
}

func parseHeader(b []byte) (Header, error) {
	if len(b) >= len(bareMagic) && string(b[:len(bareMagic)]) == bareMagic {
		return Header{}, fault.Unsupportedf("an RNTuple in a bare file, not in a ROOT file")
	}
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return Header{}, fault.Corruptf("no ROOT file: it does not begin with %q", magic)
	}
	var h Header
	c := newReader(b, 0)
	h.code(c)
	switch {
	case c.Err != nil:
		return h, c.Err
	case h.Version < 0 || h.Begin < int64(c.Pos) || h.End < h.Begin:
		return h, fault.Corruptf("version %d, records from %d to %d", h.Version, h.Begin, h.End)
	case h.NameSize < 0 || h.FreeSize < 0 || h.FreeCount < 0 || h.InfoSize < 0:
		return h, fault.Corruptf("negative sizes")
	}
	return h, nil
}

// code describes the header.
func (h *Header) code(c *coder) {
	version, segments := int64(h.Version), int64(h.FreeCount)
	if h.Wide {
		version += wideFile
	}
	c.Bytes("magic", []byte(magic))
	c.i32("version of ROOT", &version)
	if h.Wide = version >= wideFile; h.Wide {
		version -= wideFile
	}
	h.Version = int32(version)
	c.i32("begin of the records", &h.Begin)
	c.seek("end of the file", h.Wide, &h.End)
	c.seek("free list: offset", h.Wide, &h.SeekFree)
	c.i32("bytes", &h.FreeSize)
	c.i32("segments", &segments)
	h.FreeCount = int(segments)
	c.i32("bytes in front of the root directory", &h.NameSize)
	c.U8("bytes of an offset", &h.Units)
	c.U32("compression", &h.Compression)
	c.seek("streamer info: offset", h.Wide, &h.SeekInfo)
	c.i32("bytes", &h.InfoSize)
	c.uuid(&h.UUIDVersion, &h.UUID)
}

// append appends the header.
func (h Header) append(b []byte) []byte {
	c := newAppender(b)
	h.code(c)
	return c.Buf
}

// Size is the number of bytes of the header.
func (h Header) Size() int64 { return int64(len(h.append(nil))) }

// Datime is a local time of day without a zone, in seconds.
//
//	bits 31…26  year - 1995
//	     25…22  month
//	     21…17  day
//	     16…12  hour
//	     11…6   minute
//	      5…0   second
type Datime uint32

// NewDatime is t as its clock shows it. Years outside 1995 to 2058 become the nearest of these.
func NewDatime(t time.Time) Datime {
	year := min(max(t.Year(), 1995), 2058) - 1995
	return Datime(year<<26 | int(t.Month())<<22 | t.Day()<<17 | t.Hour()<<12 | t.Minute()<<6 | t.Second())
}

// Time is the time, as if it were UTC.
func (d Datime) Time() time.Time {
	return time.Date(1995+int(d>>26), time.Month(d>>22&15), int(d>>17&31), int(d>>12&31), int(d>>6&63), int(d&63), 0, time.UTC)
}
