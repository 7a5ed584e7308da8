// Package storage reads and writes whole artifacts (files, objects) by location. It
// knows nothing of their content.
//
// A [Store] opens an artifact as a [Reader] of byte ranges, and creates one through a
// [Writer]: append, then publish under the final name, or abort and leave nothing
// behind. Stores of local files and of memory are part of this package. Stores of other
// schemes are packages of their own and call [Register]; package storetest tests them.
//
// [Budget] and [Spool] hold encoded data that is not written yet, in memory and then in
// temporary files. [Coalesce] and [Prefetch] join byte ranges into few requests.
//
// # Contexts
//
// Every call that may wait for a disk or a server takes a context, and returns its error
// soon after it ends. Calls without one, Close among them, only use memory and handles
// of this process.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Reader reads one artifact. Its methods may be called concurrently, but for Close.
type Reader interface {
	// ReadAt fills p with the bytes from offset off on: all of p, or an error. The error
	// for bytes past the end wraps fault.ErrCorrupt and io.ErrUnexpectedEOF.
	ReadAt(ctx context.Context, p []byte, off int64) error
	// ReadSuffix returns the last n bytes, or the whole artifact if it is shorter, and the
	// size of the artifact. A remote store needs one request. The caller must not change
	// tail.
	ReadSuffix(ctx context.Context, n int) (tail []byte, size int64, err error)
	// Size is the size of the artifact in bytes.
	Size(ctx context.Context) (int64, error)
	// Version identifies the bytes that this Reader returns, for
	// [CreateOptions.IfMatch]. The error wraps errors.ErrUnsupported if the store has
	// no versions.
	Version(ctx context.Context) (Version, error)
	// Name is the location, without credentials, for messages.
	Name() string
	// Capabilities is constant.
	Capabilities() Capabilities
	// Close releases memory and handles of this process. It sends no requests, and is
	// called once, after all other calls have returned.
	Close() error
}

// Streamer is a [Reader] that can be asked whether its server has ranges at all, as those of HTTP locations.
type Streamer interface {
	Reader
	// Stream returns the bytes from the start, as one answer that cannot be repeated, from a server without ranges. From
	// others it returns nil.
	Stream(ctx context.Context) (io.ReadCloser, error)
}

// Version is an opaque token for one state of an artifact, such as a strong entity tag
// (RFC 9110 §8.8.3). Within one store, equal versions of a location mean equal bytes.
type Version string

// Capabilities are the properties of a [Reader] that decide how to use it best.
type Capabilities struct {
	Latency Latency
}

// Latency is a class of delays before the first byte of a read.
type Latency uint8

// The classes of latency.
const (
	LatencyLow  Latency = iota // microseconds: memory, local files
	LatencyHigh                // milliseconds: HTTP, object stores
)

// Writer creates one artifact. Readers see nothing of it before Publish. A Writer is
// used by one goroutine, and ends with Publish or Abort. After a failed call, or a
// cancelled one, only Abort is useful: Publish fails.
type Writer interface {
	// Write appends all of p, or fails. It does not keep p.
	Write(ctx context.Context, p []byte) error
	// Flush hands buffered bytes to the operating system, so that a crash of this
	// process does not lose them. Stores that cannot do so return nil.
	Flush(ctx context.Context) error
	// Size is the number of bytes appended so far.
	Size() int64
	// Publish makes the bytes durable, and then visible at the location in one atomic
	// step. If the artifact there must not be replaced, the error wraps fs.ErrExist or
	// [ErrChanged] (see [CreateOptions]). After an error nothing is left behind, with
	// one exception: if only the new name could not be made durable, the artifact is
	// complete and visible.
	Publish(ctx context.Context) error
	// Abort ends the writer and drops its bytes. Memory, handles and files of this
	// machine are released even if ctx has ended. Object stores drop what a server has of
	// them even then, within 10 seconds. After Publish or Abort it does nothing.
	Abort(ctx context.Context) error
	// Name is the location, without credentials, for messages. It is known before the
	// first byte.
	Name() string
}

// WriterAt is a [Writer] that can go back. The writers of local files and of memory are, and so is that of [ToWriter]
// for an [IOWriter] to one of these.
type WriterAt interface {
	Writer
	// WriteAt replaces bytes that were appended, those from offset off on, by all of p, or fails.
	WriteAt(ctx context.Context, p []byte, off int64) error
}

// CreateOptions are the options of [Store.Create]. By default the location must be
// free. The state at Publish decides; a check at Create only saves work.
type CreateOptions struct {
	// Overwrite replaces the artifact at the location, if there is one. By default that
	// is an error that wraps fs.ErrExist: of several writers one succeeds. Object stores
	// send the condition If-None-Match: *.
	Overwrite bool
	// IfMatch, if not empty, replaces only this [Version] of the artifact. Any other
	// state of the location, no artifact included, is an error that wraps [ErrChanged].
	// Overwrite is then ignored. Object stores send the condition If-Match. A store that
	// cannot replace conditionally fails with an error that wraps errors.ErrUnsupported.
	IfMatch Version
	// Like is the location of an artifact whose permissions a new one gets, such as those of the root for the files of a
	// shard. By default they are those that the system gives new files. An artifact that is replaced keeps its own. Stores
	// without permissions ignore it, and so does that of local files if there is no such file.
	Like string
	// Folders creates the folders of the location that are missing. Object stores have none. A folder stays if the writer is closed without
	// publishing.
	Folders bool
}

