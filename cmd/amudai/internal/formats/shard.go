package formats

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// Shard opens a shard, with the types of the flags. For another kind of file, the error names its likely format.
func (p *Opener) Shard(ctx context.Context, location string, o shard.OpenOptions) (*shard.Shard, error) {
	location, err := ShardIn(ctx, location, &o)
	if err != nil {
		return nil, err
	}
	o.Types, o.Policy = p.types, p.Policy
	if p.at != (At{}) {
		o.Version, o.AsOf = p.at.Version, p.at.Time
	}
	s, err := shard.Open(ctx, location, o)
	if err != nil {
		return nil, notShard(ctx, inputs.Missing(location, err), location)
	}
	return s, nil
}

// ShardIn is the file of a shard, of which FILE:0 is the first of several: the options then choose it.
func ShardIn(ctx context.Context, location string, o *shard.OpenOptions) (file string, err error) {
	err = files.CheckShard(location)
	file, name := All().SplitTable(location)
	if name == "" || err == nil && !inputs.IsURL(location) || files.CheckShard(file) != nil {
		return location, err
	}
	found, err := shard.Directories(ctx, file, name, *o)
	if err == nil {
		o.Directory = &found[0]
	}
	return file, err
}

// notShard describes a file that cannot be opened as a shard.
func notShard(ctx context.Context, err error, location string) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	head, ferr := inputs.Head(ctx, location, provider.SniffBytes)
	if ferr != nil {
		return err
	}
	location = storage.Redact(location)
	looks, known := All().Sniff(head)
	if foreign := provider.Foreign(location, head); foreign != nil && !known {
		return foreign
	}
	switch {
	case len(head) == 0:
		return fmt.Errorf("%s is empty", location)
	case !known:
		return fmt.Errorf("%s is not an Amudai shard: it starts with %q", location, head[:min(8, len(head))])
	case looks.Name != Shard:
		err = fmt.Errorf("%s is not an Amudai shard, it looks like %s", location, looks.Title)
		return usage.WithHint(err, "amudai convert %s OUT.amudai.shard makes a shard of it", location)
	}
	return err
}

// HasStripes reports whether the flags choose stripes.
func (s *ScanFlags) HasStripes() bool { return s.stripes != "" }

// stripeRows are the rows of the stripes that the flags choose of the only input, in ascending order.
func (p *Opener) stripeRows(ctx context.Context, locations []string, t *TableFlags) (rows []provider.RowRange, err error) {
	if locations, err = p.Inputs(ctx, locations, &t.Read); err != nil {
		return nil, err
	}
	switch {
	case t.Rows.rows != nil:
		return nil, usage.Errorf("leave one out", "--stripes and --rows both choose rows")
	case len(locations) != 1 || locations[0] == "-":
		return nil, usage.Errorf("amudai plan lists the stripes of each input", "--stripes is for one input that is no pipe")
	}
	of, err := p.Table(ctx, locations[0], t.Read.From)
	if err != nil {
		return nil, err
	}
	all, err := of.Explain(ctx, table.ScanOptions{Columns: []string{}}, false)
	if err = errors.Join(err, of.Close()); err != nil {
		return nil, err
	}
	x := all[0]
	if x == nil {
		return nil, usage.Errorf("--rows chooses rows of any format", "%s has no stripes", locations[0])
	}
	chosen, err := parseStripes(t.Rows.stripes, len(x.Stripes))
	if err != nil {
		return nil, err
	}
	rows = []provider.RowRange{}
	for i, wanted := range chosen {
		s := &x.Stripes[i]
		end := s.First + s.Rows
		switch k := len(rows); {
		case !wanted || s.Rows == 0:
		case k > 0 && rows[k-1].To == s.First:
			rows[k-1].To = end
		default:
			rows = append(rows, provider.RowRange{From: s.First, To: end})
		}
	}
	return rows, nil
}

// parseStripes parses a list such as 0,3,5:9, of numbers and ranges without their ends.
func parseStripes(list string, n int) ([]bool, error) {
	chosen := make([]bool, n)
	for part := range strings.SplitSeq(list, ",") {
		begin, end, isRange := strings.Cut(part, ":")
		from, err := strconv.ParseUint(begin, 10, 31)
		to := from + 1
		if isRange && err == nil {
			to, err = strconv.ParseUint(end, 10, 31)
		}
		switch {
		case err != nil:
			return nil, usage.Errorf("use numbers and ranges, such as 0,3,5:9", "--stripes: %q is no number of a stripe", part)
		case from >= to:
			return nil, usage.Errorf("", "--stripes: %s ends before it begins", part)
		case to > uint64(n):
			return nil, usage.Errorf("amudai plan lists them", "--stripes: there is no stripe %d, only %d from 0", to-1, n)
		}
		for i := from; i < to; i++ {
			chosen[i] = true
		}
	}
	return chosen, nil
}
