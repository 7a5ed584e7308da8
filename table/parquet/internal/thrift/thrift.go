// Package thrift reads structures of Thrift's compact protocol, field by field: headers and indexes of pages, and heads of Bloom filters.
package thrift

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/apache/thrift/lib/go/thrift"
)

// Kind is the type of a value.
type Kind = thrift.TType

// The kinds of values that are read; others are skipped.
const (
	Bool   Kind = thrift.BOOL
	I32    Kind = thrift.I32
	I64    Kind = thrift.I64
	Binary Kind = thrift.STRING
	List   Kind = thrift.LIST
	Struct Kind = thrift.STRUCT
)

var (
	// ErrShort means that the bytes end too early: more of them may be a structure.
	ErrShort = errors.New("the structure is cut off")
	// ErrFormat means that the bytes are no structure.
	ErrFormat = errors.New("not a structure of Thrift")
)

// Reader reads structures. After an error it returns zeros.
type Reader struct {
	Err error // the first error

	from *thrift.TMemoryBuffer
	size int
	in   *thrift.TCompactProtocol
}

// NewReader returns a reader of a structure at the beginning of b.
func NewReader(b []byte) *Reader {
	from := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(b)}
	return &Reader{from: from, size: len(b), in: thrift.NewTCompactProtocolConf(from, nil)}
}

// At is the number of bytes that were read.
func (r *Reader) At() int { return r.size - r.from.Len() }

// fail ends the reading with an error, unless it is nil: more bytes may mend it if none is left.
func (r *Reader) fail(err error) {
	switch {
	case err == nil || r.Err != nil:
	case r.from.Len() == 0:
		r.Err = ErrShort
	default:
		r.Err = fmt.Errorf("%w: %v", ErrFormat, err)
	}
}

// read returns a value that the protocol reads.
func read[T any](r *Reader, value func(context.Context) (T, error)) (v T) {
	if r.Err != nil {
		return v
	}
	v, err := value(context.Background())
	r.fail(err)
	return v
}

// Bool reads a Boolean.
func (r *Reader) Bool() bool { return read(r, r.in.ReadBool) }

// Int reads an integer of any size.
func (r *Reader) Int() int64 { return read(r, r.in.ReadI64) }

// Binary reads bytes.
func (r *Reader) Binary() []byte { return read(r, r.in.ReadBinary) }

// List begins a list. There are at least as many bytes left as it has items.
func (r *Reader) List() (kind Kind, n int) {
	kind = read(r, func(ctx context.Context) (kind Kind, err error) {
		kind, n, err = r.in.ReadListBegin(ctx)
		return kind, err
	})
	if r.Err == nil && n > r.from.Len() {
		r.Err = ErrShort
	}
	if r.Err != nil {
		return 0, 0
	}
	return kind, n
}

// Fields calls f with each field of a structure. It skips those that f returns false for.
func (r *Reader) Fields(f func(id int16, kind Kind) (read bool)) {
	ctx := context.Background()
	_, _ = r.in.ReadStructBegin(ctx) // neither this nor the end reads anything
	for r.Err == nil {
		_, kind, id, err := r.in.ReadFieldBegin(ctx)
		if r.fail(err); kind == thrift.STOP {
			break
		}
		if f == nil || !f(id, kind) {
			r.Skip(kind)
		}
	}
	_ = r.in.ReadStructEnd(ctx)
}

// Ints reads integers into the places for their ids, of those fields that have one.
func (r *Reader) Ints(places ...*int64) func(id int16, kind Kind) (read bool) {
	return func(id int16, kind Kind) bool {
		if kind != I32 && kind != I64 || id < 0 || int(id) >= len(places) || places[id] == nil {
			return false
		}
		*places[id] = r.Int()
		return true
	}
}

// Skip skips a value.
func (r *Reader) Skip(kind Kind) {
	if r.Err == nil {
		r.fail(r.in.Skip(context.Background(), kind))
	}
}
