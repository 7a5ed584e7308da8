// Package fault has the errors of all layers: four kinds, and the place in a shard.
//
// Low layers make errors ([Corruptf] and its siblings). Each layer above adds its part of the
// place: [In] an element, [InBlock], [InBuffer], [InColumn] and [InStripe] a number or name,
// [Of] the artifact. A caller finds the kind with errors.Is, and the *[Error] and its fields
// with errors.As. The text of an error is never parsed.
package fault

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The kinds of failure that bytes in a file can cause.
var (
	// ErrCorrupt means that bytes break a rule of the format.
	ErrCorrupt = errors.New("corrupt")
	// ErrChecksum means that bytes do not match their checksum.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrUnsupported means that bytes may be valid, but use a feature that this version does not
	// know.
	ErrUnsupported = errors.New("unsupported")
	// ErrLimit means that reading would exceed a limit of the options.
	ErrLimit = errors.New("limit exceeded")
)

// None stands for a stripe or block of an [Error] that is not known or does not apply.
const None = -1

// Error is a failure with its place. Fields that are not known are empty, or
// negative if they are numbers.
type Error struct {
	Artifact string // location of the file or object
	Stripe   int    // number of the stripe, from 0, or None
	Column   string // path of the schema node: names joined by dots, as in "orders.item.id"
	Buffer   string // kind of the buffer: "DATA"
	Block    int    // number of the block in its buffer, from 0, or None
	Element  string // part of these, outermost first: "field list", "values/RLE"
	Offset   int64  // byte offset in the artifact, or negative
	Err      error  // the cause; wraps one of the kinds
}

// Place names the stripe, column, buffer, block and element, as far as they are
// known: `stripe 2/column "price"/DATA/block 7/values`.
func (e *Error) Place() string {
	var parts []string
	if e.Stripe >= 0 {
		parts = append(parts, fmt.Sprintf("stripe %d", e.Stripe))
	}
	if e.Column != "" {
		parts = append(parts, "column "+quote(e.Column))
	}
	if e.Buffer != "" {
		parts = append(parts, e.Buffer)
	}
	if e.Block >= 0 {
		parts = append(parts, fmt.Sprintf("block %d", e.Block))
	}
	if e.Element != "" {
		parts = append(parts, e.Element)
	}
	return strings.Join(parts, "/")
}

// quote puts a path in quotes. The backslashes of paths stay as they are, unless
// the path has characters that must not reach a terminal.
func quote(path string) string {
	plain := func(r rune) bool { return strconv.IsPrint(r) && r != '"' && r != utf8.RuneError }
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) >= 0 {
		return strconv.Quote(path)
	}
	return `"` + path + `"`
}

// Error puts the cause first and the place behind it.
func (e *Error) Error() string {
	var parts []string
	if place := e.Place(); place != "" {
		parts = append(parts, place)
	}
	if e.Offset >= 0 {
		parts = append(parts, fmt.Sprintf("offset %d", e.Offset))
	}
	if e.Artifact != "" {
		parts = append(parts, "in "+e.Artifact)
	}
	if len(parts) == 0 {
		return e.Err.Error()
	}
	return e.Err.Error() + " (" + strings.Join(parts, ", ") + ")"
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func kindf(kind error, format string, args ...any) error {
	return fmt.Errorf("%w: %w", kind, fmt.Errorf(format, args...))
}

// Corruptf is an error that wraps [ErrCorrupt].
func Corruptf(format string, args ...any) error { return kindf(ErrCorrupt, format, args...) }

// Checksumf is an error that wraps [ErrChecksum].
func Checksumf(format string, args ...any) error { return kindf(ErrChecksum, format, args...) }

// Unsupportedf is an error that wraps [ErrUnsupported].
func Unsupportedf(format string, args ...any) error { return kindf(ErrUnsupported, format, args...) }

// Limitf is an error that wraps [ErrLimit].
func Limitf(format string, args ...any) error { return kindf(ErrLimit, format, args...) }

// place changes the place of a copy of err, because other code may hold err. A nil err stays
// nil.
func place(err error, change func(e *Error)) error {
	if err == nil {
		return nil
	}
	e := Error{Stripe: None, Block: None, Offset: -1, Err: err}
	if known, ok := err.(*Error); ok {
		e = *known
	}
	change(&e)
	return &e
}

// at sets the offset, unless the offset of a part is known.
func (e *Error) at(offset int64) {
	if e.Offset < 0 {
		e.Offset = offset
	}
}

// In adds the element that err was found in, in front of the elements already known. offset is
// the offset of the element in the artifact, or -1; the innermost known offset wins. A nil err
// stays nil, here and in the functions below.
func In(err error, element string, offset int64) error {
	return place(err, func(e *Error) {
		if e.Element != "" && element != "" {
			element += "/"
		}
		e.Element = element + e.Element
		e.at(offset)
	})
}

// InBlock adds the number of the block, and its offset as [In] does.
func InBlock(err error, block int, offset int64) error {
	return place(err, func(e *Error) {
		if e.Block < 0 {
			e.Block = block
		}
		e.at(offset)
	})
}

// InBuffer adds the kind of the buffer, and its offset as [In] does.
func InBuffer(err error, kind string, offset int64) error {
	return place(err, func(e *Error) {
		if e.Buffer == "" {
			e.Buffer = kind
		}
		e.at(offset)
	})
}

// InColumn adds the path of a schema node. A path that err already has is relative to this
// node.
func InColumn(err error, path string) error {
	return place(err, func(e *Error) {
		if e.Column != "" && path != "" {
			path += "."
		}
		e.Column = path + e.Column
	})
}

// InStripe adds the number of the stripe, unless one is known.
func InStripe(err error, stripe int) error {
	return place(err, func(e *Error) {
		if e.Stripe < 0 {
			e.Stripe = stripe
		}
	})
}

// Shift adds by to the offset of err, if it has one. Inside an element, offsets count from its
// start; outside, they count from the start of the artifact.
func Shift(err error, by int64) error {
	if e, ok := err.(*Error); !ok || e.Offset < 0 {
		return err
	}
	return place(err, func(e *Error) { e.Offset += by })
}

// Of adds the artifact that err was found in, unless one is known.
func Of(err error, artifact string) error {
	return place(err, func(e *Error) {
		if e.Artifact == "" {
			e.Artifact = artifact
		}
	})
}

// Recover turns a panic into an error that wraps [ErrCorrupt]; use it with defer at the
// boundary of a decoder. It is the last line of defence, not a way to check bounds: every panic
// that it catches is a bug.
func Recover(err *error) {
	if r := recover(); r != nil {
		if re, ok := r.(runtime.Error); ok {
			*err = Corruptf("decoder failed: %v", re)
			return
		}
		*err = Corruptf("decoder failed: %v", r)
	}
}

// RecoverInternal is [Recover] for code that reads no bytes of a file, such as a writer. The
// error has no kind.
func RecoverInternal(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("internal error: %v", r)
	}
}

// NoEOF returns an error that does not wrap io.EOF, for the errors of reads, whose callers may take io.EOF for the end.
func NoEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err)
	}
	return err
}

// Is reports whether an error wraps one of the kinds: whether it is about the bytes, not about
// reading them.
func Is(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrChecksum) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrLimit)
}

// ErrBatchTooLarge means that rows do not fit one array: their strings or items need more than
// 32-bit offsets, or more memory than the options allow. Fewer rows at a time may fit.
var ErrBatchTooLarge = fmt.Errorf("%w: batch too large, read fewer rows at a time", ErrLimit)
