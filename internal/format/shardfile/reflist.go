package shardfile

import (
	"encoding/binary"
	"sort"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// refList is a DataRefArray read in place: one reference per schema id
// (docs/format.md §2.6, §3.1). A field list of 50,000 entries costs one pass over its
// bytes and no string; entry i is fetched when it is asked for.
//
// As protobuf the message is three parallel lists, of which the numbers are
// packed:
//
//	12 len url            one per entry; almost always 12 00, "in this artifact"
//	1a len start*8        fixed64
//	22 len end*8          fixed64
//
// Two entries, both in the same artifact, the second one absent (0..0):
//
//	12 00 12 00
//	1a 10 40 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//	22 10 90 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//
// Fields may come in any order, in several pieces, unpacked, and between fields
// that are not known.
type refList struct {
	msg          []byte
	n            int
	starts, ends []byte // 8 bytes an entry
	urls         int    // entries whose url is not empty
	marks        []refMark
}

// refMark says that the url of entry index, and those that follow it without a
// gap, can be found from position at of the message on.
type refMark struct {
	index int
	at    int
}

// Numbers of the DataRefArray fields.
const (
	refURL   = 2
	refStart = 3
	refEnd   = 4
)

// markEvery is the most urls that have to be skipped to find one.
const markEvery = 64

// parseRefList checks the whole message: its syntax, and that its three lists
// have the same length. base is where msg lies in its artifact, for errors.
func parseRefList(msg []byte, base int64) (*refList, error) {
	l := &refList{msg: msg}
	seen := 0
	for at := 0; at < len(msg); {
		if seen%markEvery == 0 {
			l.mark(seen, at)
		}
		// The usual url, empty, many times over.
		if msg[at] == refURL<<3|2 && at+1 < len(msg) && msg[at+1] == 0 {
			seen++
			at += 2
			continue
		}
		num, typ, n := protowire.ConsumeTag(msg[at:])
		if n < 0 {
			return nil, fault.In(fault.Corruptf("DataRefArray: %v", protowire.ParseError(n)), "", base+int64(at))
		}
		if num > protowire.MaxValidNumber {
			return nil, fault.In(fault.Corruptf("DataRefArray: field number %d", num), "", base+int64(at))
		}
		value := msg[at+n:]
		size := protowire.ConsumeFieldValue(num, typ, value)
		if size < 0 {
			return nil, fault.In(fault.Corruptf("DataRefArray: field %d: %v", num, protowire.ParseError(size)), "", base+int64(at))
		}
		var err error
		switch num {
		case refURL:
			err = l.checkURL(typ, value[:size])
			seen++
		case refStart:
			l.starts, err = appendFixed(l.starts, typ, value[:size])
		case refEnd:
			l.ends, err = appendFixed(l.ends, typ, value[:size])
		}
		if err != nil {
			return nil, fault.In(err, "", base+int64(at))
		}
		at += n + size
	}
	if len(l.starts) != len(l.ends) || seen != len(l.starts)/8 {
		return nil, fault.Corruptf("DataRefArray: %d urls, %d starts and %d ends", seen, len(l.starts)/8, len(l.ends)/8)
	}
	l.n = seen
	return l, nil
}

func (l *refList) mark(index, at int) {
	if k := len(l.marks); k > 0 && l.marks[k-1].index == index {
		l.marks[k-1].at = at
		return
	}
	l.marks = append(l.marks, refMark{index, at})
}

func (l *refList) checkURL(typ protowire.Type, value []byte) error {
	if typ != protowire.BytesType {
		return fault.Corruptf("DataRefArray: url has wire type %d", typ)
	}
	s, _ := protowire.ConsumeBytes(value)
	if len(s) == 0 {
		return nil
	}
	l.urls++
	if !utf8.Valid(s) {
		return fault.Corruptf("DataRefArray: url is not valid UTF-8")
	}
	return nil
}

// appendFixed adds the fixed64 numbers of one field to list. The usual single
// packed piece is not copied.
func appendFixed(list []byte, typ protowire.Type, value []byte) ([]byte, error) {
	switch typ {
	case protowire.BytesType:
		b, _ := protowire.ConsumeBytes(value)
		if len(b)%8 != 0 {
			return nil, fault.Corruptf("DataRefArray: %d bytes of fixed64 numbers", len(b))
		}
		if len(list) == 0 {
			return b[:len(b):len(b)], nil
		}
		return append(list, b...), nil
	case protowire.Fixed64Type:
		return append(list, value[:8]...), nil
	}
	return nil, fault.Corruptf("DataRefArray: position has wire type %d", typ)
}

// Len is the number of entries.
func (l *refList) Len() int { return l.n }

// At is entry i of Len entries. start == end means that the entry is absent.
func (l *refList) At(i int) (url string, start, end uint64) {
	if l.urls != 0 {
		url = l.url(i)
	}
	start, end = l.Range(i)
	return url, start, end
}

// Range is entry i of Len entries without its url.
func (l *refList) Range(i int) (start, end uint64) {
	return binary.LittleEndian.Uint64(l.starts[8*i:]), binary.LittleEndian.Uint64(l.ends[8*i:])
}

func (l *refList) url(i int) string {
	k := sort.Search(len(l.marks), func(k int) bool { return l.marks[k].index > i }) - 1
	at, index := l.marks[k].at, l.marks[k].index
	for {
		num, typ, n := protowire.ConsumeTag(l.msg[at:])
		at += n
		size := protowire.ConsumeFieldValue(num, typ, l.msg[at:])
		if num == refURL {
			if index == i {
				s, _ := protowire.ConsumeBytes(l.msg[at:])
				return string(s)
			}
			index++
		}
		at += size
	}
}

// appendRefList is the inverse of [parseRefList]. All three lists have the same
// length; urls may be nil if all are empty.
func appendRefList(dst []byte, urls []string, starts, ends []uint64) []byte {
	if len(starts) == 0 {
		return dst
	}
	for i := range starts {
		dst = protowire.AppendTag(dst, refURL, protowire.BytesType)
		if urls == nil {
			dst = append(dst, 0)
		} else {
			dst = protowire.AppendString(dst, urls[i])
		}
	}
	dst = appendPacked(dst, refStart, starts)
	return appendPacked(dst, refEnd, ends)
}

func appendPacked(dst []byte, num protowire.Number, values []uint64) []byte {
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(8*len(values)))
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}
