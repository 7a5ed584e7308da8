package session

import (
	flatbuffers "github.com/google/flatbuffers/go"
)

// message is the metadata of a message, a FlatBuffer that the writer of the stream has just made. The schema is Arrow's
// format/Message.fbs.
type message []byte

// Offsets of fields in vtables, kinds of messages, and the size of a struct.
const (
	messageKind, messageHeader, messageBody = 6, 8, 10
	dictionaryData                          = 6
	batchBuffers                            = 8

	schemaKind, dictionaryKind = 1, 2

	bufferSize = 16 // offset and length
)

func (m message) root() *flatbuffers.Table {
	return &flatbuffers.Table{Bytes: m, Pos: flatbuffers.GetUOffsetT(m)}
}

func (m message) isSchema() bool { return m.root().GetByteSlot(messageKind, 0) == schemaKind }

// setBody sets the length of the body. It reports false for a message without a body.
func (m message) setBody(n int64) bool { return m.root().MutateInt64Slot(messageBody, n) }

// buffers are the structs with the places of buffers.
func (m message) buffers() []byte {
	t := m.root()
	batch := follow(t, messageHeader)
	if t.GetByteSlot(messageKind, 0) == dictionaryKind {
		batch = follow(batch, dictionaryData)
	}
	at := flatbuffers.UOffsetT(batch.Offset(batchBuffers))
	if at == 0 {
		return nil
	}
	begin := batch.Vector(at)
	return m[begin : int(begin)+bufferSize*batch.VectorLen(at)]
}

// follow is the table in a field.
func follow(t *flatbuffers.Table, field flatbuffers.VOffsetT) *flatbuffers.Table {
	at := flatbuffers.UOffsetT(t.Offset(field))
	return &flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + at)}
}

// parts are the buffers of a body. It implements io.Writer.
type parts struct {
	all     [][]byte
	padding bool // comes next
}

// Write takes a buffer, or the bytes behind one up to a multiple of 8.
func (p *parts) Write(b []byte) (int, error) {
	if !p.padding {
		p.all = append(p.all, b)
	}
	p.padding = !p.padding && len(b)%8 != 0
	return len(b), nil
}
