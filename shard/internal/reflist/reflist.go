// Package reflist reads a DataRefArray in place: one reference per schema id (docs/format.md §2.6, §3.1). A field list of
// 50,000 entries costs one pass over its bytes and no strings; an entry is decoded when it is asked for.
package reflist

import (
	"encoding/binary"
	"sort"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// List is a DataRefArray. It does not change, and may be used by many goroutines.
//
// As protobuf, the message is three parallel lists, of which the numbers are packed:
//
//	12 len url            one per entry; almost always 12 00, "in this artifact"
//	1a len start*8        fixed64
//	22 len end*8          fixed64
//	c2 3e len sum*4       fixed32, the checksum of each message; missing in shards of other writers
//
// Two entries, both in the same artifact, the second of them absent (0..0):
//
//	12 00 12 00
//	1a 10 40 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//	22 10 90 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//
// Fields may come in any order, in several parts, unpacked, and between unknown fields.
type List struct {
	msg          []byte
	n            int
	starts, ends []byte // 8 bytes per entry
	sums         []byte // 4 bytes per entry, or none
	urls         int    // entries with a url that is not empty
	marks        []mark
}

// mark says that the url of entry index, and those of the entries behind it, are found from position at of the message on.
type mark struct {
	index int
	at    int
}

// Field numbers of DataRefArray.
const (
	fieldURL   = 2
	fieldStart = 3
	fieldEnd   = 4
	fieldSum   = 1000
)

// markEvery is the most urls that are skipped to find one.
const markEvery = 64

// Parse checks the syntax of a message, and that its three lists have the same length. base is the offset of msg in its
// artifact, for errors. The list keeps msg.
func Parse(msg []byte, base int64) (*List, error) {
	l := &List{msg: msg}
	seen := 0
	for at := 0; at < len(msg); {
		if seen%markEvery == 0 {
			l.addMark(seen, at)
		}
		// Nearly all urls are empty.
		if msg[at] == fieldURL<<3|2 && at+1 < len(msg) && msg[at+1] == 0 {
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
		case fieldURL:
			err = l.checkURL(typ, value[:size])
			seen++
		case fieldStart:
			l.starts, err = appendFixed(l.starts, protowire.Fixed64Type, typ, value[:size])
		case fieldEnd:
			l.ends, err = appendFixed(l.ends, protowire.Fixed64Type, typ, value[:size])
		case fieldSum:
			l.sums, err = appendFixed(l.sums, protowire.Fixed32Type, typ, value[:size])
		}
		if err != nil {
			return nil, fault.In(err, "", base+int64(at))
		}
		at += n + size
	}
	if len(l.starts) != len(l.ends) || seen != len(l.starts)/8 {
		return nil, fault.Corruptf("DataRefArray: %d urls, %d starts and %d ends", seen, len(l.starts)/8, len(l.ends)/8)
	}
	if len(l.sums) != 0 && len(l.sums) != 4*seen {
		return nil, fault.Corruptf("DataRefArray: %d checksums of %d entries", len(l.sums)/4, seen)
	}
	l.n = seen
	return l, nil
}

func (l *List) addMark(index, at int) {
	if k := len(l.marks); k > 0 && l.marks[k-1].index == index {
		l.marks[k-1].at = at
		return
	}
	l.marks = append(l.marks, mark{index, at})
}

func (l *List) checkURL(typ protowire.Type, value []byte) error {
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

// appendFixed appends the numbers of a field of type fixed64 or fixed32 to list. The numbers of a single packed field, the usual form,
// are not copied.
func appendFixed(list []byte, fixed, typ protowire.Type, value []byte) ([]byte, error) {
	width := 8
	if fixed == protowire.Fixed32Type {
		width = 4
	}
	switch typ {
	case protowire.BytesType:
		b, _ := protowire.ConsumeBytes(value)
		if len(b)%width != 0 {
			return nil, fault.Corruptf("DataRefArray: %d bytes of numbers of %d", len(b), width)
		}
		if len(list) == 0 {
			return b[:len(b):len(b)], nil
		}
		return append(list, b...), nil
	case fixed:
		return append(list, value[:width]...), nil
	}
	return nil, fault.Corruptf("DataRefArray: position has wire type %d", typ)
}

// Len is the number of entries.
func (l *List) Len() int { return l.n }

// HasURLs reports whether an entry refers to another artifact.
func (l *List) HasURLs() bool { return l.urls > 0 }

// Size is the number of bytes of the message.
func (l *List) Size() int { return len(l.msg) }

// At is entry i of Len entries. It is absent if start == end.
func (l *List) At(i int) (url string, start, end uint64) {
	if l.urls != 0 {
		url = l.url(i)
	}
	start, end = l.Range(i)
	return url, start, end
}

// Range is entry i of Len entries without its url.
func (l *List) Range(i int) (start, end uint64) {
	return binary.LittleEndian.Uint64(l.starts[8*i:]), binary.LittleEndian.Uint64(l.ends[8*i:])
}

// Sum is the checksum of the message that entry i of Len entries refers to; false if the list has no checksums.
func (l *List) Sum(i int) (uint32, bool) {
	if len(l.sums) == 0 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(l.sums[4*i:]), true
}

func (l *List) url(i int) string {
	k := sort.Search(len(l.marks), func(k int) bool { return l.marks[k].index > i }) - 1
	at, index := l.marks[k].at, l.marks[k].index
	for {
		num, typ, n := protowire.ConsumeTag(l.msg[at:])
		at += n
		size := protowire.ConsumeFieldValue(num, typ, l.msg[at:])
		if num == fieldURL {
			if index == i {
				s, _ := protowire.ConsumeBytes(l.msg[at:])
				return string(s)
			}
			index++
		}
		at += size
	}
}

// Append appends the message for lists of the same length. urls may be nil if all are empty, sums if there are no checksums.
func Append(dst []byte, urls []string, starts, ends []uint64, sums []uint32) []byte {
	if len(starts) == 0 {
		return dst
	}
	for i := range starts {
		dst = protowire.AppendTag(dst, fieldURL, protowire.BytesType)
		if urls == nil {
			dst = append(dst, 0)
		} else {
			dst = protowire.AppendString(dst, urls[i])
		}
	}
	dst = appendPacked(dst, fieldStart, starts)
	dst = appendPacked(dst, fieldEnd, ends)
	if sums == nil {
		return dst
	}
	dst = protowire.AppendTag(dst, fieldSum, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(4*len(sums)))
	for _, v := range sums {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}

func appendPacked(dst []byte, num protowire.Number, values []uint64) []byte {
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(8*len(values)))
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}
