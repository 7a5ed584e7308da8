// Package session runs commands for another process, one after the other, which spares it the start of a process for each. It
// writes requests to stdin: lines of JSON, each followed by the bytes that the command reads from its stdin.
//
//	{"arguments": ["take", "flights.parquet", "--rows-from", "-"], "stdin": 4, "versions": {"flights.parquet": "1c0a-720a3-18c2"}}
//	5
//	17
//
// On stdout, the session answers with frames, numbers little-endian:
//
//	 0           8           16
//	┌───────────┬───────────┬──────────────────┐
//	│ n > 0     │ bytes of  │ n bytes of the   │   output of the command
//	│           │ a body    │ output           │
//	└───────────┴───────────┴──────────────────┘
//	┌───────────┬───────────┬──────────────────┐
//	│ 0         │ n         │ n bytes of JSON  │   the end of a request: {"status": 1, "stderr": "amudai: …\n"}
//	└───────────┴───────────┴──────────────────┘
//
// # Shared memory
//
// Batches need not pass the pipe. [Variable] names two file descriptors: an empty file in memory, which both processes map, and
// the readable end of a pipe. An Arrow IPC stream on stdout comes as a frame for each message then. Its output is the metadata
// of the message, framed as in any stream. Its body is the file from the first byte on, in which the buffers lie anywhere.
// Bodies have numbers, from 0 on in a session. The other process answers through the pipe with numbers of 8 bytes: twice the
// number of a body, when it has taken note of it, so that the session may send another one, and one more, when nothing refers to
// the body any more.
package session

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/amudai/amudai-go/internal/base/flatread"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/storage"
)

// Request is a command to run.
type Request struct {
	Arguments []string `json:"arguments"`
	Stdin     int64    `json:"stdin"` // bytes
	// Versions are those of inputs, by location, of which other ones are an error.
	Versions map[string]storage.Version `json:"versions"`
}

// outcome is how it ended.
type outcome struct {
	Status int    `json:"status"`
	Stderr string `json:"stderr"`
}

// Run runs a command, and returns its exit code. memory is nil unless batches may be shared.
type Run func(ctx context.Context, r Request, stdin io.Reader, stdout, stderr io.Writer, memory *Memory) int

// Serve answers the requests of in until it ends. variable is the value of [Variable].
func Serve(ctx context.Context, in io.Reader, out io.Writer, variable string, run Run) (err error) {
	o := &output{w: out}
	var memory *Memory
	if variable != "" {
		if memory, err = openMemory(variable, o); err != nil {
			return err
		}
		defer memory.mem.Close() // what is in use stays, and what is not need not
	}
	kept := new(inputs.Kept)
	defer func() { err = errors.Join(err, kept.Close()) }()
	if runtime.GOOS == "windows" { // others could not replace or remove what is open
		if err := kept.Close(); err != nil {
			return err
		}
	}
	lines := bufio.NewReader(inputs.Interruptible(ctx, in))
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("a request that is no JSON: %w", err)
		}
		var stdin, stderr bytes.Buffer
		if _, err := io.CopyN(&stdin, lines, r.Stdin); err != nil {
			return fmt.Errorf("read the stdin of a request: %w", err)
		}
		status := run(inputs.WithKept(inputs.Question(ctx), kept), r, &stdin, o, &stderr, memory)
		end, err := json.Marshal(outcome{status, stderr.String()})
		if err != nil {
			return err
		}
		if err := o.frame(0, len(end), end); err != nil {
			return err
		}
	}
}

// output writes frames.
type output struct {
	w   io.Writer
	buf []byte
}

// Write writes output of a command.
func (o *output) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return len(p), o.frame(len(p), 0, p)
}

// together is the most bytes that are copied to be written with their header.
const together = 64 << 10

// frame writes a frame: its header, and what is behind it.
func (o *output) frame(first, second int, p []byte) error {
	o.buf = binary.LittleEndian.AppendUint64(o.buf[:0], uint64(first))
	o.buf = binary.LittleEndian.AppendUint64(o.buf, uint64(second))
	if len(p) <= together {
		o.buf = append(o.buf, p...)
		p = nil
	}
	if _, err := o.w.Write(o.buf); err != nil || len(p) == 0 {
		return err
	}
	_, err := o.w.Write(p)
	return err
}

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
