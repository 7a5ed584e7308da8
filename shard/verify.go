package shard

import (
	"context"

	"github.com/amudai/amudai-go/shard/internal/verify"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// FlippedBit is the error of a checksum mismatch that a single bit explains: the bytes match their checksum once it is flipped back.
//
//	type FlippedBit struct {
//		Artifact string // location of the file or object
//		Offset   int64  // offset of the byte
//		Bit      int    // number of the bit; 0 is the least significant
//		Err      error  // the mismatch
//	}
type FlippedBit = verify.FlippedBit

// Verify checks a shard for damage and contradictions. It compares every checksum, reference, count,
// block map, statistic, constant, dictionary, Bloom filter, sketch, range index and index with the values, in their stored types.
// An unknown code in a shard that declares a known edition is a problem. Problems are an [Error] with its place, or a [FlippedBit].
//
// A damaged shard is a report with problems, not an error. An error means that the verification is
// incomplete: the shard does not exist, a read failed, or ctx ended.
func Verify(ctx context.Context, location string, open OpenOptions, o provider.VerifyOptions) (*provider.Report, error) {
	return verify.Verify(ctx, location, verify.Options{
		VerifyOptions: o, Open: open.file(), MaxBlockBytes: open.MaxBlockBytes, MaxDictionaryBytes: open.MaxDictionaryBytes,
	})
}

// RecoverOptions are the options of [Recover]. The zero value is the default.
type RecoverOptions struct {
	Open OpenOptions // the options for opening the damaged shard
	// Store, Layout and Overwrite apply to the new shard, as in [WriterOptions].
	Store     storage.Store
	Layout    Layout
	Overwrite bool
	// Parallelism is the number of columns that are checked at the same time, by default
	// GOMAXPROCS.
	Parallelism int
}

// RecoverReport is the result of [Recover].
//
//	type RecoverReport struct {
//		Unfinished   bool         // the end of the shard is missing or damaged
//		OpenErr      error        // the damage at the end, or nil
//		Shards       int          // shards that were saved, more than one of a packed file
//		Found, Saved int          // stripes found, and stripes in the new shard
//		Rows         int64        // rows of the new shard
//		Lost         []LostStripe // stripes that were found but not saved
//		Missing      []int        // stripes that were written but not found, by number in their shard; the last ones of a cut shard are unknown
//		Damaged      int          // damaged recovery records
//		Left         int64        // bytes behind the last stripe of an unfinished shard
//		Complete     bool         // these bytes hold no rows
//		Indexes      int          // indexes in the new shard
//		LostIndexes  []error      // why others are not; they can be built again
//	}
//
// If Left is not 0 and Complete is false, an incomplete stripe probably follows the last one, and
// its rows are lost.
type RecoverReport = verify.RecoverReport

// LostStripe is a stripe that [Recover] found but did not save.
//
//	type LostStripe struct {
//		Stripe   int     // number among the stripes found, from 0
//		Rows     int64   // rows that are lost with it
//		Problems []error // the reasons
//	}
type LostStripe = verify.LostStripe

// Recover copies the complete and undamaged stripes of the shard at location in to a new shard at
// location out. The shard at in may be damaged or unfinished; the temporary file of a writer that
// was killed is allowed, too. Recover checks each stripe as [Verify] does, and copies the bytes of
// its columns without encoding them again. Of a packed artifact it saves all shards in this way, or only that of
// [OpenOptions.Directory].
//
// The error wraps [ErrCorrupt] if no stripe can be saved. No new shard is made then.
func Recover(ctx context.Context, in, out string, o RecoverOptions) (*RecoverReport, error) {
	return verify.Recover(ctx, in, out, verify.RecoverOptions{
		Open: o.Open.file(), MaxBlockBytes: o.Open.MaxBlockBytes, MaxDictionaryBytes: o.Open.MaxDictionaryBytes,
		Store: o.Store, Layout: o.Layout, Overwrite: o.Overwrite, Parallelism: o.Parallelism,
	})
}