// Store holds artifacts. Its methods may be called concurrently.
type Store interface {
	// Open returns a reader of an artifact. If there is none, the error wraps
	// fs.ErrNotExist; a remote store may report that on the first read instead.
	Open(ctx context.Context, location string) (Reader, error)
	// Create returns a writer of a new artifact. ctx is only that of the call.
	Create(ctx context.Context, location string, o CreateOptions) (Writer, error)
	// Remove deletes an artifact. If there is none, the error wraps fs.ErrNotExist.
	Remove(ctx context.Context, location string) error
	// List yields the artifacts whose location begins with prefix, those in subfolders
	// included, in no particular order. A missing folder is empty. An error ends the
	// sequence. A store that cannot list yields one that wraps errors.ErrUnsupported.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
}

// Confiner is a [Store] whose names may lead elsewhere, as symbolic links do. That of local files is one. A store that wraps
// another should be one, too.
type Confiner interface {
	// OpenIn is Open for an artifact below a folder. A name that leads out of the folder is refused.
	OpenIn(ctx context.Context, folder, location string) (Reader, error)
}

// OpenIn opens an artifact that others have named, such as a reference in a file, and which must be below a folder.
func OpenIn(ctx context.Context, s Store, folder, location string) (Reader, error) {
	if c, ok := s.(Confiner); ok {
		return c.OpenIn(ctx, folder, location)
	}
	return s.Open(ctx, location)
}

// Linker is a [Store] that can give artifacts a second name. Those of this package are.
type Linker interface {
	// Link makes the artifact at from known at to as well, without copying it. The artifact at from may be replaced or removed
	// afterwards. If to is taken, the error wraps fs.ErrExist; a file system without links has errors.ErrUnsupported.
	Link(ctx context.Context, from, to string) error
}

// Copier is a [Store] that copies its artifacts by itself. Those of clouds do so without a byte of them in this process.
type Copier interface {
	// Copy makes a copy of a version of the artifact at from, of the present one if v is empty. It is published at to as by a [Writer] of
	// [Store.Create] with these options. If the artifact has another version, or changes meanwhile, the error wraps [ErrChanged]. A server that
	// cannot copy between these locations has an error that wraps errors.ErrUnsupported; bytes have to be read and written then.
	Copy(ctx context.Context, from string, v Version, to string, o CreateOptions) error
}

// VersionRemover is a [Store] that can remove an artifact only if it is the version that was read. Those of this package and of clouds are.
type VersionRemover interface {
	// RemoveVersion is Remove for one version. If the artifact has another one, the error wraps [ErrChanged].
	RemoveVersion(ctx context.Context, location string, v Version) error
}

// RemoveVersion removes a version of an artifact. In a store that cannot tell versions, it removes the present one.
func RemoveVersion(ctx context.Context, s Store, location string, v Version) error {
	if r, ok := s.(VersionRemover); ok && v != "" {
		return r.RemoveVersion(ctx, location, v)
	}
	return s.Remove(ctx, location)
}

// UnfinishedLister is a [Store] that can list artifacts that are being written. That of local files is one.
type UnfinishedLister interface {
	// Unfinished yields what [Store.List] leaves out: artifacts that are not published yet, or that were left by a writer which was killed.
	// Their locations are not those that they will have.
	Unfinished(ctx context.Context, prefix string) iter.Seq2[Info, error]
}

// Info describes an artifact found by [Store.List].
type Info struct {
	Location string    // for Open
	Size     int64     // bytes
	Version  Version   // empty if the store has no versions
	Modified time.Time // when it was published or written last, by the clock of the store; zero if that is unknown
}

// ErrChanged says that an artifact is not the expected version: it was replaced or
// removed, either between two reads or before a conditional Publish.
var ErrChanged = errors.New("the artifact is no longer the version that was read")

// errEnded is the error of a writer after Publish or Abort.
var errEnded = errors.New("writer has ended")

// CheckRange returns an error if the n bytes from offset off on are not within an
// artifact of size bytes. [Reader] documents the error.
func CheckRange(off, n, size int64) error {
	if off < 0 || n < 0 || off > size || n > size-off {
		return fault.Corruptf("%d bytes from offset %d lie past the end at %d: %w", n, off, size, io.ErrUnexpectedEOF)
	}
	return nil
}

// Shrunk returns the error of an artifact that ends at an offset, before the size that it had when it was opened. It wraps [ErrChanged]
// and io.ErrUnexpectedEOF.
func Shrunk(end, size int64) error {
	return fmt.Errorf("it ends at %d, and had %d bytes when it was opened: %w: %w", end, size, ErrChanged, io.ErrUnexpectedEOF)
}

// readFull fills p with the bytes of an artifact of size bytes from offset off on.
func readFull(r io.ReaderAt, p []byte, off, size int64) error {
	n, err := r.ReadAt(p, off)
	switch {
	case n == len(p):
		return nil
	case err == nil || err == io.EOF:
		return Shrunk(off+int64(n), size)
	}
	return fmt.Errorf("reading %d bytes at %d: %w", len(p), off, fault.NoEOF(err))
}

// IOWriter is an io.Writer that appends to Writer, for code that takes no context.
type IOWriter struct {
	// Context is that of the current call. Set it anew in each method that writes.
	Context context.Context
	// Writer is usually a [Writer].
	Writer interface {
		Write(ctx context.Context, p []byte) error
	}
}

// Write implements io.Writer.
func (w *IOWriter) Write(p []byte) (int, error) {
	if err := w.Writer.Write(w.Context, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func exists(location string) error {
	return &fs.PathError{Op: "create", Path: Redact(location), Err: fs.ErrExist}
}

func changed(location string) error {
	return &fs.PathError{Op: "create", Path: Redact(location), Err: ErrChanged}
}

func noVersion(location string) error {
	return fmt.Errorf("%s has no version: %w", Redact(location), errors.ErrUnsupported)
}
