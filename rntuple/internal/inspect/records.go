package inspect

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/table/provider"
)

// bigEndian lists the parts of records of the container. It stops where the bytes end.
type bigEndian struct {
	b     []byte
	at    int
	depth int
	parts []provider.Part
}

// number lists a number of n bytes, and gives it.
func (p *bigEndian) number(n int, name string) uint64 {
	if p.at+n > len(p.b) {
		p.at = len(p.b)
		return 0
	}
	v := uint64(0)
	for _, c := range p.b[p.at : p.at+n] {
		v = v<<8 | uint64(c)
	}
	p.add(n, fmt.Sprintf("%s %d", name, v))
	return v
}

func (p *bigEndian) add(n int, text string) {
	n = min(n, len(p.b)-p.at)
	p.parts = append(p.parts, provider.Part{Offset: p.at, Size: n, Depth: p.depth, Text: text})
	p.at += n
}

// text lists a string: its length in a byte, or 255 and the length in four.
func (p *bigEndian) text(name string) {
	if p.at >= len(p.b) {
		return
	}
	head, n := 1, int(p.b[p.at])
	if n == 255 && p.at+5 <= len(p.b) {
		head, n = 5, int(binary.BigEndian.Uint32(p.b[p.at+1:]))
	}
	if n > len(p.b)-p.at-head {
		p.add(len(p.b)-p.at, name+" that leaves the record")
		return
	}
	p.add(head+n, fmt.Sprintf("%s %q", name, p.b[p.at+head:p.at+head+n]))
}

func headerParts(b []byte, wide bool) []provider.Part {
	seek := 4
	if wide {
		seek = 8
	}
	p := bigEndian{b: b}
	p.add(4, "magic")
	p.number(4, "version of ROOT")
	p.number(4, "begin of the records")
	p.number(seek, "end of the file")
	p.number(seek, "free list: offset")
	p.number(4, "bytes")
	p.number(4, "segments")
	p.number(4, "bytes in front of the root directory")
	p.number(1, "bytes of an offset")
	p.number(4, "compression")
	p.number(seek, "streamer info: offset")
	p.number(4, "bytes")
	p.number(2, "version of the UUID")
	p.add(16, "UUID")
	return p.parts
}

// key lists the header of a record.
func (p *bigEndian) key() {
	from := p.at
	p.number(4, "bytes of the record")
	seek := 4
	if p.number(2, "version") > 1000 {
		seek = 8
	}
	p.number(4, "bytes of the object")
	p.number(4, "time")
	size := p.number(2, "bytes of this header")
	p.number(2, "cycle")
	p.number(seek, "offset of the record")
	p.number(seek, "offset of the directory")
	p.text("class")
	p.text("name")
	p.text("title")
	if end := from + int(size); end > p.at && end <= len(p.b) {
		p.add(end-p.at, "not used")
	}
}

func keyParts(b []byte) []provider.Part {
	p := bigEndian{b: b}
	p.key()
	return p.parts
}

// recordParts are the key of a record, and its content as far as it has a meaning here.
func (o *outline) recordParts(b []byte, k rootfile.Key) []provider.Part {
	p := bigEndian{b: b}
	p.key()
	h := o.file.Header()
	switch {
	case k.Offset == h.SeekFree:
		for p.at < len(p.b) {
			seek := 4
			if p.number(2, "free segment: version") > 1000 {
				seek = 8
			}
			p.number(seek, "first byte")
			p.number(seek, "last byte")
		}
	case k.Offset == h.SeekInfo:
		p.add(len(p.b)-p.at, "streamer info")
	case o.isKeyList(k.Offset):
		n := p.number(4, "keys")
		p.depth++
		for i := uint64(0); i < n && p.at < len(p.b); i++ {
			p.key()
		}
		p.depth--
	case k.Class == rootfile.ClassNTuple && int64(len(b)) == k.HeaderSize+k.ObjectSize:
		p.anchor()
	case k.Offset == h.Begin || strings.HasPrefix(k.Class, "TDirectory"):
		p.directory(k.Offset == h.Begin)
	}
	if p.at < len(p.b) {
		p.add(len(p.b)-p.at, "content")
	}
	return p.parts
}

func (o *outline) isKeyList(offset int64) bool {
	for _, d := range o.file.Directories() {
		if d.SeekKeys == offset {
			return true
		}
	}
	return false
}

func (p *bigEndian) anchor() {
	p.number(4, "byte count")
	p.number(2, "class version")
	for _, name := range []string{"epoch", "major version", "minor version", "patch"} {
		p.number(2, name)
	}
	for _, name := range []string{"header: offset", "bytes", "unpacked", "footer: offset", "bytes", "unpacked", "max key size"} {
		p.number(8, name)
	}
	if n := len(p.b) - p.at - 8; n > 0 {
		p.add(n, "of a newer version")
	}
	p.add(8, "XXH3")
}

// directory lists a directory record, which follows the name and the title of the file if it is the root's.
func (p *bigEndian) directory(root bool) {
	if root {
		p.text("name")
		p.text("title")
	}
	seek := 4
	if p.number(2, "directory: version") > 1000 {
		seek = 8
	}
	p.number(4, "created")
	p.number(4, "changed")
	p.number(4, "bytes of the key list")
	p.number(4, "bytes in front of this")
	p.number(seek, "offset of the key")
	p.number(seek, "offset of the directory above")
	p.number(seek, "offset of the key list")
	p.number(2, "version of the UUID")
	p.add(16, "UUID")
}
