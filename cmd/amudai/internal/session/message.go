package session

import (
	"cmp"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/amudai/amudai-go/internal/base/flatread"
)

// message is the metadata of a message, a FlatBuffer that the writer of the stream has just made. The schema is Arrow's
// format/Message.fbs.
type message []byte

// Slots of fields, kinds of messages, and the size of a struct.
const (
	messageKind, messageHeader, messageBody = 1, 2, 3
	dictionaryData                          = 1
	batchBuffers                            = 2

	schemaKind, dictionaryKind, batchKind = 1, 2, 3

	bufferSize = 16 // offset and length
)

func (m message) kind() (uint8, error) {
	root, err := flatread.Root(m)
	if err != nil {
		return 0, err
	}
	return root.Uint8(messageKind, 0), root.Err
}

// setBody sets the length of the body. It reports false for a message without a body.
func (m message) setBody(n int64) bool {
	root := flatbuffers.Table{Bytes: m, Pos: flatbuffers.GetUOffsetT(m)}
	return root.MutateInt64Slot(4+2*messageBody, n)
}

// buffers are the structs with the places of buffers.
func (m message) buffers() ([]byte, error) {
	root, err := flatread.Root(m)
	if err != nil {
		return nil, err
	}
	batch, _ := root.Table(messageHeader)
	if root.Uint8(messageKind, 0) == dictionaryKind {
		dictionary := batch
		if batch, _ = dictionary.Table(dictionaryData); dictionary.Err != nil {
			return nil, dictionary.Err
		}
	}
	all := batch.Vector(batchBuffers, bufferSize)
	return all.Bytes(), cmp.Or(root.Err, batch.Err)
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
