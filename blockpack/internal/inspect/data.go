package inspect

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/table/provider"
)

// data lists the parts of the data of a column, up to the first that is not right.
type data struct {
	b     []byte
	at    int
	depth int
	parts []provider.Part
}

// dataParts are the parts of the data of a column.
func dataParts(b []byte) []provider.Part {
	d := &data{b: b}
	d.number(1, "encoding version")
	k := column.Kind(d.number(1, "kind"))
	if n := len(d.parts); n > 1 {
		d.parts[n-1].Text = "kind " + k.String()
	}
	d.kind(k)
	if d.at < len(b) {
		d.add(len(b)-d.at, fmt.Sprintf("%d bytes", len(b)-d.at))
	}
	return d.parts
}

func (d *data) kind(k column.Kind) {
	switch k {
	case column.Dictionary, column.SparseDictionary, column.RLEIndexes, column.SparseRLEIndexes, column.DeltaDictionary, column.SparseDeltaDictionary:
		d.coded(k)
	case column.InlineBytes, column.SparseInlineBytes:
		d.presence()
		if k == column.SparseInlineBytes {
			d.number(4, "present count")
		}
		d.rest("values")
	case column.DeltaUint64:
		d.presence()
		d.number(8, "base")
		if d.number(1, "offset width") > 0 {
			d.frame("offsets")
		}
	case column.XORBytes, column.SparseXORBytes:
		d.presence()
		d.frame("values")
	case column.PrefixBytes, column.SparsePrefixBytes:
		d.presence()
		d.frame("prefixes")
		d.frame("suffixes")
	}
}

func (d *data) coded(k column.Kind) {
	width := d.number(1, "index width")
	d.frame("dictionary")
	d.presence()
	switch k {
	case column.Dictionary, column.SparseDictionary:
		if k == column.SparseDictionary {
			d.number(4, "present count")
		}
		d.rest(fmt.Sprintf("indexes of %d bytes each", width))
	case column.RLEIndexes, column.SparseRLEIndexes:
		d.number(4, "index count")
		d.runs("indexes")
	default:
		d.frame("differences of indexes")
	}
}

func (d *data) left() int { return len(d.b) - d.at }

func (d *data) add(n int, text string) {
	d.parts = append(d.parts, provider.Part{Offset: d.at, Size: n, Depth: d.depth, Text: text})
	d.at += n
}

// number lists a number of n bytes, and gives it; 0 behind the end.
func (d *data) number(n int, name string) uint64 {
	if d.left() < n {
		return 0
	}
	var b [8]byte
	copy(b[:], d.b[d.at:d.at+n])
	v := binary.LittleEndian.Uint64(b[:])
	d.add(n, fmt.Sprintf("%s %d", name, v))
	return v
}

func (d *data) rest(name string) {
	if d.left() > 0 {
		d.add(d.left(), name)
	}
}

// section lists a length, and gives the length of the bytes behind it.
func (d *data) section(name string) int {
	return int(min(d.number(4, name+" length"), uint64(d.left())))
}

// frame lists bytes compressed by zstd.
func (d *data) frame(name string) {
	n := d.section(name)
	if n == 0 {
		return
	}
	text := name + ", zstd"
	var h zstd.Header
	if h.Decode(d.b[d.at:d.at+n]) == nil {
		if h.HasFCS {
			text += fmt.Sprintf(", unpacks to %d bytes", h.FrameContentSize)
		}
		if h.HasCheckSum {
			text += ", with a checksum"
		}
	}
	d.add(n, text)
}

func (d *data) presence() {
	d.number(4, "row count")
	d.runs("presence")
}

// runs lists runs of equal values. Those of old presences have a byte for the value.
func (d *data) runs(name string) {
	n := d.section(name)
	end := d.at + n
	if n < 5 {
		return
	}
	d.number(1, "version")
	count := int(d.number(4, "run count"))
	value := 4
	if n != 5+8*count && n == 5+5*count {
		value = 1
	}
	d.depth++
	for range count {
		if end-d.at < 4+value || len(d.parts) > maxParts {
			break
		}
		var b [4]byte
		copy(b[:], d.b[d.at+4:d.at+4+value])
		d.add(4+value, fmt.Sprintf("%d × %d", binary.LittleEndian.Uint32(d.b[d.at:]), binary.LittleEndian.Uint32(b[:])))
	}
	d.depth--
	if d.at < end {
		d.add(end-d.at, name)
	}
}
