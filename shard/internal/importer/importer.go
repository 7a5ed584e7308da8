// Package importer makes shards that refer to Parquet files.
package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/external"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/reference"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// Options are the options of [Import]. The zero value is the default.
type Options struct {
	// Store has the Parquet files, and receives the shard. The default is the registered store of the location.
	Store storage.Store
	// Policy allows references to files outside the folder of the shard, and the folders in it. The default allows none, as that of
	// the reader does: who opens the shard has to allow them again.
	Policy container.Policy
	// Overwrite permits the replacement of an existing shard.
	Overwrite bool
	// CreationTime is recorded in the shard, by default the time of Import.
	CreationTime time.Time
	// Properties are the custom properties of the shard.
	Properties []shardfile.Property
	// Program is recorded as the program that wrote the shard, by default this library.
	Program string
	// Parallelism is the number of files whose metadata is read at the same time, by default GOMAXPROCS.
	Parallelism int
}

// Import makes a shard of Parquet files.
func Import(ctx context.Context, location string, files []string, o Options) (err error) {
	if o.Store, err = storage.Of(o.Store, location); err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no Parquet files to import")
	}
	x := &importer{o: o, location: location}
	if x.url, err = storage.URL(location); err != nil {
		return err
	}
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	for some := range slices.Chunk(files, filesAtOnce) {
		read := make([][]described, len(some))
		from := 0
		if x.schema == nil { // the first file has the schema
			if read[0], err = x.read(ctx, some[0]); err != nil {
				return err
			}
			from = 1
		}
		err := parallel.Each(ctx, len(some)-from, o.Parallelism, func(ctx context.Context, i int) (err error) {
			read[from+i], err = x.read(ctx, some[from+i])
			return err
		})
		if err == nil {
			err = x.write(ctx, slices.Concat(read...))
		}
		if err != nil {
			return errors.Join(err, x.abort(ctx))
		}
	}
	return x.out.Close(ctx)
}

// filesAtOnce is the number of files whose metadata is in memory.
const filesAtOnce = 64

// importer makes a shard of Parquet files.
type importer struct {
	o        Options
	location string
	url      string // of the root
	first    string // file
	schema   *arrow.Schema
	columns  []arrowmap.Column
	message  []byte // the stored schema
	out      *shardwriter.Writer
}

// described is a stripe that refers to a row group.
type described struct {
	*stripe.Finished
	o shardwriter.StripeOptions
}

// read describes the row groups of a file.
func (x *importer) read(ctx context.Context, location string) (all []described, err error) {
	url, err := storage.URL(location)
	if err != nil {
		return nil, err
	}
	if _, err := container.Resolve(x.url, x.url, url, x.o.Policy); err != nil {
		return nil, advice.WithHint(err, "write the shard into the folder of its files or one above; or else ImportOptions.Policy has to allow it, and OpenOptions.Policy of all readers")
	}
	r, err := shardfile.OpenReferred(ctx, x.o.Store, x.url, url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := external.Open(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	p, err := f.Project(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := x.check(location, p.Schema); err != nil {
		return nil, err
	}
	for i := range f.NumStripes() {
		if f.Stripe(i).Rows() == 0 {
			continue
		}
		s, so, err := reference.Stripe(ctx, f, i, container.Relative(x.url, url), x.columns, p.Columns)
		if err != nil {
			return nil, err
		}
		all = append(all, described{s, so})
	}
	return all, nil
}

// check compares the schema of a file with that of the first one.
func (x *importer) check(location string, s *arrow.Schema) (err error) {
	if x.schema == nil {
		x.first, x.schema = location, s
		fields, columns, err := arrowmap.FromArrow(s, arrowmap.Options{Features: edition.E2026.Features()})
		if err != nil {
			return err
		}
		x.columns = columns
		x.message, err = schema.Build(fields)
		return err
	}
	if a, b := x.schema.NumFields(), s.NumFields(); a != b {
		return fmt.Errorf("%s has %d columns, %s has %d: only files with the same columns can be imported together", location, b, x.first, a)
	}
	for i, want := range x.schema.Fields() {
		if got := s.Field(i); got.Name != want.Name || !arrow.TypeEqual(got.Type, want.Type) || got.Nullable && !want.Nullable {
			return fmt.Errorf("column %d of %s is %s, that of %s is %s: only files with the same columns can be imported together",
				i, location, text.Field(got), x.first, text.Field(want))
		}
	}
	return nil
}

// write appends stripes, and begins the shard first.
func (x *importer) write(ctx context.Context, all []described) error {
	if x.out == nil {
		properties, err := root.WithArrowSchema(x.o.Properties, x.schema)
		if err != nil {
			return err
		}
		x.out, err = shardwriter.Create(ctx, x.location, x.message, shardwriter.Options{
			Store: x.o.Store, Overwrite: x.o.Overwrite, CreationTime: x.o.CreationTime, Properties: properties, Program: x.o.Program,
		})
		if err != nil {
			return err
		}
	}
	for _, s := range all {
		if err := x.out.AppendStripe(ctx, s.Finished, s.o); err != nil {
			return err
		}
	}
	return nil
}

func (x *importer) abort(ctx context.Context) error {
	if x.out == nil {
		return nil
	}
	return x.out.Abort(context.WithoutCancel(ctx))
}
