package shard

import "github.com/amudai/amudai-go/internal/base/fault"

// The kinds of failure that bytes in a file can cause, for errors.Is.
var (
	// ErrCorrupt means that bytes break a rule of the format.
	ErrCorrupt = fault.ErrCorrupt
	// ErrChecksum means that bytes do not match their checksum.
	ErrChecksum = fault.ErrChecksum
	// ErrUnsupported means that bytes use a feature that this version does not know, or that a
	// type cannot be stored.
	ErrUnsupported = fault.ErrUnsupported
	// ErrLimit means that reading would exceed a limit of the options.
	ErrLimit = fault.ErrLimit
)

// ErrBatchTooLarge means that rows do not fit one array: their strings or list items need more than
// 32-bit offsets, or more memory than the options allow. Fewer rows at a time may fit. It wraps
// [ErrLimit].
var ErrBatchTooLarge = fault.ErrBatchTooLarge

// Error is a failure with its place in the shard. A place that is not known is an empty
// string, [None] or a negative offset.
//
//	type Error struct {
//		Artifact string // location of the file or object
//		Stripe   int    // number of the stripe, from 0, or None
//		Column   string // path of the column
//		Buffer   string // kind of the buffer, such as "DATA"
//		Block    int    // number of the block in its buffer, from 0, or None
//		Element  string // part of these, outermost first, such as "field list" or "values/RLE"
//		Offset   int64  // byte offset in the artifact, or negative
//		Err      error  // the cause, which wraps one of the kinds above
//	}
//
// errors.As finds it:
//
//	var e *shard.Error
//	if errors.As(err, &e) && e.Stripe != shard.None { … }
type Error = fault.Error

// None stands for a stripe or block that is not known or does not apply, in an [Error].
const None = fault.None
