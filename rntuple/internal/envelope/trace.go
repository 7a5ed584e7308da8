package envelope

import (
	"encoding/binary"
	"fmt"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/wire"
)

// Trace lists the parts of an envelope that belongs to a schema. After an error in its content it gives those in front
// of it, too.
func Trace(env []byte, kind Kind, s *Schema) ([]wire.Part, error) {
	w, err := open(env, kind, s.Format)
	if err != nil {
		return nil, err
	}
	w.Parts = &wire.Parts{}
	w.Pos, w.End = 0, len(env)
	var head uint64
	w.U64("", &head)
	w.Amend("%v, %d bytes", Kind(head), head>>16)
	w.End = len(env) - checksumSize
	other := &Schema{Format: s.Format, Checksum: s.Checksum, Columns: s.Columns}
	switch kind {
	case KindHeader:
		w.header(other)
	case KindFooter:
		w.footer(other, &Footer{})
	case KindPageList:
		w.pageList(other, new([]Cluster))
	default:
		return nil, fault.Unsupportedf("envelope of type %d", kind)
	}
	end := len(env) - checksumSize
	parts := append(w.Parts.List, wire.Part{Offset: end, Size: checksumSize, Text: fmt.Sprintf("XXH3 %016x", binary.LittleEndian.Uint64(env[end:]))})
	return parts, w.Err
}

// noteFrame lists the head of a frame, and what follows is in it.
func (w *coder) noteFrame(start, size int, text string) {
	if w.Parts == nil || w.Err != nil {
		return
	}
	if w.next != "" {
		text, w.next = w.next+": "+text, ""
	}
	w.Parts.List = append(w.Parts.List, wire.Part{Offset: start, Size: size, Depth: w.Parts.Depth, Text: fmt.Sprintf("%s, %d bytes", text, w.End-start)})
	w.Parts.Depth++
}

// endFrame goes on with the frame around the one that ends.
func (w *coder) endFrame() {
	if w.Parts != nil {
		w.Parts.Depth--
	}
}

// name names the next frame, if the parts are listed; by a number, too, if that is not negative.
func (w *coder) name(name string, i int) {
	if w.Parts == nil {
		return
	}
	if w.next = name; i >= 0 {
		w.next = fmt.Sprintf("%s %d", name, i)
	}
}
