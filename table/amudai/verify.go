package amudai

import (
	"context"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// verify implements [provider.Format.Verify].
func verify(ctx context.Context, in provider.Input, vo provider.VerifyOptions, o Options) (*provider.Report, error) {
	from, err := in.Stored(vo.TempDir)
	if err != nil {
		return nil, err
	}
	open := o.Open
	if open.Store == nil {
		open.Store = from.Store
	}
	r, err := shard.Verify(ctx, from.Location, shard.VerifyOptions{
		Open: open, MetadataOnly: vo.MetadataOnly, Quick: vo.Quick, MaxFindings: vo.MaxFindings, Parallelism: vo.Parallelism, Progress: vo.Progress,
	})
	if err = errors.Join(err, from.Close()); err != nil {
		return nil, err
	}
	return &provider.Report{
		Problems: errorsOf(r.Problems), Notes: errorsOf(r.Notes), Unchecked: r.Unchecked, Truncated: r.Truncated,
		Checked: []provider.Count{
			{Name: "stripe", N: int64(r.Stripes)}, {Name: "column", N: int64(r.Columns)}, {Name: "message", N: int64(r.Messages)},
			{Name: "buffer", N: int64(r.Buffers)}, {Name: "block", N: int64(r.Blocks)}, {Name: "value", N: r.Values},
			{Name: "constant", N: int64(r.Constants)}, {Name: "dictionary", N: int64(r.Dictionaries)}, {Name: "range index", N: int64(r.RangeIndexes)},
			{Name: "index", N: int64(r.Indexes)}, {Name: "filter", N: int64(r.Filters)}, {Name: "sketch", N: int64(r.Sketches)},
			{Name: "descriptor", N: int64(r.Statistics)},
		},
	}, nil
}

// errorsOf are findings as errors, with the bits that explain them.
func errorsOf(list []shard.Finding) []error {
	errs := make([]error, len(list))
	for i, f := range list {
		if errs[i] = f.Err; f.Bit != nil {
			errs[i] = fmt.Errorf("%w; %v", f.Err, f.Bit)
		}
	}
	return errs
}
