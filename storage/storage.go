// Package storage reads and writes whole artifacts (files, objects) by
// location, without knowing what is in them.
//
// A [Store] opens artifacts for reading ([Reader]: positioned reads, all or an
// error) and creates them ([Writer]: append, then publish under the final
// name, or abort and leave nothing). There are stores for local files, memory
// here, and for others in packages of their own, which register their schemes
// ([Register]). [Budget] and [Spool] hold what a writer has encoded but not yet
// written.
package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Reader reads one artifact. It may be used by many goroutines at once, until
// Close.
type Reader interface {
	// ReadAt fills p with the bytes from off on. It never returns less than
	// len(p) bytes without an error; bytes past the end are one that wraps
	// fault.ErrCorrupt and io.ErrUnexpectedEOF.
	ReadAt(ctx context.Context, p []byte, off int64) error
	// ReadSuffix gives the last n bytes, or all if there are fewer, and the
	// size of the artifact: one request on a remote store. The caller must not
	// change tail.
	ReadSuffix(ctx context.Context, n int) (tail []byte, size int64, err error)
	// Size is the number of bytes of the artifact.
	Size(ctx context.Context) (int64, error)
	// Name is the location, for messages. It holds no credentials.
	Name() string
	// Capabilities say how the artifact is best read. They do not change.
	Capabilities() Capabilities
	// Close releases what the reader holds.
	Close() error
}

// Capabilities say how an artifact is best read.
type Capabilities struct {
	Latency Latency
}

// Latency is a class of waiting times for the first byte of a request.
type Latency uint8

// The classes.
const (
	LatencyLow  Latency = iota // microseconds: memory, local files
	LatencyHigh                // milliseconds: HTTP, object stores
)

// Writer makes one artifact. Nothing is visible under its final name before
// Publish. A writer belongs to one goroutine. It ends with Publish or Abort.
type Writer interface {
	// Write appends. After an error the artifact can only be aborted.
	io.Writer
	// Size is the number of bytes written so far.
	Size() int64
	// Publish makes the bytes durable, then visible under the location given
	// at Create, in one step: readers see the whole artifact or none. It fails
	// with fs.ErrExist if the location is taken and must not be overwritten.
	// After an error nothing is left behind, except that the artifact may
	// stand under its final name if making that name durable failed.
	Publish(ctx context.Context) error
	// Abort drops the artifact. After Publish, or a second time, it does nothing.
	Abort() error
	// Name is the location given at Create, for messages.
	Name() string
}

// CreateOptions are those of [Store.Create]. The zero value is the default.
type CreateOptions struct {
	// Overwrite allows that an existing artifact is replaced, by default false. What
	// counts is the moment of Publish: of several writers without Overwrite one wins,
	// the others get fs.ErrExist. An object store does that by a conditional put
	// (If-None-Match: *), a file system by a rename that does not replace.
	Overwrite bool
}

// Store holds artifacts. It may be used by many goroutines at once.
type Store interface {
	// Open gives a reader of an artifact; fs.ErrNotExist if there is none. A
	// remote store may leave that to the first read.
	Open(ctx context.Context, location string) (Reader, error)
	// Create gives a writer. It fails with fs.ErrExist if the location is
	// taken and must not be overwritten.
	Create(ctx context.Context, location string, o CreateOptions) (Writer, error)
	// Remove deletes an artifact; fs.ErrNotExist if there is none.
	Remove(ctx context.Context, location string) error
	// List gives the artifacts whose location begins with prefix, those in folders
	// below too, in no particular order; none if there is no such folder. After an
	// error it ends. A store that cannot list gives errors.ErrUnsupported.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
}

// Info is what [Store.List] tells of an artifact.
type Info struct {
	Location string // to open it by
	Size     int64  // in bytes
}

// ErrChanged says that an artifact is no longer the one that reading began with.
var ErrChanged = errors.New("the artifact changed while it was read")

// errEnded is what a writer says after Publish or Abort.
var errEnded = errors.New("writer has ended")

// CheckRange is the error of a [Reader] that is asked for n bytes from off on and has
// size bytes, nil if they lie within it.
func CheckRange(off, n, size int64) error {
	if off < 0 || n < 0 || off > size || n > size-off {
		return fault.Corruptf("%d bytes from offset %d lie past the end at %d: %w", n, off, size, io.ErrUnexpectedEOF)
	}
	return nil
}

func exists(location string) error {
	return &fs.PathError{Op: "create", Path: location, Err: fs.ErrExist}
}
