// Package indexing builds indexes of shards (package index): while a shard is written, for one that exists, and to check one.
package indexing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// Definition says what index to build.
type Definition struct {
	// Type is the type of the index, by default that of compact term indexes.
	Type string
	// Columns are the paths of the columns, each a field of the index.
	Columns []string
	// Together makes one field of all columns, if the type allows it: it finds the rows by the values of all.
	Together bool
	// Properties are parameters, which the type defines.
	Properties []shardfile.Property
	// PerStripe builds an index of each stripe, instead of one of the shard. It goes with the stripe when that is copied.
	PerStripe bool
}

// Plan is an index that can be built of a table.
type Plan struct {
	Kind       index.Kind
	Descriptor *shardpb.IndexDescriptor // without artifacts
	Columns    []string
	PerStripe  bool

	schema *arrow.Schema // of the batches that Add takes
	parts  []*projection.Projection
	fields []arrow.Field // of the index's columns
}

// New plans an index of a shard with a stored schema, from batches of an Arrow schema.
func New(stored *schema.Schema, s *arrow.Schema, d Definition) (*Plan, error) {
	if d.Type == "" {
		d.Type = index.Kinds[0].Type()
	}
	p := &Plan{Kind: index.ByType(d.Type), Columns: d.Columns, PerStripe: d.PerStripe}
	if p.Kind == nil {
		return nil, fault.Unsupportedf("index of the type %q", d.Type)
	}
	if len(d.Columns) == 0 {
		return nil, errors.New("an index needs a column")
	}
	p.Descriptor = &shardpb.IndexDescriptor{IndexType: d.Type}
	var err error
	if p.Descriptor.Properties, err = shardfile.PropertiesToProto(d.Properties); err != nil {
		return nil, err
	}
	for _, path := range d.Columns {
		nodes, err := stored.PathNodes(path)
		if err != nil {
			return nil, err
		}
		id := nodes[len(nodes)-1].ID()
		if fields := p.Descriptor.IndexedFields; d.Together && len(fields) > 0 {
			fields[0].SchemaIds = append(fields[0].SchemaIds, id)
			continue
		}
		p.Descriptor.IndexedFields = append(p.Descriptor.IndexedFields, &shardpb.IndexedField{SchemaIds: []uint32{id}})
	}
	return p, p.check(s)
}

// Of is the plan to build an index of a description anew.
func Of(stored *schema.Schema, s *arrow.Schema, kind index.Kind, d *shardpb.IndexDescriptor) (*Plan, error) {
	p := &Plan{Kind: kind, Descriptor: &shardpb.IndexDescriptor{IndexType: d.IndexType, Properties: d.Properties, IndexedFields: d.IndexedFields}}
	for _, f := range d.IndexedFields {
		for _, id := range f.SchemaIds {
			path, err := PathOf(stored, id)
			if err != nil {
				return nil, err
			}
			p.Columns = append(p.Columns, path)
		}
	}
	return p, p.check(s)
}

var errFound = errors.New("found")

// PathOf is the path of the node with a schema id.
func PathOf(s *schema.Schema, id uint32) (path string, err error) {
	err = s.Walk(func(at string, n schema.Node) error {
		if n.ID() != id {
			return nil
		}
		path = at
		return errFound
	})
	switch err {
	case errFound:
		return path, nil
	case nil:
		return "", fault.Corruptf("index of schema id %d, which there is not", id)
	}
	return "", err
}

// project prepares the plan for batches of a schema.
func (p *Plan) project(s *arrow.Schema) error {
	p.schema, p.parts = s, nil
	for _, path := range p.Columns {
		f, err := projection.New(s, []string{path})
		if err != nil {
			return err
		}
		p.parts = append(p.parts, f)
	}
	return nil
}

// check asks the kind whether it can index the columns, and completes the description.
func (p *Plan) check(s *arrow.Schema) error {
	if err := p.project(s); err != nil {
		return err
	}
	for _, part := range p.parts {
		p.fields = append(p.fields, part.Schema().Field(0))
	}
	if err := p.Kind.Check(p.Descriptor, p.fields); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(p.Columns, ", "), err)
	}
	return nil
}

