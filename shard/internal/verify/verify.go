// Package verify checks the consistency of a shard, and recovers the complete stripes of a damaged one.
//
//	messages ─ frames and checksums of all metadata        messages.go
//	root     ─ header, urls, properties, sums               root.go
//	columns  ─ block maps, blocks, dictionaries as bytes    buffers.go
//	values   ─ decoded, counted and compared with           values.go, ranges.go
//	           what descriptors and indexes say             stats.go
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
	"runtime"
	"slices"
	"sync"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// Options are the options of [Verify].
type Options struct {
	// Open has the options for opening the artifacts.
	Open shardfile.OpenOptions
	// MaxBlockBytes and MaxDictionaryBytes are limits as in [read.Options].
	MaxBlockBytes, MaxDictionaryBytes int64
	// MetadataOnly leaves out buffers and values.
	MetadataOnly bool
	// Quick reads all bytes and compares them with the tree of checksums, but decodes no values.
	Quick bool
	// MaxFindings is the number of problems to stop after, by default 100.
	MaxFindings int
	// Parallelism is the number of columns checked at a time, by default GOMAXPROCS.
	Parallelism int
	// Progress is called after each column of a stripe, by one goroutine at a time.
	Progress func(done, total int)
}

func (o *Options) setDefaults() error {
	return cmp.Or(
		option.SetDefault("option MaxFindings", &o.MaxFindings, 100),
		option.SetDefault("option Parallelism", &o.Parallelism, runtime.GOMAXPROCS(0)),
		option.SetDefault("option MaxBlockBytes", &o.MaxBlockBytes, 0), // the stripe's
		option.SetDefault("option MaxDictionaryBytes", &o.MaxDictionaryBytes, 0),
	)
}

// Finding is a result of [Verify].
type Finding struct {
	Err error       // names artifact, element and offset if they are known
	Bit *FlippedBit // explains a checksum mismatch; nil if no single bit does
}

// String returns the finding as one line.
func (f Finding) String() string {
	if f.Bit != nil {
		return fmt.Sprintf("%v; %v", f.Err, f.Bit)
	}
	return f.Err.Error()
}

// Report is the result of [Verify].
type Report struct {
	// Problems are damage and contradictions. A sound shard has none.
	Problems []Finding
	// Notes are findings that affect no value: known defects of the reference's writer, or parts that could not be
	// checked because they are beyond a limit, or of an edition that this version does not know.
	Notes []Finding
	// Unchecked is the number of notes about parts that could not be checked.
	Unchecked int
	// Truncated means that there are more problems than Options.MaxFindings.
	Truncated bool

	// Numbers of checked elements. Columns are top-level columns, counted once. Messages, buffers and blocks are
	// counted in all stripes.
	Stripes, Columns             int
	Messages, Buffers, Blocks    int
	Values                       int64 // at all levels of nesting, nulls included
	Dictionaries, RangeIndexes   int
	Indexes                      int // of the shard and of stripes
	Filters, Sketches, Constants int
	Statistics                   int // descriptors compared with the data
}

// OK reports whether the shard is sound: there are no problems, and everything that was asked for could be checked. If there are no problems
// either way, it is not fully checked.
func (r *Report) OK() bool { return len(r.Problems) == 0 && r.Unchecked == 0 }

// Verify checks the consistency of a shard: every checksum and reference, and counts, block maps, statistics,
// constants, dictionaries with their order, filters, sketches, range indexes and indexes against the values. The report has
// all findings. An error means that there is no report: the shard does not exist, a read failed, or ctx ended.
func Verify(ctx context.Context, location string, o Options) (*Report, error) {
	v, err := newVerifier(o)
	if err != nil {
		return nil, err
	}
	f, err := shardfile.Open(ctx, location, o.Open)
	if err != nil {
		if !fault.Is(err) {
			return nil, err
		}
		_ = v.problem(v.explainOpen(ctx, location, err)) // the first is never too many
		return v.report(), nil
	}
	defer f.Close()
	v.file, v.budget = f, newBudget(f)
	if err := v.run(ctx); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return v.report(), nil
}

func newVerifier(o Options) (*verifier, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	return &verifier{o: o, seen: map[place]bool{}}, nil
}

// errEnough ends a verification that has enough findings.
var errEnough = errors.New("enough problems")

