package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/seq"
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
	// Shards is the number of shards that were saved: more than one of a packed file.
	Shards int
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

// Recover copies every complete and undamaged stripe of the unfinished or damaged shards in an artifact to a new one at
// out. in may be the temporary file of a writer that was killed. Bytes of columns are copied unchanged, after all
// checks of [Verify].
//
// If no stripe can be saved, out is not created, and the error wraps [fault.ErrCorrupt].
func Recover(ctx context.Context, in, out string, o RecoverOptions) (report *RecoverReport, err error) {
	report = &RecoverReport{}
	files, err := report.open(ctx, in, o.Open)
	defer func() { err = errors.Join(err, seq.CloseAll(files)) }()
	if err != nil {
		return nil, err
	}
	var roots []root.Root
	for _, f := range files {
		first := report.Found
		report.Found += f.NumStripes()
		good, err := report.check(ctx, f, first, o)
		if err != nil {
			return nil, err
		}
		if len(good) == 0 && (f.NumStripes() > 0 || report.Unfinished) {
			continue
		}
		r, err := report.rest(ctx, f, good)
		if err != nil {
			return report, err
		}
		roots = append(roots, r)
	}
	if len(roots) == 0 {
		return report, fmt.Errorf("%w: none of %d stripes of %s can be saved", fault.ErrCorrupt, report.Found, in)
	}
	if err := root.Publish(ctx, out, shardwriter.Options{Store: o.Store, Layout: o.Layout, Overwrite: o.Overwrite}, roots...); err != nil {
		return report, err
	}
	report.Shards = len(roots)
	for _, r := range roots {
		report.Saved += len(r.Stripes)
		for _, s := range r.Stripes {
			report.Rows += s.Of.Rows()
		}
	}
	return report, nil
}

// open opens the shards of an artifact, also with an error.
func (r *RecoverReport) open(ctx context.Context, in string, o shardfile.OpenOptions) ([]*shardfile.File, error) {
	last, err := shardfile.Open(ctx, in, o)
	if fault.Is(err) {
		r.Unfinished, r.OpenErr = true, err
		files, found, err := shardfile.OpenUnfinished(ctx, in, o)
		if err != nil {
			return nil, errors.Join(r.OpenErr, err)
		}
		r.Missing, r.Damaged, r.Left, r.Complete = found.Missing, found.Damaged, found.Left, found.Complete
		return files, nil
	}
	if err != nil {
		return nil, err
	}
	files := []*shardfile.File{last}
	if o.Directory != nil {
		return files, nil
	}
	all, err := last.Shards(ctx)
	if fault.Is(err) { // of the properties, without which the shard can be saved
		return files, nil
	}
	if len(all) > shardfile.MaxPacked {
		return files, fault.Limitf("%s has more than %d shards: name one, such as %s:0", in, shardfile.MaxPacked, in)
	}
	for i := len(all) - 2; i >= 0 && err == nil; i-- {
		o.Directory = &all[i]
		f, openErr := shardfile.Open(ctx, in, o)
		if fault.Is(openErr) {
			r.OpenErr = errors.Join(r.OpenErr, openErr)
			continue
		}
		if err = openErr; err == nil {
			files = slices.Insert(files, 0, f)
		}
	}
	return files, err
}

// check verifies every stripe by itself, and returns the good ones. first is how many stripes other shards have.
func (r *RecoverReport) check(ctx context.Context, f *shardfile.File, first int, o RecoverOptions) (good []int, err error) {
	s, err := f.Schema(ctx)
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return nil, err
	}
	vo := Options{Open: o.Open, MaxBlockBytes: o.MaxBlockBytes, MaxDictionaryBytes: o.MaxDictionaryBytes, VerifyOptions: provider.VerifyOptions{Parallelism: o.Parallelism}}
	all, err := newVerifier(vo)
	if err != nil {
		return nil, err
	}
	all.file = f
	all.setSchema(s)
	if err := checkSize(f, len(all.ids)); err != nil {
		return nil, err
	}
	ahead, err := all.ahead(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Hold(nil)
	spent := newBudget(f)
	for i := range f.NumStripes() {
		v, err := newVerifier(vo)
		if err != nil {
			return nil, err
		}
		v.file, v.budget = f, spent
		v.setSchema(s)
		rep, err := v.Report(v.stripe(ctx, ahead, f.Stripe(i)))
		if err != nil {
			return nil, err
		}
		if rep.OK() {
			good = append(good, i)
			continue
		}
		r.Lost = append(r.Lost, LostStripe{Stripe: first + i, Rows: f.Stripe(i).Rows(), Problems: append(rep.Problems, rep.Notes...)})
	}
	return good, nil
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
	if len(all) > 0 && (r.Unfinished || len(good) < f.NumStripes()) {
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