// Add gives rows to a builder: the whole columns of the schema.
func (p *Plan) Add(b index.Builder, first int64, columns []arrow.Array, rows int) error {
	parts := make([]arrow.Array, len(p.parts))
	for i, p := range p.parts {
		part, err := p.Batch([]arrow.Array{columns[p.Index(0)]}, int64(rows))
		if err != nil {
			return err
		}
		defer part.Release()
		parts[i] = part.Column(0)
	}
	return b.Add(first, parts)
}

// Options are the options of [Plan.Build].
type Options struct {
	Parallelism int    // builders side by side, by default GOMAXPROCS
	Memory      int64  // bytes of all builders, by default DefaultMemory
	TempDir     string // folder of temporary files
	// Progress is called after each batch, by one goroutine at a time. It may be nil.
	Progress func(done, total int64)
}

// DefaultMemory is the default of Options.Memory.
const DefaultMemory = 64 << 20

// Built is an index that was built: its description without artifacts, and these by name, in order. The caller closes it.
type Built struct {
	Descriptor *shardpb.IndexDescriptor
	Names      []string
	Spools     []*storage.Spool
}

// Ranges are the bytes of the artifacts.
func (a *Built) Ranges() (out []storage.ByteRange) {
	for i, s := range a.Spools {
		out = append(out, storage.ByteRange{Reader: storage.FromSpool(a.Names[i], s), Size: s.Size()})
	}
	return out
}

// Close removes temporary files.
func (a *Built) Close() error { return seq.CloseAll(a.Spools) }

// artifactMemory is the memory for artifacts, beyond which they are in temporary files.
const artifactMemory = 4 << 20

// NewBuilder returns a builder, one of several.
func (p *Plan) NewBuilder(o Options, of int) (index.Builder, error) {
	return p.Kind.NewBuilder(p.Descriptor, p.fields, o.build(of))
}

// build are the options of a builder, one of several.
func (o Options) build(of int) index.BuildOptions {
	return index.BuildOptions{
		Memory: cmp.Or(o.Memory, DefaultMemory) / int64(of),
		Spool:  func() *storage.Spool { return storage.NewSpool(storage.NewBudget(1<<20), o.TempDir) },
	}
}

// Write makes the artifacts of builders, which have consecutive rows, and closes these. The description of the index has its identity.
func (p *Plan) Write(ctx context.Context, rows int64, builders []index.Builder, o Options) (*Built, error) {
	a, err := p.write(ctx, rows, o, func(create func(string) io.Writer) error {
		return p.Kind.Write(ctx, p.Descriptor, index.WriteOptions{Rows: rows, TempDir: o.TempDir}, builders, create)
	})
	if err = errors.Join(err, seq.CloseAll(builders)); err != nil && a != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, err
}

