package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// RecoverOptions are the options of [Recover]. The zero value selects the defaults.
type RecoverOptions struct {
	// Open has the options for opening the damaged shard.
	Open shardfile.OpenOptions
	// MaxBlockBytes and MaxDictionaryBytes are limits as in [read.Options].
	MaxBlockBytes, MaxDictionaryBytes int64
	// Store, Layout and Overwrite are for the new shard, see [shardwriter.Options].
	Store     storage.Store
	Layout    shardwriter.Layout
	Overwrite bool
	// Parallelism is the number of columns checked at a time, by default GOMAXPROCS.
	Parallelism int
}

// RecoverReport is the result of [Recover].
type RecoverReport struct {
	// Unfinished means that the end of the shard is missing or damaged, and that its stripes were found by their
	// recovery records.
	Unfinished bool
	// OpenErr is the error at the end of the shard, nil if there is none.
	OpenErr error
	// Found is the number of stripes found. Saved are those in the new shard, Rows is its number of rows. Lost has
	// the reasons for all others.
	Found, Saved int
	Rows         int64
	Lost         []LostStripe
	// Missing are the numbers of stripes that were written but not found. Stripes after the last one found are not
	// known.
	Missing []int
	// Damaged is the number of damaged recovery records.
	Damaged int
	// Left is the number of bytes after the last stripe found in an unfinished shard. Complete means that they are
	// only the end of a shard. Otherwise they probably belong to an incomplete stripe, and maybe to later ones: an
	// unknown number of rows is lost.
	Left     int64
	Complete bool
	// Indexes is the number of indexes in the new shard. LostIndexes has the reasons for those that are not: they can be built again.
	Indexes     int
	LostIndexes []error
}

// LostStripe is a stripe that was found but could not be saved.
type LostStripe struct {
	Stripe   int     // number among the stripes found, from 0
	Rows     int64   // rows lost with the stripe
	Problems []error // reasons
}

// Recover copies every complete and undamaged stripe of an unfinished or damaged shard at in to a new shard at
// out. in may be the temporary file of a writer that was killed. Bytes of columns are copied unchanged, after all
// checks of [Verify].
//
// If no stripe can be saved, out is not created, and the error wraps [fault.ErrCorrupt].
func Recover(ctx context.Context, in, out string, o RecoverOptions) (*RecoverReport, error) {
	report := &RecoverReport{}
	f, err := shardfile.Open(ctx, in, o.Open)
	if err != nil {
		if !fault.Is(err) {
			return nil, err
		}
		report.Unfinished, report.OpenErr = true, err
		var found *shardfile.Found
		if f, found, err = shardfile.OpenUnfinished(ctx, in, o.Open); err != nil {
			return nil, errors.Join(report.OpenErr, err)
		}
		report.Missing, report.Damaged = found.Missing, found.Damaged
		report.Left, report.Complete = found.Left, found.Complete
	}
	defer f.Close()
	report.Found = f.NumStripes()
	good, err := report.check(ctx, f, o)
	if err != nil {
		return nil, err
	}
	if len(good) == 0 && (report.Found > 0 || report.Unfinished) {
		return report, fmt.Errorf("%w: none of %d stripes of %s can be saved", fault.ErrCorrupt, report.Found, in)
	}
	return report, report.save(ctx, f, good, out, o)
}

// check verifies every stripe by itself, and returns the good ones.
func (r *RecoverReport) check(ctx context.Context, f *shardfile.File, o RecoverOptions) (good []int, err error) {
	s, err := f.Schema(ctx)
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return nil, err
	}
	all := &verifier{file: f}
	all.setSchema(s)
	if err := checkSize(f, len(all.ids)); err != nil {
		return nil, err
	}
	spent := newBudget(f)
	for i := range f.NumStripes() {
		v, err := newVerifier(Options{Open: o.Open, MaxBlockBytes: o.MaxBlockBytes, MaxDictionaryBytes: o.MaxDictionaryBytes, VerifyOptions: provider.VerifyOptions{Parallelism: o.Parallelism}})
		if err != nil {
			return nil, err
		}
		v.file, v.budget = f, spent
		v.setSchema(s)
		rep, err := v.Report(v.stripe(ctx, f.Stripe(i)))
		if err != nil {
			return nil, err
		}
		if rep.OK() {
			good = append(good, i)
			continue
		}
		r.Lost = append(r.Lost, LostStripe{Stripe: i, Rows: f.Stripe(i).Rows(), Problems: append(rep.Problems, rep.Notes...)})
	}
	return good, nil
}

// save copies the good stripes.
func (r *RecoverReport) save(ctx context.Context, f *shardfile.File, good []int, out string, o RecoverOptions) error {
	saved, err := r.rest(ctx, f, good)
	if err != nil {
		return err
	}
	if err := root.Publish(ctx, out, shardwriter.Options{Store: o.Store, Layout: o.Layout, Overwrite: o.Overwrite}, saved); err != nil {
		return err
	}
	r.Saved = len(good)
	for _, s := range saved.Stripes {
		r.Rows += s.Of.Rows()
	}
	return nil
}

// rest is the root of the good stripes with their indexes, and with the indexes of the shard if no stripe is missing.
func (r *RecoverReport) rest(ctx context.Context, f *shardfile.File, good []int) (root.Root, error) {
	s, err := f.Schema(ctx)
	if err != nil {
		return root.Root{}, err
	}
	out := root.Root{Schema: s} // with the properties of a new shard, if its own are damaged
	p, err := f.Properties(ctx)
	if err == nil {
		out, err = root.New(s, p)
	}
	if err != nil && !fault.Is(err) {
		return out, err
	}
	t := shardtable.New(f, s, shardtable.Options{})
	for _, i := range good {
		all, err := t.StripeIndexes(ctx, i)
		kept, err := r.indexes(ctx, f, all, err)
		if err != nil {
			return out, err
		}
		out.Stripes = append(out.Stripes, root.Stripe{Of: f.Stripe(i), Deleted: f.Stripe(i).Directory().DeletedRecordCount, Indexes: kept})
	}
	all, err := t.Indexes(ctx)
	if len(all) > 0 && (r.Unfinished || len(good) < r.Found) {
		r.LostIndexes = append(r.LostIndexes, fmt.Errorf("indexes of the whole shard (%d) have rows of stripes that are missing", len(all)))
		return out, nil
	}
	out.Indexes, err = r.indexes(ctx, f, all, err)
	return out, err
}

// indexes are those of some indexes that can be opened. err is that of reading their list.
func (r *RecoverReport) indexes(ctx context.Context, f *shardfile.File, all []*shardtable.Index, err error) (kept []root.Index, _ error) {
	lost := func(err error) error {
		if !isDamage(err) {
			return err
		}
		r.LostIndexes = append(r.LostIndexes, err)
		return nil
	}
	if err != nil {
		return nil, lost(err)
	}
	for _, x := range all {
		if _, err := x.Open(ctx); err != nil && x.Kind != nil {
			if err := lost(err); err != nil {
				return nil, err
			}
			continue
		}
		kept = append(kept, root.Index{Descriptor: x.Descriptor, File: f, Stripe: x.Stripe})
		r.Indexes++
	}
	return kept, nil
}
