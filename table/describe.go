package table

import (
	"context"
	"errors"
	"io"

	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/table/internal/recorded"
	"github.com/amudai/amudai-go/table/provider"
)

// Explain tells how a scan finds its rows in each input, in the order of [Table.Locations], with run also what the scan of it did. It is nil for
// inputs of which a scan reads everything: those in formats that do not filter, compressed ones, and pipes. Positions of rows cannot be explained.
func (t *Table) Explain(ctx context.Context, o ScanOptions, run bool) ([]*provider.Explanation, error) {
	if o.Rows != nil {
		return nil, errPositions
	}
	all := make([]*provider.Explanation, len(t.locations))
	for i := range t.locations {
		err := t.describe(ctx, i, func(in *provider.Input, f provider.Format) (err error) {
			all[i], err = t.explain(ctx, *in, f, o, run)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Statistics returns what each input records of the columns at paths, in the order of [Table.Locations]. Nil paths mean all columns, an empty
// list only the number of rows. It is nil for inputs that record nothing. No values are read.
func (t *Table) Statistics(ctx context.Context, paths []string) ([]*provider.Statistics, error) {
	all := make([]*provider.Statistics, len(t.locations))
	for i := range t.locations {
		var err error
		if all[i], err = t.statisticsOf(ctx, i, paths); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// statisticsOf is [Table.Statistics] of input i.
func (t *Table) statisticsOf(ctx context.Context, i int, paths []string) (s *provider.Statistics, err error) {
	err = t.describe(ctx, i, func(in *provider.Input, f provider.Format) (err error) {
		if f.Statistics != nil {
			s, err = f.Statistics(ctx, *in, paths)
		}
		return err
	})
	return s, err
}

// VerifyOptions are the options of [Table.Verify]: see [provider.VerifyOptions]. The zero value checks everything.
type VerifyOptions = provider.VerifyOptions

// Report is what [Table.Verify] found in one input: see [provider.Report]. Its OK method reports whether the input is sound.
type Report = provider.Report

// Verify checks each input for damage and contradictions, in the order of [Table.Locations]: checksums, references, counts, and what the file
// records of its values. It is nil for inputs in formats that record nothing to compare with, such as CSV, and for pipes, of which nothing is
// consumed.
//
// A damaged file is a report with problems, not an error: ask [Report.OK]. An error means that an input cannot be read, or that ctx ended; the
// reports of other inputs are returned with it, and that of this one is nil. Open an input alone if it may be too damaged to tell its
// columns: several are opened for their schemas, one is not. Options.Progress counts the parts of each input anew.
func (t *Table) Verify(ctx context.Context, o VerifyOptions) ([]*Report, error) {
	return each(ctx, t, func(in *provider.Input, f provider.Format) (r *Report, err error) {
		if f.Verify != nil {
			r, err = f.Verify(ctx, *in, o)
		}
		return r, err
	})
}

// InspectOptions are the options of [Table.Inspect]: see [provider.InspectOptions]. The zero value gives an overview.
type InspectOptions = provider.InspectOptions

// Outline is how one input is built: facts, lists of parts, ranges of bytes, and a tree of parts that are read when they are asked for. See
// [provider.Outline], and [provider.Fact] and [provider.List] for what it has.
type (
	Outline = provider.Outline
	Fact    = provider.Fact
	List    = provider.List
)

// Inspect describes how each input is built, in the order of [Table.Locations]. It is nil for inputs in formats without a structure to tell,
// such as CSV, and for pipes, of which nothing is consumed. Values are not decoded, but at the highest details and for [InspectOptions].Hex.
// Bytes and Nodes can be read until the table is closed. Errors are as those of [Table.Verify]; damage of single parts is in the outline
// where they are.
func (t *Table) Inspect(ctx context.Context, o InspectOptions) ([]*Outline, error) {
	return each(ctx, t, func(in *provider.Input, f provider.Format) (out *Outline, err error) {
		if f.Inspect == nil {
			return nil, nil
		}
		if out, err = f.Inspect(ctx, *in, o); out != nil && (o.Hex || o.Nodes) {
			t.keep(out.Closer, in.Closer)
			in.Closer = nil
		}
		return out, err
	})
}

// keep closes what may be nil when the table is closed.
func (t *Table) keep(list ...io.Closer) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.kept = append(t.kept, list...)
}

// each asks all inputs, whatever one of them answers.
func each[A any](ctx context.Context, t *Table, ask func(*provider.Input, provider.Format) (*A, error)) (all []*A, err error) {
	all = make([]*A, len(t.locations))
	for i := range t.locations {
		one := t.describe(ctx, i, func(in *provider.Input, f provider.Format) (err error) {
			all[i], err = ask(in, f)
			return err
		})
		if err = errors.Join(err, one); ctx.Err() != nil {
			return all, errors.Join(err, ctx.Err()) // what was not asked has not passed
		}
	}
	return all, err
}

// describe opens an input, unless it is a pipe, of which nothing is known before it is read.
func (t *Table) describe(ctx context.Context, i int, f func(*provider.Input, provider.Format) error) error {
	location := t.locations[i]
	if inputs.IsPipe(location) {
		return nil
	}
	in, format, err := t.input(ctx, &t.find, i, location)
	if err != nil {
		return err
	}
	if err = f(&in, format); err != nil {
		err = t.find.Explain(ctx, err, location, format)
	}
	return errors.Join(err, in.Close())
}

// Stored is what inputs store, by fields. Deleted rows are part of it.
//
//	type Stored struct {
//		Bytes  int64         // of all inputs, metadata included
//		Fields []StoredField // columns in order, each before the fields below it
//	}
type Stored = recorded.Stored

// StoredField is what inputs store of a column, or of a field below one.
//
//	type StoredField struct {
//		Path      string // as in the structure of the file ([Table.Inspect]), which has more fields than the table in some formats
//		Bytes     int64  // those of the fields below it included
//		Encodings []Fact // names with bytes, of the field alone, the largest first; nil for formats other than shards
//	}
type StoredField = recorded.Field

// Stored returns the stored sizes of all columns, and how they are encoded. It is nil if an input does not tell, as text and compressed inputs. No
// values are read, but the heads of blocks of shards are.
func (t *Table) Stored(ctx context.Context) (*Stored, error) {
	all := &Stored{}
	for i := range t.locations {
		var one *Stored
		err := t.describe(ctx, i, func(in *provider.Input, f provider.Format) (err error) {
			one, err = recorded.In(ctx, *in, f)
			return err
		})
		if one == nil || err != nil {
			return nil, err
		}
		all.Add(one)
	}
	return all, nil
}