// write makes artifacts, and opens the index for its identity.
func (p *Plan) write(ctx context.Context, rows int64, o Options, write func(create func(name string) io.Writer) error) (*Built, error) {
	a, budget := &Built{Descriptor: proto.CloneOf(p.Descriptor)}, storage.NewBudget(artifactMemory)
	err := write(func(name string) io.Writer {
		s := storage.NewSpool(budget, o.TempDir)
		a.Names, a.Spools = append(a.Names, name), append(a.Spools, s)
		return s
	})
	var x index.Index
	if err == nil {
		x, err = p.Kind.Open(ctx, p.Descriptor, a.Ranges(), rows)
	}
	if err == nil {
		err = index.Identify(a.Descriptor, x)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Build builds the index of some rows of a table, hidden ones included. Rows of the index are counted from the first of them.
func (p *Plan) Build(ctx context.Context, t table.Table, rows rowset.Range, o Options) (a *Built, err error) {
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	n := int(max(min(int64(o.Parallelism), rows.Len()/(8*scan.DefaultBatchRows)), 1))
	builders := make([]index.Builder, n)
	count := o.counter(rows.Len())
	for k := range n {
		if builders[k], err = p.NewBuilder(o, n); err != nil {
			return nil, errors.Join(err, seq.CloseAll(builders))
		}
	}
	if err := parallel.Each(ctx, n, n, func(ctx context.Context, k int) error {
		part := rowset.Range{From: rows.From + int64(k)*rows.Len()/int64(n), To: rows.From + int64(k+1)*rows.Len()/int64(n)}
		return p.buildPart(ctx, t, builders[k], part, rows.From, count)
	}); err != nil {
		return nil, errors.Join(err, seq.CloseAll(builders))
	}
	return p.Write(ctx, rows.Len(), builders, o)
}

// counter returns a function that counts rows, and tells Progress of them.
func (o Options) counter(total int64) func(rows int64) {
	if o.Progress == nil {
		return func(int64) {}
	}
	var mu sync.Mutex
	done := int64(0)
	return func(rows int64) {
		mu.Lock()
		defer mu.Unlock()
		done += rows
		o.Progress(done, total)
	}
}

func (p *Plan) buildPart(ctx context.Context, t table.Table, b index.Builder, rows rowset.Range, first int64, count func(int64)) error {
	if rows.Len() == 0 {
		return nil
	}
	at := rows.From - first
	own := *p
	for batch, err := range scan.Scan(ctx, table.WithHidden(t), scan.Options{Columns: p.Columns, Rows: []rowset.Range{rows}, Parallelism: 1, Reuse: true}) {
		if err != nil {
			return err
		}
		if own.schema != batch.Schema() {
			if err := own.project(batch.Schema()); err != nil {
				return err
			}
		}
		if err := own.Add(b, at, batch.Columns(), int(batch.NumRows())); err != nil {
			return err
		}
		at += batch.NumRows()
		count(batch.NumRows())
	}
	return nil
}

// Part is a stored index of some rows, such as those of a stripe, or of a shard that becomes part of another.
type Part struct {
	Descriptor *shardpb.IndexDescriptor // with the schema ids of the plan
	Artifacts  []storage.ByteRange
	Rows       int64
}

// Join makes the index of the rows of all parts, one after the other, without reading any of these. The error wraps [index.ErrCannotJoin] if that is not possible, because the kind of
// index cannot be joined, parts are of other definitions, or do not know enough; then the index is to be built. Other errors tell that a part is damaged, and
// which. All parts are open at once.
func (p *Plan) Join(ctx context.Context, parts []Part, o Options) (*Built, error) {
	kind, ok := p.Kind.(index.Joiner)
	if !ok {
		return nil, fmt.Errorf("%s: %w", p.Kind.Type(), index.ErrCannotJoin)
	}
	rows, segments := int64(0), make([]index.Segment, len(parts))
	for i, part := range parts {
		if !index.SameDefinition(p.Descriptor, part.Descriptor) {
			return nil, fmt.Errorf("%s: part %d has another definition: %w", p.Kind.Type(), i, index.ErrCannotJoin)
		}
		segments[i].First = rows
		rows += part.Rows
	}
	err := parallel.Each(ctx, len(parts), cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0)), func(ctx context.Context, i int) (err error) {
		segments[i].Index, err = p.openPart(ctx, parts[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.write(ctx, rows, o, func(create func(string) io.Writer) error {
		return kind.Join(ctx, p.Descriptor, index.JoinOptions{Rows: rows, BuildOptions: o.build(1)}, segments, create)
	})
}

func (p *Plan) openPart(ctx context.Context, part Part) (index.Index, error) {
	x, err := p.Kind.Open(ctx, part.Descriptor, part.Artifacts, part.Rows)
	if err == nil {
		err = index.CheckIdentity(part.Descriptor, x)
	}
	if err != nil && len(part.Artifacts) == 1 {
		err = fault.Of(err, part.Artifacts[0].Reader.Name())
	}
	return x, fault.In(err, p.Kind.Type(), -1)
}
