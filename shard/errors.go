// Package shard writes and reads Amudai shards: immutable columnar files that
// hold Arrow data.
//
//	w, err := shard.Create(ctx, "t.amudai.shard", schema, shard.WriterOptions{})
//	err = w.Write(ctx, batch)                  // any number of times, any size
//	err = w.Close(ctx)                         // only now is the shard visible
//
//	s, err := shard.Open(ctx, "t.amudai.shard", shard.OpenOptions{})
//	dear, err := filter.Parse("price > 100 and item starts with 'a'")
//	for batch, err := range s.Scan(ctx, shard.ScanOptions{Columns: []string{"price"}, Filter: dear}) { … }
//	n, err := s.Count(ctx, dear)               // reads nothing but what that takes
//	some, err := s.Take(ctx, []int64{17, 4}, shard.TakeOptions{})
//
// [Shard.Explain] and [Shard.Analyze] tell how a scan finds its rows, [Shard.Summary] what
// statistics say about a column. [Verify] checks a shard against itself, [Recover] saves what is complete in an
// unfinished or damaged one. Locations are paths or URLs; see package storage.
//
// Errors about a shard's bytes wrap one of the four kinds below and say where:
// errors.As gives them as *[Error], with stripe, column, buffer, block and offset
// as fields.
package shard

import "github.com/amudai/amudai-go/internal/base/fault"

// The kinds of failure that bytes in a file can cause, for errors.Is.
var (
	// ErrCorrupt says that bytes break a rule of the format.
	ErrCorrupt = fault.ErrCorrupt
	// ErrChecksum says that bytes do not match their checksum.
	ErrChecksum = fault.ErrChecksum
	// ErrUnsupported says that bytes may be valid, but use a feature that this version does not know.
	ErrUnsupported = fault.ErrUnsupported
	// ErrLimit says that reading would exceed a limit of the options.
	ErrLimit = fault.ErrLimit
)

// ErrBatchTooLarge says that rows do not fit one array: their strings or items need more
// than 32-bit offsets, or more memory than the options allow. Fewer rows at a time may fit.
// It wraps [ErrLimit].
var ErrBatchTooLarge = fault.ErrBatchTooLarge

// Error is a failure with its place in the shard: artifact, stripe, column, buffer,
// block, element and offset, as far as they are known. [None] is the number of a
// stripe or block that is not.
//
//	var e *shard.Error
//	if errors.As(err, &e) && e.Stripe != shard.None { … }
type Error = fault.Error

// None is the value of Stripe and Block in an [Error] where they are not known or
// do not apply.
const None = fault.None
