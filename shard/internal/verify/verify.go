// Package verify checks the consistency of a shard, and recovers the complete stripes of a damaged one.
//
//	messages ─ frames and checksums of all metadata        messages.go
//	root     ─ header, urls, properties, sums               root.go
//	columns  ─ block maps, blocks, dictionaries as bytes    buffers.go
//	external ─ references to Parquet files, and the values  external.go
//	           in these
//	values   ─ decoded, counted and compared with           values.go, ranges.go
//	           what descriptors and indexes say             stats.go
//	           all encodings of a column with the first     alternatives.go
//	shard    ─ its descriptors, compared with the stripes'  stats.go
//	indexes  ─ built anew of the values, and compared       indexes.go
//
// If a check cannot read its bytes, the verification ends with the error of the read. All other errors are
// findings of the report. For a checksum mismatch, the bit that explains it is searched (flipped.go).
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/verification"
	"github.com/amudai/amudai-go/shard/internal/readahead"
	"github.com/amudai/amudai-go/shard/internal/reference"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/verify/internal/flips"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Options are the options of [Verify].
type Options struct {
	VerifyOptions provider.VerifyOptions
	// Open has the options for opening the artifacts.
	Open shardfile.OpenOptions
	// MaxBlockBytes and MaxDictionaryBytes are limits as in [read.Options].
	MaxBlockBytes, MaxDictionaryBytes int64
}

// Verify checks the consistency of a shard: every checksum and reference, and counts, block maps, statistics,
// constants, dictionaries with their order, filters, sketches, range indexes and indexes against the values. The report has
// all findings. An error means that there is no report: the shard does not exist, a read failed, or ctx ended.
func Verify(ctx context.Context, location string, o Options) (*provider.Report, error) {
	v, err := newVerifier(o)
	if err != nil {
		return nil, err
	}
	f, err := shardfile.Open(ctx, location, o.Open)
	if err != nil {
		if !fault.Is(err) {
			return nil, err
		}
		return v.Report(v.problem(v.explainOpen(ctx, location, err)))
	}
	defer f.Close()
	all, err := f.Shards(ctx)
	if err != nil || o.Open.Directory != nil {
		all = nil // an error is found with the properties
	}
	if len(all) > 1 {
		v.Note(fmt.Errorf("the artifact holds %d shards, of which the last is opened by default", len(all)))
	}
	err = v.run(ctx, f)
	for i := 0; i < len(all)-1 && err == nil; i++ {
		err = v.other(ctx, location, all[i])
	}
	return v.Report(err)
}

// other checks another shard of the artifact.
func (v *verifier) other(ctx context.Context, location string, directory shardfile.Range) error {
	o := v.o.Open
	o.Directory = &directory
	f, err := shardfile.Open(ctx, location, o)
	if err != nil {
		return v.found(err)
	}
	defer f.Close()
	return v.run(ctx, f)
}

func newVerifier(o Options) (*verifier, error) {
	// Columns are top-level columns, counted once. Values are those at all levels of nesting, nulls included. Descriptors are those whose
	// statistics are compared with the values.
	f, err := verification.Begin(o.VerifyOptions, "stripe", "column", "message", "buffer", "block", "value", "constant", "dictionary", "range index",
		"index", "filter", "sketch", "descriptor")
	if err = cmp.Or(err,
		option.SetDefault("OpenOptions.MaxBlockBytes", &o.MaxBlockBytes, 0), // the stripe's
		option.SetDefault("OpenOptions.MaxDictionaryBytes", &o.MaxDictionaryBytes, 0),
	); err != nil {
		return nil, err
	}
	v := &verifier{Findings: f, o: o, seen: map[place]bool{}}
	v.references = reference.NewFiles(v.columns)
	return v, nil
}

// verifier is a verification in progress.
type verifier struct {
	*verification.Findings
	o          Options
	file       *shardfile.File
	table      *shardtable.Table
	schema     *schema.Schema
	ids        []uint32          // of all nodes, in depth-first order
	paths      map[uint32]string // of nodes
	ours       bool              // the edition is unknown to the reference
	declared   bool              // the shard declares an edition and features, all of which are known
	flips      flips.Search
	budget     *budget
	unbound    atomic.Int64 // buffers without checksums in their descriptors
	references *reference.Files

	mu   sync.Mutex
	seen map[place]bool // places with problems, so that none is reported twice
}

