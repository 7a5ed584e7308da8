package otlp

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// spanFields are the fields of a span. Slices are parts of the message, but for those of several fields.
type spanFields struct {
	traceID, spanID, traceState, parentID, name, message []byte
	kind, start, end, status                             uint64
	flags, droppedAttrs, droppedEvents, droppedLinks     uint64
	hasStatus                                            bool
	events, links, attrs, unknown                        []byte // whole fields
	inStatus                                             []byte // unknown fields of the Status
}

func (s *spanFields) reset() {
	*s = spanFields{events: s.events[:0], links: s.links[:0], attrs: s.attrs[:0], unknown: s.unknown[:0], inStatus: s.inStatus[:0]}
}

// addSpan scans a Span at an offset, and adds it as a row:
//
//	1 trace_id           5 name                  9 repeated KeyValue          13 repeated Link
//	2 span_id            6 kind                 10 dropped_attributes_count   14 dropped_links_count
//	3 trace_state        7 start_time_unix_nano 11 repeated Event             15 Status
//	4 parent_span_id     8 end_time_unix_nano   12 dropped_events_count       16 flags
func (b *Builder) addSpan(msg []byte, base int) error {
	s := &b.span
	s.reset()
	b.list++
	prev := &b.attrs[ofSpan].head
	r := wire.NewReader(msg, base)
	var f wire.Field
	for r.Next(&f) {
		if f.Num == 9 {
			if r.Is(&f, protowire.BytesType) {
				prev, r.Err = b.spanAttribute(prev, &f)
			}
		} else {
			s.set(&r, &f)
		}
		if r.Err != nil {
			return r.Err
		}
	}
	if r.Err != nil {
		return r.Err
	}
	if len(s.inStatus) > 0 {
		s.unknown = protowire.AppendTag(s.unknown, 15, protowire.BytesType)
		s.unknown = protowire.AppendBytes(s.unknown, s.inStatus)
	}
	if err := b.addFields(s); err != nil {
		return err
	}
	b.rows++
	b.sizes = append(b.sizes, uint32(len(msg)))
	b.stats.Spans++
	return nil
}

// spanAttribute scans an attribute of the span.
func (b *Builder) spanAttribute(prev *attribute, f *wire.Field) (*attribute, error) {
	k, kv, err := b.attribute(ofSpan, prev, f)
	if err != nil {
		return prev, err
	}
	if !kv.Plain {
		b.span.attrs = append(b.span.attrs, f.Raw...)
		return k, nil
	}
	c, err := b.columnOf(ofSpan, k, kv.Type)
	if err != nil {
		return k, err
	}
	if !c.coded {
		return k, c.addNumber(kv.Bits, b.rows, b.rows+1)
	}
	v, err := b.value(c.name, kv.Data)
	if err != nil {
		return k, err
	}
	return k, c.addBytes(v, b.rows)
}

// set takes a field that is no attribute.
func (s *spanFields) set(r *wire.Reader, f *wire.Field) {
	switch f.Num {
	case 1:
		r.Text(f, &s.traceID)
	case 2:
		r.Text(f, &s.spanID)
	case 3:
		r.Text(f, &s.traceState)
	case 4:
		r.Text(f, &s.parentID)
	case 5:
		r.Text(f, &s.name)
	case 6:
		r.Number(f, protowire.VarintType, &s.kind)
		s.kind = uint64(int64(int32(s.kind)))
	case 7:
		r.Number(f, protowire.Fixed64Type, &s.start)
	case 8:
		r.Number(f, protowire.Fixed64Type, &s.end)
	case 10:
		r.Count(f, &s.droppedAttrs)
	case 11:
		if r.Is(f, protowire.BytesType) {
			r.Err = fault.In(wire.Event.Check(f.Data, f.At, 4), "Event", -1)
			s.events = append(s.events, f.Raw...)
		}
	case 12:
		r.Count(f, &s.droppedEvents)
	case 13:
		if r.Is(f, protowire.BytesType) {
			r.Err = fault.In(wire.Link.Check(f.Data, f.At, 4), "Link", -1)
			s.links = append(s.links, f.Raw...)
		}
	case 14:
		r.Count(f, &s.droppedLinks)
	case 15:
		if r.Is(f, protowire.BytesType) {
			r.Err = fault.In(s.statusFields(f.Data, f.At), "Status", -1)
		}
	case 16:
		r.Number(f, protowire.Fixed32Type, &s.flags)
	default:
		s.unknown = append(s.unknown, f.Raw...)
	}
}

