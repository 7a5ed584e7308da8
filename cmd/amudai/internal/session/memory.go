package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/table/provider"
)

// Variable is the name of the environment variable with the descriptors, such as "3,4".
const Variable = "AMUDAI_SHARED_MEMORY"

// ahead is the number of bodies that the other process has not read yet.
const ahead = 3

// kept is how much memory that is not in use is kept for further batches.
const kept = 256 << 20

// errGone says that the other process has ended.
var errGone = errors.New("nobody reads the shared memory any more")

// Memory is what two processes share.
type Memory struct {
	file *file
	mem  *arrowutil.Recycler // of parts of the file
	out  *output

	mu      sync.Mutex
	held    map[int64]held // by the numbers of messages
	next    int64          // number
	unread  int            // bodies
	gone    error
	changed chan struct{}
}

// held is what the other process refers to.
type held struct {
	batch  arrow.RecordBatch
	copied []byte
}

// openMemory opens the descriptors that the value of the variable names.
func openMemory(variable string, out *output) (*Memory, error) {
	data, returns, _ := strings.Cut(variable, ",")
	d, derr := strconv.ParseUint(data, 10, 31)
	r, rerr := strconv.ParseUint(returns, 10, 31)
	if derr != nil || rerr != nil {
		return nil, fmt.Errorf("%s=%s: not two numbers of files", Variable, variable)
	}
	f, p := os.NewFile(uintptr(d), "shared memory"), os.NewFile(uintptr(r), "returned memory")
	if f == nil || p == nil {
		return nil, fmt.Errorf("%s=%s: no such files", Variable, variable)
	}
	return newMemory(f, p, out), nil
}

// newMemory shares data. It reads returns until they end.
func newMemory(data *os.File, returns io.Reader, out *output) *Memory {
	f := &file{File: data}
	m := &Memory{
		file: f, mem: arrowutil.NewRecycler(f, kept), out: out,
		held: map[int64]held{}, changed: make(chan struct{}, 1),
	}
	go func() {
		var err error
		defer func() { m.leave(err) }()
		defer fault.RecoverInternal(&err)
		err = m.receive(returns)
	}()
	return m
}

// Allocator is that of shared memory. Buffers of it are not copied when they are sent.
func (m *Memory) Allocator() memory.Allocator { return m.mem }

// Create returns a sink of batches.
func (m *Memory) Create(ctx context.Context, schema *arrow.Schema) (provider.Sink, error) {
	s := &sink{Memory: m, schema: schema}
	return s, s.write(ctx, nil)
}

// receive reads what the other process returns until that ends.
func (m *Memory) receive(returns io.Reader) error {
	var number [8]byte
	for {
		if _, err := io.ReadFull(returns, number[:]); err != nil {
			return err
		}
		if err := m.answered(int64(binary.LittleEndian.Uint64(number[:]))); err != nil {
			return err
		}
	}
}

// answered takes note of an answer.
func (m *Memory) answered(number int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.held[number>>1]
	switch {
	case !ok:
		return fmt.Errorf("message %d has no body", number>>1)
	case number&1 != 0:
		delete(m.held, number>>1)
		h.release(m.mem)
	case m.unread == 0:
		return fmt.Errorf("message %d was read already", number>>1)
	default:
		m.unread--
	}
	m.wake()
	return nil
}

func (h held) release(mem memory.Allocator) {
	h.batch.Release()
	if h.copied != nil {
		mem.Free(h.copied)
	}
}

// leave says why nothing is received any more.
func (m *Memory) leave(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone = errGone; err != io.EOF {
		m.gone = fmt.Errorf("shared memory: %w", err)
	}
	m.wake()
}

func (m *Memory) wake() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// hold waits until the other process has read enough, and takes note of the body of the next message.
func (m *Memory) hold(ctx context.Context, h held) error {
	for {
		done, err := m.tryHold(h)
		if done || err != nil {
			return err
		}
		select {
		case <-m.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Memory) tryHold(h held) (done bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone != nil || m.unread == ahead {
		return false, m.gone
	}
	m.unread++
	m.held[m.next] = h
	m.next++
	return true, nil
}

// sink writes batches.
type sink struct {
	*Memory
	schema *arrow.Schema
	begun  bool // the schema was sent
}

// Write implements [provider.Sink].
func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error { return s.write(ctx, batch) }

// Close implements [provider.Sink].
func (s *sink) Close(ctx context.Context) error { return ctx.Err() }

// Abort implements [provider.Sink].
func (s *sink) Abort(context.Context) error { return nil }

// write sends the messages of a batch, or the schema if there is none. Each batch has a writer of its own, as a writer takes
// dictionaries of nearly equal floats for equal.
func (s *sink) write(ctx context.Context, batch arrow.RecordBatch) error {
	w := ipc.NewWriterWithPayloadWriter(&sender{ctx, s, batch}, ipc.WithSchema(s.schema))
	if batch != nil {
		if err := w.Write(batch); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// sender sends the messages that a writer makes of a batch. It implements [ipc.PayloadWriter].
type sender struct {
	ctx context.Context
	*sink
	batch arrow.RecordBatch
}

// Start implements [ipc.PayloadWriter].
func (*sender) Start() error { return nil }

// Close implements [ipc.PayloadWriter].
func (*sender) Close() error { return nil }

// WritePayload implements [ipc.PayloadWriter].
func (s *sender) WritePayload(p ipc.Payload) error {
	meta := p.Meta()
	defer meta.Release()
	m := message(meta.Bytes())
	kind, err := m.kind()
	if err != nil {
		return err
	}
	if kind == schemaKind {
		if s.begun {
			return nil
		}
		s.begun = true
		return s.send(m, 0)
	}
	var body parts
	if err := p.SerializeBody(&body); err != nil {
		return err
	}
	copied, err := s.place(m, body.all)
	if err != nil {
		return err
	}
	size := s.file.size()
	if !m.setBody(size) {
		return s.send(m, 0)
	}
	h := held{s.batch, copied}
	s.batch.Retain()
	if err := s.hold(s.ctx, h); err != nil {
		h.release(s.mem)
		return err
	}
	return s.send(m, size)
}

// place writes into a message where its buffers are. Those in other memory are copied.
func (s *sender) place(m message, body [][]byte) (copied []byte, err error) {
	buffers, err := m.buffers()
	if err != nil {
		return nil, err
	}
	room := 0
	for _, part := range body {
		if s.file.offset(part) < 0 {
			room += roundUp(len(part))
		}
	}
	if room > 0 {
		if copied, err = s.file.reserve(s.mem, room); err != nil {
			return nil, err
		}
	}
	free := copied
	for ; len(buffers) > 0; buffers = buffers[bufferSize:] {
		at := int64(0)
		if binary.LittleEndian.Uint64(buffers[8:]) > 0 {
			part := body[0]
			body = body[1:]
			if at = s.file.offset(part); at < 0 {
				at = s.file.offset(free)
				copy(free, part)
				free = free[roundUp(len(part)):]
			}
		}
		binary.LittleEndian.PutUint64(buffers, uint64(at))
	}
	return copied, nil
}

// send writes a message, which begins with 0xFFFFFFFF and its padded length as in any stream.
func (s *sender) send(m message, body int64) error {
	padded := (len(m) + 7) &^ 7
	b := make([]byte, 8+padded)
	binary.LittleEndian.PutUint32(b, math.MaxUint32)
	binary.LittleEndian.PutUint32(b[4:], uint32(padded))
	copy(b[8:], m)
	return s.out.frame(len(b), int(body), b)
}
