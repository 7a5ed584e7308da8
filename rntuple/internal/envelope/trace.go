package envelope

import (
	"encoding/binary"
	"fmt"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Part is a part of an envelope, for tools that show its bytes: a number, a string, or the head of a frame,
// whose content follows with a greater depth.
type Part struct {
	Offset, Size int
	Depth        int
	Text         string // meaning and value: "entries 1000"
}

// tracer lists the parts that a reader meets.
type tracer struct {
	parts  []Part
	depth  int
	labels []string // of the next numbers and strings
	frame  string   // name of the next frame
}

// Trace lists the parts of an envelope that belongs to a schema. After an error in its content it gives those in front
// of it, too.
func Trace(env []byte, kind Kind, s *Schema) ([]Part, error) {
	w, err := open(env, kind, s.Format)
	if err != nil {
		return nil, err
	}
	w.trace = &tracer{}
	w.pos, w.end = 0, len(env)
	w.says([]string{"kind and length"})
	var head uint64
	w.u64(&head)
	w.amend("%v, %d bytes", Kind(head), head>>16)
	w.end = len(env) - checksumSize
	other := &Schema{Format: s.Format}
	switch kind {
	case KindHeader:
		w.featureFlags()
		w.names(other)
		w.description(other, Counts{}, Counts{})
	case KindFooter:
		f := &Footer{}
		w.featureFlags()
		w.headerChecksum(s.Checksum)
		w.extension(other)
		w.groups(f)
		if s.Format == V1 && w.left() > 0 {
			w.attributes(f)
		}
	case KindPageList:
		var clusters []Cluster
		w.headerChecksum(s.Checksum)
		w.summaries(&clusters)
		w.locations(clusters, len(s.Columns))
	default:
		return nil, fault.Unsupportedf("envelope of type %d", kind)
	}
	end := len(env) - checksumSize
	parts := append(w.trace.parts, Part{Offset: end, Size: checksumSize, Text: fmt.Sprintf("XXH3 %016x", binary.LittleEndian.Uint64(env[end:]))})
	return parts, w.err
}

// The labels of what stands in records, in order. What flags announce comes without one.
var (
	headerLabels   = []string{"name", "description", "writer"}
	fieldLabels    = []string{"field version", "type version", "parent", "role", "flags", "name", "type", "type alias", "description"}
	columnLabels   = []string{"type", "bits", "field", "flags", "representation"}
	aliasLabels    = []string{"column", "projected field"}
	extraLabels    = []string{"content", "type version", "type", "data"}
	clusterLabels  = []string{"first entry", "flags and entries"}
	groupLabels    = []string{"first entry", "entries", "clusters", "page list: length", "size", "offset"}
	setLabels      = []string{"major version", "minor version", "anchor: length", "size", "offset", "name"}
	pageLabels     = []string{"page: elements", "size", "offset"}
	flagLabels     = []string{"feature flags"}
	checksumLabels = []string{"XXH3 of the header"}
	tailLabels     = []string{"first element", "compression"}
)

// says gives the next numbers and strings their labels, if the parts are listed.
func (w *wire) says(labels []string) {
	if w.trace != nil {
		w.trace.labels = labels
	}
}

// note lists the part that was read last.
func (w *wire) note(size int, value any) {
	if w.err != nil {
		return
	}
	label := "value"
	if t := w.trace; len(t.labels) > 0 {
		label, t.labels = t.labels[0], t.labels[1:]
	}
	if s, ok := value.(string); ok {
		value = fmt.Sprintf("%q", s)
	}
	w.trace.parts = append(w.trace.parts, Part{Offset: w.pos - size, Size: size, Depth: w.trace.depth, Text: fmt.Sprintf("%s %v", label, value)})
}

// noteFrame lists the head of a frame, and what follows is in it.
func (w *wire) noteFrame(start, size int, text string) {
	if w.trace == nil || w.err != nil {
		return
	}
	if t := w.trace; t.frame != "" {
		text, t.frame = t.frame+": "+text, ""
	}
	text += fmt.Sprintf(", %d bytes", w.end-start)
	w.trace.parts = append(w.trace.parts, Part{Offset: start, Size: size, Depth: w.trace.depth, Text: text})
	w.trace.depth++
	w.trace.labels = nil
}

// endFrame goes on with the frame around the one that ends.
func (w *wire) endFrame() {
	if w.trace != nil {
		w.trace.depth--
		w.trace.labels = nil
	}
}

// next names the next frame, if the parts are listed; by a number, too, if that is not negative.
func (w *wire) next(name string, i int) {
	if w.trace == nil {
		return
	}
	if w.trace.frame = name; i >= 0 {
		w.trace.frame = fmt.Sprintf("%s %d", name, i)
	}
}

// amend replaces the text of the part that was read last.
func (w *wire) amend(format string, args ...any) {
	if w.trace != nil && w.err == nil {
		w.trace.parts[len(w.trace.parts)-1].Text = fmt.Sprintf(format, args...)
	}
}
