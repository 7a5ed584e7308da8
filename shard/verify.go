package shard

import (
	"context"

	"github.com/amudai/amudai-go/internal/engine/verify"
	"github.com/amudai/amudai-go/storage"
)

// VerifyOptions are those of [Verify]. The zero value is the default.
type VerifyOptions struct {
	// Open says how the shard is opened. Its Types are not used: values are
	// checked as they are stored.
	Open OpenOptions
	// MetadataOnly leaves out buffers and values.
	MetadataOnly bool
	// MaxFindings ends the verification after that many problems, by default 100.
	MaxFindings int
	// Parallelism is how many columns are checked at a time, by default GOMAXPROCS.
	Parallelism int
	// Progress is called after each column of a stripe, by one goroutine at a time.
	Progress func(done, total int)
}

// Report is what [Verify] checked and found.
type Report = verify.Report

// Finding is something that [Verify] has to say.
type Finding = verify.Finding

// FlippedBit is a single bit that explains a checksum mismatch: with it flipped
// back the bytes match their checksum.
type FlippedBit = verify.FlippedBit

// Verify checks a shard against itself: every checksum and reference, counts,
// block maps, statistics, constants, dictionaries with their order, filters,
// sketches and range indexes against the values. What it finds is in the report.
// The error says that it could not be made: there is no such shard, reading
// failed, or ctx ended. A check that fails to read has not passed.
func Verify(ctx context.Context, location string, o VerifyOptions) (*Report, error) {
	return verify.Verify(ctx, location, verify.Options{
		Open: o.Open.file(), MaxBlockBytes: o.Open.MaxBlockBytes, MaxDictionaryBytes: o.Open.MaxDictionaryBytes,
		MetadataOnly: o.MetadataOnly, MaxFindings: o.MaxFindings, Parallelism: o.Parallelism, Progress: o.Progress,
	})
}

// RecoverOptions are those of [Recover]. The zero value is the default.
type RecoverOptions struct {
	// Open says how the damaged shard is opened.
	Open OpenOptions
	// Store, Layout and Overwrite are for the new shard, see [WriterOptions].
	Store     storage.Store
	Layout    Layout
	Overwrite bool
	// Parallelism is how many columns are checked at a time, by default GOMAXPROCS.
	Parallelism int
}

// RecoverReport says what [Recover] saved.
type RecoverReport = verify.RecoverReport

// LostStripe is a stripe that [Recover] found but did not save.
type LostStripe = verify.LostStripe

// Recover saves every complete stripe of an unfinished or damaged shard at in that
// still checks out into a new shard at out. The temporary file of a writer that
// was killed can be given as in. Bytes of columns are copied as they are, after
// everything in them was checked as [Verify] does.
//
// The error wraps [ErrCorrupt] if no stripe can be saved; then out is not made.
func Recover(ctx context.Context, in, out string, o RecoverOptions) (*RecoverReport, error) {
	return verify.Recover(ctx, in, out, verify.RecoverOptions{
		Open: o.Open.file(), MaxBlockBytes: o.Open.MaxBlockBytes, MaxDictionaryBytes: o.Open.MaxDictionaryBytes,
		Store: o.Store, Layout: o.Layout, Overwrite: o.Overwrite, Parallelism: o.Parallelism,
	})
}