type place struct {
	artifact string
	offset   int64
}

// problem adds a problem, unless there is one of the same place.
func (v *verifier) problem(err error) error {
	var e *fault.Error
	if errors.As(err, &e) && e.Offset >= 0 {
		v.mu.Lock()
		defer v.mu.Unlock()
		p := place{e.Artifact, e.Offset}
		if v.seen[p] {
			return nil
		}
		v.seen[p] = true
	}
	return v.Problem(err)
}

// found classifies an error: a failed read ends the verification, any other error is a problem. Parts beyond a limit, and what this version
// does not know in a shard of an edition that it does not know either, are not checked. In a known edition, an unknown code is damage.
func (v *verifier) found(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fault.ErrLimit) || errors.Is(err, fault.ErrUnsupported) && !v.declared:
		v.Unchecked(err)
		return nil
	case isDamage(err):
		return v.problem(err)
	}
	return err
}

// isDamage tells what is wrong with a shard, perhaps an artifact that is missing, from a read that failed.
func isDamage(err error) bool { return fault.Is(err) || errors.Is(err, fs.ErrNotExist) }

// enough ends the verification because of a limit.
func (v *verifier) enough(err error) error {
	if errors.Is(err, fault.ErrLimit) {
		v.Unchecked(err)
		return verification.ErrEnough
	}
	return v.found(err)
}

// run checks a shard.
func (v *verifier) run(ctx context.Context, f *shardfile.File) error {
	v.file, v.budget, v.ids, v.declared = f, newBudget(f), nil, false
	if p, err := v.file.Properties(ctx); err == nil { // an error is found with the messages
		v.declared = declares(p)
	}
	s, err := v.file.Schema(ctx)
	if err == nil {
		v.setSchema(s)
	}
	if err := checkSize(v.file, len(v.ids)); err != nil {
		return v.enough(err)
	}
	if err := v.messages(ctx); err != nil {
		return err
	}
	if err != nil {
		return v.found(err)
	}
	if err := v.found(fault.In(s.Check(), "schema", -1)); err != nil {
		return err
	}
	if err := v.root(ctx); err != nil {
		return err
	}
	v.Count("stripe", int64(v.file.NumStripes()))
	v.Count("column", int64(s.NumFields()))
	if err := v.stripes(ctx); err != nil {
		return err
	}
	if n := v.unbound.Load(); v.Options.Quick && n > 0 {
		v.Unchecked(fmt.Errorf("%d buffers have no checksums in their descriptors, so that bytes of other buffers in their places are not found", n))
	}
	return v.indexes(ctx)
}

func (v *verifier) setSchema(s *schema.Schema) {
	v.schema, v.table = s, shardtable.New(v.file, s, shardtable.Options{MaxBlockBytes: v.o.MaxBlockBytes, MaxDictionaryBytes: v.o.MaxDictionaryBytes})
	v.paths = map[uint32]string{}
	_ = s.Walk(func(path string, n schema.Node) error { // Check reports the errors
		v.ids = append(v.ids, n.ID())
		v.paths[n.ID()] = path
		return nil
	})
}

// stripes checks all stripes, several columns at a time.
func (v *verifier) stripes(ctx context.Context) error {
	merged := &merger{v: v, fields: map[uint32]*shardpb.FieldDescriptor{}}
	ahead, err := v.ahead(ctx)
	if err != nil {
		return err
	}
	defer v.file.Hold(nil)
	for i := range v.file.NumStripes() {
		if err := v.stripe(ctx, ahead, v.file.Stripe(i)); err != nil {
			return err
		}
		if err := merged.add(ctx, v.file.Stripe(i)); err != nil {
			return err
		}
	}
	return merged.compare(ctx)
}

// ahead reads ahead of the checks of all stripes.
func (v *verifier) ahead(ctx context.Context) (*readahead.Ahead, error) {
	all := make([]*shardfile.Stripe, v.file.NumStripes())
	for i := range all {
		all[i] = v.file.Stripe(i)
	}
	return readahead.New(ctx, v.file, all, v.ids, v.schema.NumFields(), v.ranges)
}