// statusFields scans a Status:
//
//	2 message, 3 code
func (s *spanFields) statusFields(msg []byte, base int) error {
	s.hasStatus = true
	r := wire.NewReader(msg, base)
	var f wire.Field
	for r.Next(&f) {
		switch f.Num {
		case 2:
			r.Text(&f, &s.message)
		case 3:
			r.Number(&f, protowire.VarintType, &s.status)
			s.status = uint64(int64(int32(s.status)))
		default:
			s.inStatus = append(s.inStatus, f.Raw...)
		}
		if r.Err != nil {
			break
		}
	}
	return r.Err
}

var zeros [spans.TraceIDLen]byte

// addID adds an id of n bytes to a row.
func (b *Builder) addID(c *columnBuilder, id []byte, n, row int) error {
	if len(id) == n {
		return c.addBytes(id, row)
	}
	if !b.o.PadIDs || len(id) == 0 || len(id) > n {
		return fault.InColumn(fault.Corruptf("id of %d bytes, not %d", len(id), n), c.name)
	}
	b.stats.Padded++
	var padded [spans.TraceIDLen]byte
	return c.addBytes(append(append(padded[:0], zeros[:n-len(id)]...), id...), row)
}

// addFields adds the fields of a span to the row that is being made.
func (b *Builder) addFields(s *spanFields) error {
	f := &b.f
	if err := b.addID(f.traceID, s.traceID, spans.TraceIDLen, b.rows); err != nil {
		return err
	}
	if err := b.addID(f.spanID, s.spanID, spans.SpanIDLen, b.rows); err != nil {
		return err
	}
	if len(s.parentID) > 0 {
		if err := b.addID(f.parentID, s.parentID, spans.SpanIDLen, b.rows); err != nil {
			return err
		}
	}
	if err := b.addText(f.name, s.name, true); err != nil {
		return err
	}
	if err := b.addText(f.traceState, s.traceState, false); err != nil {
		return err
	}
	if err := b.addText(f.statusMessage, s.message, false); err != nil {
		return err
	}
	for _, t := range [...]struct {
		c    *columnBuilder
		v    uint64
		zero bool // written, too
	}{
		{f.kind, s.kind, true}, {f.start, s.start, true}, {f.end, s.end, true}, {f.duration, duration(s.start, s.end), true},
		{f.status, s.status, s.hasStatus},
		{f.droppedAttrs, s.droppedAttrs, false}, {f.droppedEvents, s.droppedEvents, false}, {f.droppedLinks, s.droppedLinks, false},
	} {
		if t.v != 0 || t.zero {
			if err := t.c.addNumber(t.v, b.rows, b.rows+1); err != nil {
				return err
			}
		}
	}
	return b.addExtensions(s)
}

// addExtensions adds the fields that have no column in the specification.
func (b *Builder) addExtensions(s *spanFields) error {
	f := &b.f
	if b.o.Strict {
		own := len(s.events)+len(s.links)+len(s.attrs)+len(s.unknown) > 0 || s.flags != 0
		if own || b.shared[ofResource].loses() || b.shared[ofScope].loses() {
			b.stats.Lost++
		}
		return nil
	}
	if s.flags != 0 {
		if err := f.flags.addNumber(s.flags, b.rows, b.rows+1); err != nil {
			return err
		}
	}
	for _, t := range [...]struct {
		c *columnBuilder
		v []byte
	}{{f.events, s.events}, {f.links, s.links}, {f.attrs, s.attrs}, {f.unknown, s.unknown}} {
		if len(t.v) > 0 {
			v, err := b.entries(t.c.name, t.v)
			if err == nil && len(v) > 0 {
				err = t.c.addBytes(v, b.rows)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// duration is 0 for a span that ends before it starts.
func duration(start, end uint64) uint64 {
	if end < start {
		return 0
	}
	return end - start
}

// addText adds a string, also an empty one if empty is set.
func (b *Builder) addText(c *columnBuilder, v []byte, empty bool) error {
	if len(v) == 0 && !empty {
		return nil
	}
	v, err := b.value(c.name, v)
	if err != nil {
		return err
	}
	return c.addBytes(v, b.rows)
}