// verifier is a verification in progress.
type verifier struct {
	o        Options
	file     *shardfile.File
	schema   *schema.Schema
	ids      []uint32          // of all nodes, in depth-first order
	paths    map[uint32]string // of nodes
	ours     bool              // the edition is unknown to the reference
	declared bool              // the shard declares an edition and features, all of which are known
	flips    flipSearch
	budget   *budget

	mu      sync.Mutex
	rep     Report
	unbound int            // buffers without checksums in their descriptors
	seen    map[place]bool // places with problems, so that none is reported twice
	done    int
}

type place struct {
	artifact string
	offset   int64
}

// problem adds a finding. Its error is errEnough if there are enough.
func (v *verifier) problem(f Finding) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var e *fault.Error
	if errors.As(f.Err, &e) && e.Offset >= 0 {
		p := place{e.Artifact, e.Offset}
		if v.seen[p] {
			return nil
		}
		v.seen[p] = true
	}
	if len(v.rep.Problems) >= v.o.MaxFindings {
		v.rep.Truncated = true
		return errEnough
	}
	v.rep.Problems = append(v.rep.Problems, f)
	return nil
}

// found classifies an error: a failed read ends the verification, any other error is a problem. Parts beyond a limit, and what this version
// does not know in a shard of an edition that it does not know either, are not checked. In a known edition, an unknown code is damage.
func (v *verifier) found(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fault.ErrLimit) || errors.Is(err, fault.ErrUnsupported) && !v.declared:
		v.unchecked(err)
		return nil
	case isDamage(err):
		return v.problem(Finding{Err: err})
	}
	return err
}

// isDamage tells what is wrong with a shard, perhaps an artifact that is missing, from a read that failed.
func isDamage(err error) bool { return fault.Is(err) || errors.Is(err, fs.ErrNotExist) }

// enough ends the verification because of a limit.
func (v *verifier) enough(err error) error {
	if errors.Is(err, fault.ErrLimit) {
		v.unchecked(err)
		return errEnough
	}
	return v.found(err)
}

// unchecked notes a part that could not be checked.
func (v *verifier) unchecked(err error) {
	v.note(fmt.Errorf("not checked: %w", err))
	v.count(func(r *Report) { r.Unchecked++ })
}

func (v *verifier) note(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rep.Notes = append(v.rep.Notes, Finding{Err: err})
}

// count adds to the numbers of the report.
func (v *verifier) count(f func(r *Report)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f(&v.rep)
}

// report returns the report, in an order that does not depend on the order of work.
func (v *verifier) report() *Report {
	r := v.rep
	for _, list := range [][]Finding{r.Problems, r.Notes} {
		slices.SortStableFunc(list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(offsetOf(a.Err), offsetOf(b.Err)), cmp.Compare(a.Err.Error(), b.Err.Error()))
		})
	}
	return &r
}

func offsetOf(err error) int64 {
	var e *fault.Error
	if errors.As(err, &e) {
		return e.Offset
	}
	return -1
}

func (v *verifier) run(ctx context.Context) error {
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
	v.rep.Stripes = v.file.NumStripes()
	v.rep.Columns = s.NumFields()
	if err := v.stripes(ctx); err != nil {
		return err
	}
	if v.o.Quick && v.unbound > 0 {
		v.unchecked(fmt.Errorf("%d buffers have no checksums in their descriptors, so that bytes of other buffers in their places are not found", v.unbound))
	}
	return v.indexes(ctx)
}

func (v *verifier) setSchema(s *schema.Schema) {
	v.schema = s
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
	for i := range v.file.NumStripes() {
		if err := v.stripe(ctx, v.file.Stripe(i)); err != nil {
			return err
		}
		if err := merged.add(ctx, v.file.Stripe(i)); err != nil {
			return err
		}
	}
	return merged.compare(ctx)
}

// stripe checks the columns of a stripe.
func (v *verifier) stripe(ctx context.Context, s *shardfile.Stripe) error {
	fields := v.schema.NumFields()
	v.budget.nextStripe()
	err := parallel.Each(ctx, fields, v.o.Parallelism, func(ctx context.Context, i int) (err error) {
		defer fault.Recover(&err)
		if err := v.column(ctx, s, i); err != nil {
			return err
		}
		v.progress(v.file.NumStripes() * fields)
		return nil
	})
	return cmp.Or(err, ctx.Err())
}

func (v *verifier) progress(total int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done++
	if v.o.Progress != nil {
		v.o.Progress(v.done, total)
	}
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
	ok, err := c.buffers(ctx, &col, schema.Escape(n.Name()))
	if err != nil || !ok {
		return err
	}
	if v.o.MetadataOnly || v.o.Quick {
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