func (v *verifier) ranges(ctx context.Context, dst []storage.ByteRange, s *shardfile.Stripe, i int) ([]storage.ByteRange, error) {
	n, err := v.schema.Field(i)
	if err != nil || v.Options.MetadataOnly {
		return dst, err
	}
	col, err := arrowmap.ColumnOf(n, storedTypes)
	if err != nil {
		return dst, nil // which the check of the column finds
	}
	return blocks.RangesToOpen(ctx, dst, s, col, blocks.All, math.MaxInt64)
}

// stripe checks the columns of a stripe.
func (v *verifier) stripe(ctx context.Context, ahead *readahead.Ahead, s *shardfile.Stripe) (err error) {
	fields := v.schema.NumFields()
	v.budget.nextStripe()
	for from, end := 0, 0; from < fields && err == nil; from = end {
		if end, err = ahead.Next(ctx, s.Index(), from); err != nil {
			break
		}
		err = parallel.Each(ctx, end-from, v.Options.Parallelism, func(ctx context.Context, i int) (err error) {
			defer fault.Recover(&err)
			if err := v.column(ctx, s, from+i); err != nil {
				return err
			}
			v.Done(v.file.NumStripes() * fields)
			return nil
		})
	}
	if err == nil && !v.Options.MetadataOnly {
		_, err = v.table.Stripe(s.Index()).Visible(ctx)
		err = v.found(fault.InStripe(err, s.Index()))
	}
	return cmp.Or(err, ctx.Err())
}

// storedTypes reads values without conversion.
var storedTypes = arrowmap.ReadOptions{
	IgnoreAnnotations: true, Decimals: arrowmap.DecimalsRaw, DateTimes: arrowmap.TicksRaw,
	TimeSpans: arrowmap.TicksRaw, Dynamics: arrowmap.DynamicsRaw,
}

// column checks a top-level field in one stripe, and all fields below it.
func (v *verifier) column(ctx context.Context, s *shardfile.Stripe, i int) error {
	n, err := v.schema.Field(i)
	if err != nil {
		return v.found(err)
	}
	col, err := arrowmap.ColumnOf(n, storedTypes)
	if err != nil {
		return v.found(fault.InStripe(err, s.Index()))
	}
	c := &columnCheck{v: v, stripe: s}
	if d, err := s.Descriptor(ctx, n.ID()); err == nil && stripe.ParquetEncoding(d) != nil {
		if err := c.external(ctx, n); err != nil || stripe.NativeEncoding(d) == nil {
			return err
		}
	}
	ok, err := c.buffers(ctx, &col, schema.Escape(n.Name()))
	if err != nil || !ok {
		return err
	}
	if v.Options.MetadataOnly || v.Options.Quick {
		return c.positions(ctx, &col)
	}
	return c.values(ctx, &col)
}

// positions checks that a column has one position for each row. Reading its values would also find that.
func (c *columnCheck) positions(ctx context.Context, col *arrowmap.Column) error {
	d, err := c.stripe.Descriptor(ctx, col.ID)
	if err != nil || d == nil || d.Field.PositionCount == uint64(c.stripe.Rows()) {
		return c.v.found(err)
	}
	err = fault.Corruptf("descriptor counts %d positions, expected %d", d.Field.PositionCount, c.stripe.Rows())
	return c.v.found(c.in(err, schema.Escape(col.Stored.Name)))
}

// FlippedBit is a checksum mismatch that a single bit explains: if it is flipped back, the bytes match their checksum.
type FlippedBit struct {
	Artifact string // location of the file or object
	Offset   int64  // offset of the byte
	Bit      int    // 0 is the least significant
	Err      error  // the mismatch
}

// Error implements error. It names the byte and the bit, too.
func (f *FlippedBit) Error() string {
	return fmt.Sprintf("%v; flipping bit %d of the byte at offset %d repairs it", f.Err, f.Bit, f.Offset)
}

// Unwrap returns the mismatch.
func (f *FlippedBit) Unwrap() error { return f.Err }
