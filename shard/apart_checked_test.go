package shard_test

// Shards taken apart: the bytes of each checksum are found, checksums corrected after damage, shards built from changed parts, and readers found that were not
// closed.

import (
	"encoding/binary"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

var le = binary.LittleEndian

// Check is the kind of protection of a range of bytes.
type Check string

// The kinds of protection.
const (
	Message     Check = "checksum of the message"
	FrameLength Check = "length of the message"
	Block       Check = "checksum of the block"
	BlockMap    Check = "block map"
	Dictionary  Check = "checksum of the dictionary's header"
	Section     Check = "checksum of the dictionary's section"
	SectionLen  Check = "length of the dictionary's section"
	RangeHeader Check = "header of the range index"
	RangeIndex  Check = "checksum in the range index"
	Mark        Check = "header or footer"
	Length      Check = "length of the directory"
)

// Region is a range of bytes of a root artifact under one check. Sum is the offset of its
// checksum, or -1 if it has none.
type Region struct {
	Element    string
	Check      Check
	Start, End int
	Sum        int
}

// Regions lists the regions of a root artifact that can be reached from its end. It ignores
// other artifacts.
func Regions(b []byte) []Region {
	w := walker{b: b}
	w.root()
	return w.regions
}

// Mend corrects every reachable checksum, the outermost first, and the marks at both ends, so that readers reach
// other damage.
func Mend(b []byte) {
	if len(b) < container.MinRootSize {
		return
	}
	copy(b, container.Mark[:])
	copy(b[len(b)-container.MarkSize:], container.Mark[:])
	w := walker{b: b, mend: true}
	w.root()
}

// maxRegions limits the work on hostile input.
const maxRegions = 20_000

type walker struct {
	b       []byte
	mend    bool
	regions []Region
}

func (w *walker) add(element string, check Check, start, end, sum int) {
	if len(w.regions) >= maxRegions {
		return
	}
	w.regions = append(w.regions, Region{element, check, start, end, sum})
	if w.mend && sum >= 0 {
		le.PutUint32(w.b[sum:], container.Checksum(w.b[start:end]))
	}
}

// frame visits a message and returns its payload, nil if there is none.
func (w *walker) frame(ref *commonpb.DataRef, element string) []byte {
	if ref == nil {
		return nil
	}
	return w.frameAt(ref.GetUrl(), ref.GetRange().GetStart(), ref.GetRange().GetEnd(), element)
}

func (w *walker) frameAt(url string, start, end uint64, element string) []byte {
	if start >= end || end > uint64(len(w.b)) || end-start < container.FrameExtra {
		return nil
	}
	if url != "" && !strings.Contains(url, "://") {
		return nil
	}
	room := int(end-start) - container.FrameExtra
	n := int64(le.Uint32(w.b[start:]))
	if n > int64(room) {
		if !w.mend {
			return nil
		}
		n = int64(room)
		le.PutUint32(w.b[start:], uint32(n))
	}
	from := int(start) + 4
	to := from + int(n)
	w.add(element, FrameLength, int(start), from, -1)
	w.add(element, Message, from, to, to)
	return w.b[from:to]
}

func (w *walker) root() {
	b := w.b
	if len(b) < container.MinRootSize {
		return
	}
	at := len(b) - container.TailSize
	w.add("header", Mark, 0, container.MarkSize, -1)
	w.add("footer", Mark, len(b)-container.MarkSize, len(b), -1)
	w.add("directory", Length, at, at+4, -1)
	n := int64(le.Uint32(b[at:]))
	start := int64(at) - container.FrameExtra - n
	if start < container.MarkSize {
		return
	}
	if w.mend {
		le.PutUint32(b[start:], uint32(n))
	}
	payload := w.frameAt("", uint64(start), uint64(at), "directory")
	var d shardpb.ShardDirectory
	if payload == nil || proto.Unmarshal(payload, &d) != nil {
		return
	}
	w.frame(d.SchemaRef, "schema")
	w.frame(d.PropertiesRef, "properties")
	w.frame(d.UrlListRef, "url list")
	w.frame(d.IndexesRef, "indexes")
	w.fieldList(d.FieldListRef, "field list", func(ref *commonpb.DataRef) { w.frame(ref, "descriptor") })
	var list shardpb.StripeList
	if payload := w.frame(d.StripeListRef, "stripe list"); payload == nil || proto.Unmarshal(payload, &list) != nil {
		return
	}
	for _, s := range list.Stripes {
		w.frame(s.PropertiesRef, "stripe properties")
		w.fieldList(s.FieldListRef, "stripe field list", w.stripeField)
	}
}

// fieldList visits a field list and the messages that it refers to.
func (w *walker) fieldList(ref *commonpb.DataRef, element string, visit func(*commonpb.DataRef)) {
	var list commonpb.DataRefArray
	payload := w.frame(ref, element)
	if payload == nil || proto.Unmarshal(payload, &list) != nil {
		return
	}
	if len(list.Url) != len(list.Start) || len(list.Start) != len(list.End) {
		return
	}
	for i := range list.Start {
		if len(w.regions) >= maxRegions {
			return
		}
		visit(&commonpb.DataRef{Url: list.Url[i], Range: &commonpb.UInt64Range{Start: list.Start[i], End: list.End[i]}})
	}
}

func (w *walker) stripeField(ref *commonpb.DataRef) {
	var m shardpb.StripeFieldDescriptor
	payload := w.frame(ref, "stripe descriptor")
	if payload == nil || proto.Unmarshal(payload, &m) != nil {
		return
	}
	for _, b := range stripe.Buffers(&m) {
		w.buffer(b)
	}
}

// buffer visits an encoded buffer, if it is in this artifact.
func (w *walker) buffer(b *shardpb.EncodedBuffer) {
	r := b.GetBuffer().GetRange()
	start, end := r.GetStart(), r.GetEnd()
	if b.GetBuffer().GetUrl() != "" || start >= end || end > uint64(len(w.b)) {
		return
	}
	switch name := b.Kind.String(); {
	case b.Kind == shardpb.BufferKind_VALUE_DICTIONARY:
		w.dictionary(int(start), int(end))
	case b.Kind == shardpb.BufferKind_OPAQUE_DICTIONARY:
		if end-start > encoding.BlockChecksumLen {
			w.add(name, Dictionary, int(start), int(end)-encoding.BlockChecksumLen, int(end)-encoding.BlockChecksumLen)
		}
	case b.Kind == shardpb.BufferKind_RANGE_INDEX:
		w.rangeIndex(int(start), int(end))
	case len(b.InlineBlockMap) > 0:
		w.blocks(name, int(start), b.InlineBlockMap, int(end), b.BlockChecksums)
	case b.BlockMap != nil:
		at := b.BlockMap.GetRange()
		if at.GetStart() < start || at.GetStart() > at.GetEnd() || at.GetEnd() > end {
			return
		}
		w.add(name, BlockMap, int(at.Start), int(at.End), -1)
		w.blocks(name, int(start), w.b[at.Start:at.End], int(at.Start), b.BlockChecksums)
	}
}

// blocks visits the blocks of a buffer, which end at end, by its block map.
func (w *walker) blocks(name string, start int, raw []byte, end int, checksums bool) {
	m, err := encoding.ParseBlockMap(raw, int64(end-start))
	if err != nil || !checksums {
		return
	}
	for i := 0; i < m.Len() && len(w.regions) < maxRegions; i++ {
		_, _, offset, size := m.Block(i)
		if from := start + int(offset); size >= 12 {
			w.add(name, Block, from, from+size-4, from+size-4)
		}
	}
}

// dictionary visits a value dictionary.
func (w *walker) dictionary(start, end int) {
	for _, p := range dictionary.Parts(w.b[start:end]) {
		if p.Length < 0 {
			w.add("VALUE_DICTIONARY", Dictionary, start+p.Start, start+p.End, start+p.Sum)
			continue
		}
		n := p.End - p.Start
		if n > p.Room {
			if !w.mend {
				continue
			}
			n = p.Room
			le.PutUint64(w.b[start+p.Length:], uint64(n))
		}
		w.add("VALUE_DICTIONARY", SectionLen, start+p.Length, start+p.Start, -1)
		w.add("VALUE_DICTIONARY", Section, start+p.Start, start+p.Start+n, start+p.Sum)
	}
}

// rangeIndex visits a range index.
func (w *walker) rangeIndex(start, end int) {
	b := w.b[start:end]
	if len(b) < numrange.HeaderLen {
		return
	}
	w.add("RANGE_INDEX", RangeHeader, start, start+numrange.HeaderLen, -1)
	for _, p := range numrange.Payloads(b) {
		if p.End-p.Start >= 12 && b[3] == 1 {
			w.add("RANGE_INDEX", RangeIndex, start+p.Start, start+p.End-4, start+p.End-4)
		}
	}
}
