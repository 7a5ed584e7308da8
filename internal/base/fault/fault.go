// Package fault holds the errors that every layer shares: four kinds, and the
// place in a file that one of them was found at.
//
// Low layers report what is wrong ([Corruptf] and its siblings); each layer
// above adds what it knows with [In] (element, offset) or [Of] (artifact).
// A caller asks with errors.Is for a kind, or errors.As for the *[Error].
package fault

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// The kinds of failure that bytes in a file can cause.
var (
	// ErrCorrupt says that bytes break a rule of the format.
	ErrCorrupt = errors.New("corrupt")
	// ErrChecksum says that bytes do not match their checksum.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrUnsupported says that bytes may be valid, but use a feature that this version does not know.
	ErrUnsupported = errors.New("unsupported")
	// ErrLimit says that reading would exceed a limit of the options.
	ErrLimit = errors.New("limit exceeded")
)

// Error is a failure with its place. Fields that are not known stay empty.
type Error struct {
	Artifact string // location of the file or object
	Element  string // path of the element inside it, outermost first: "stripe 2/column price/DATA/block 7"
	Offset   int64  // byte offset in the artifact, or -1
	Err      error  // what is wrong; wraps one of the kinds
}

// Error puts the cause first and the place behind it.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Err.Error())
	sep := " ("
	part := func(format string, args ...any) {
		b.WriteString(sep)
		fmt.Fprintf(&b, format, args...)
		sep = ", "
	}
	if e.Element != "" {
		part("%s", e.Element)
	}
	if e.Offset >= 0 {
		part("offset %d", e.Offset)
	}
	if e.Artifact != "" {
		part("in %s", e.Artifact)
	}
	if sep == ", " {
		b.WriteString(")")
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func kindf(kind error, format string, args []any) error {
	return fmt.Errorf("%w: %w", kind, fmt.Errorf(format, args...))
}

// Corruptf is an error that wraps [ErrCorrupt].
func Corruptf(format string, args ...any) error { return kindf(ErrCorrupt, format, args) }

// Checksumf is an error that wraps [ErrChecksum].
func Checksumf(format string, args ...any) error { return kindf(ErrChecksum, format, args) }

// Unsupportedf is an error that wraps [ErrUnsupported].
func Unsupportedf(format string, args ...any) error { return kindf(ErrUnsupported, format, args) }

// Limitf is an error that wraps [ErrLimit].
func Limitf(format string, args ...any) error { return kindf(ErrLimit, format, args) }

// In adds the element that err was found in, in front of the elements already
// known. offset is the element's place in the artifact, or -1; the innermost
// known offset is kept. A nil err stays nil.
func In(err error, element string, offset int64) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) && e == err {
		inner := *e
		if inner.Element == "" {
			inner.Element = element
		} else {
			inner.Element = element + "/" + inner.Element
		}
		if inner.Offset < 0 {
			inner.Offset = offset
		}
		return &inner
	}
	return &Error{Element: element, Offset: offset, Err: err}
}

// Shift adds by to the offset of err, if it has one: below an element offsets
// count from its start, above it from the start of the artifact.
func Shift(err error, by int64) error {
	var e *Error
	if errors.As(err, &e) && e == err && e.Offset >= 0 {
		inner := *e
		inner.Offset += by
		return &inner
	}
	return err
}

// Of adds the artifact that err was found in, unless one is known. A nil err
// stays nil.
func Of(err error, artifact string) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) && e == err {
		if e.Artifact != "" {
			return err
		}
		inner := *e
		inner.Artifact = artifact
		return &inner
	}
	return &Error{Artifact: artifact, Offset: -1, Err: err}
}

// Recover turns a panic into an error that wraps [ErrCorrupt]; use it with
// defer at the boundary of a decoder. It is the last line of defence, not a
// way to check bounds: a panic that it catches is a bug to fix.
func Recover(err *error) {
	if r := recover(); r != nil {
		if re, ok := r.(runtime.Error); ok {
			*err = Corruptf("decoder failed: %v", re)
			return
		}
		*err = Corruptf("decoder failed: %v", r)
	}
}
