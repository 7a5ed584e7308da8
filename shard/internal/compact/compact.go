// Package compact plans roots with stripes that are written anew: with the visible rows of some stripes that there are, perhaps in another order. The rows are
// read and encoded while the root is written.
package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/sortkeys"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// Options are the options of a plan.
type Options struct {
	Stripes     []int
	Sort        string
	Cluster     string
	Encoding    encoding.Options
	StripeRows  int64
	StripeBytes int64
	Upgrade     bool
	Memory      int64 // bytes
	TempDir     string
	Parallelism int
	Progress    func(done, total int64)
	Sizes       bool  // of the stripes that stay are told, too
	Again       *Plan // that was made for the root before another writer replaced it; nil if none was
}

// DefaultMemory is the memory of a compaction by default.
const DefaultMemory = 256 << 20

// Plan is a root with some stripes written anew.
type Plan struct {
	Root   root.Root
	Chosen []int // stripes that are written anew
	// Indexes and StripeIndexes are definitions of indexes, of the whole shard and of stripes that are written anew, which the root lacks.
	Indexes, StripeIndexes []*shardpb.IndexDescriptor

	before          int     // stripes
	counts          []int64 // of their rows
	rows, deleted   int64   // of the chosen stripes
	kept, replaced  int64   // bytes of the data of stripes
	written         int64
	estimate, built int // new stripes
}

// New plans a root of that of a shard.
func New(ctx context.Context, t *shardtable.Table, r root.Root, o Options) (*Plan, error) {
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	p := &Plan{Root: r, before: len(r.Stripes)}
	for _, s := range r.Stripes {
		p.counts = append(p.counts, s.Of.Rows())
	}
	if o.Again != nil && o.Stripes != nil && !slices.Equal(p.counts, o.Again.counts) {
		return nil, fmt.Errorf("stripe %d is not what it was", o.Stripes[0])
	}
	var err error
	if p.Chosen, err = o.choose(r.Stripes); err != nil || len(p.Chosen) == 0 {
		return p, err
	}
	if err := p.measure(ctx, r, o.Sizes); err != nil {
		return nil, err
	}
	b := &builder{o: o, table: t, plan: p, features: r.Features()}
	if by := cmp.Or(o.Sort, o.Cluster); by != "" {
		if b.keys, err = sortkeys.Parse(by); err != nil {
			return nil, fmt.Errorf("the order of the rows: %w", err)
		}
	}
	switch n := len(b.keys); {
	case o.Cluster != "" && o.Sort != "":
		return nil, errors.New("rows are either sorted or clustered: they have one order")
	case o.Cluster != "" && (n < 2 || n > mostClustered):
		return nil, fmt.Errorf("rows are clustered by 2 to %d columns or expressions, and not by %d", mostClustered, n)
	}
	if err := b.prepare(ctx, r.Schema); err != nil {
		return nil, err
	}
	p.replace(r, b)
	return p, nil
}

// measure counts the rows and bytes of stripes.
func (p *Plan) measure(ctx context.Context, r root.Root, sizes bool) error {
	for i, s := range r.Stripes {
		chosen := slices.Contains(p.Chosen, i)
		if chosen {
			p.rows += shown(s)
			p.deleted += int64(s.Deleted)
		}
		if !sizes && !chosen {
			continue
		}
		size, _, err := sizeOf(ctx, s, r.Schema.IDCount())
		if err != nil {
			return err
		}
		if chosen {
			p.replaced += size
		} else {
			p.kept += size
		}
	}
	return nil
}

// shown is the number of rows of a stripe that are not deleted.
func shown(s root.Stripe) int64 { return s.Of.Rows() - int64(s.Deleted) }

// sizeOf is the number of bytes of the buffers of a stripe, and whether it has others in Parquet files. Those that several fields have in common count for each.
func sizeOf(ctx context.Context, s root.Stripe, ids uint32) (size int64, external bool, err error) {
	for id := range ids {
		d, err := s.Of.Descriptor(ctx, id)
		if err != nil {
			return 0, false, err
		}
		external = external || slices.ContainsFunc(d.GetEncodings(), func(e *shardpb.DataEncoding) bool { return e.GetParquet() != nil })
		size += stripe.NativeBytes(d)
	}
	return size, external, nil
}

// replace puts new stripes into the places of the chosen ones.
func (p *Plan) replace(r root.Root, b *builder) {
	p.Root.Stripes = nil
	for i := 0; i < len(r.Stripes); i++ {
		switch k := slices.Index(p.Chosen, i); {
		case k < 0:
			p.Root.Stripes = append(p.Root.Stripes, r.Stripes[i])
		case len(b.keys) > 0 && k == 0:
			p.Root.Stripes = append(p.Root.Stripes, p.run(r, b, p.Chosen))
		case len(b.keys) == 0 && (k == 0 || p.Chosen[k-1] != i-1):
			end := k + 1
			for end < len(p.Chosen) && p.Chosen[end] == p.Chosen[end-1]+1 {
				end++
			}
			p.Root.Stripes = append(p.Root.Stripes, p.run(r, b, p.Chosen[k:end]))
		}
	}
	if p.deleted > 0 || len(b.keys) > 0 {
		p.Indexes, p.Root.Indexes = addDefinitions(nil, r.Indexes), nil
	}
	if len(p.Chosen) == len(r.Stripes) { // the features are those of the new stripes
		p.Root.Standard = shardfile.Without(r.Standard, shardfile.PropertyFeatures)
	}
	if b.o.Upgrade && r.Edition == edition.Reference {
		p.Root = p.Root.WithEdition(edition.E2026)
	}
	b.edition = p.Root.Edition
}

// run is a stream of stripes with the rows of some.
func (p *Plan) run(r root.Root, b *builder, stripes []int) root.Stripe {
	rows := int64(0)
	for _, i := range stripes {
		rows += shown(r.Stripes[i])
		p.StripeIndexes = addDefinitions(p.StripeIndexes, r.Stripes[i].Indexes)
	}
	p.estimate += int((rows + b.o.StripeRows - 1) / b.o.StripeRows)
	return root.Stripe{Stream: b.stream(r, stripes, func(ctx context.Context, w *writer) error {
		if b.by != nil {
			return b.sorted(ctx, stripes, w)
		}
		return b.scan(ctx, scan.Options{Stripes: stripes}, func(batch arrow.RecordBatch) error { return w.write(ctx, batch) })
	})}
}

// choose are the stripes that are written anew, in order.
func (o *Options) choose(all []root.Stripe) (chosen []int, err error) {
	if o.Stripes != nil {
		for _, i := range o.Stripes {
			if i < 0 || i >= len(all) {
				return nil, fmt.Errorf("there is no stripe %d: the shard has %d, numbered from 0", i, len(all))
			}
		}
		chosen = slices.Clone(o.Stripes)
		slices.Sort(chosen)
		return slices.Compact(chosen), nil
	}
	every := o.Sort != "" || o.Cluster != "" || o.Encoding != (encoding.Options{}) || o.Upgrade
	for i, s := range all {
		few := o.few(s) && (i > 0 && o.few(all[i-1]) || i+1 < len(all) && o.few(all[i+1]))
		if every || few || s.Deleted > 0 && 5*int64(s.Deleted) >= s.Of.Rows() {
			chosen = append(chosen, i)
		}
	}
	return chosen, nil
}

// few reports whether a stripe with another one like it has room in one.
func (o *Options) few(s root.Stripe) bool {
	return 2*shown(s) <= o.StripeRows && 2*int64(min(s.Of.Directory().GetRawDataSize(), 1<<62)) <= o.StripeBytes
}

// common are the properties that several stripes, or a field of them, have in common.
type common struct {
	custom, standard []*commonpb.NameValuePair
	fields           map[uint32]common // by schema id
}

// commonOf are the properties that stored stripes of a root have in common.
func commonOf(ctx context.Context, r root.Root, stripes []int) (c common, err error) {
	c.fields = map[uint32]common{}
	for k, i := range stripes {
		s := r.Stripes[i].Of
		p, err := s.Properties(ctx)
		if err != nil {
			return c, err
		}
		c = c.and(k == 0, p.CustomProperties, p.StandardProperties)
		for id := range r.Schema.IDCount() {
			if _, ok := c.fields[id]; !ok && k > 0 {
				continue
			}
			d, err := s.Descriptor(ctx, id)
			if err != nil {
				return c, err
			}
			f := c.fields[id].and(k == 0, d.GetField().GetCustomProperties(), d.GetField().GetStandardProperties())
			if delete(c.fields, id); len(f.custom)+len(f.standard) > 0 {
				c.fields[id] = f
			}
		}
	}
	return c, nil
}

// and are the properties that more have, too.
func (c common) and(first bool, custom, standard []*commonpb.NameValuePair) common {
	if first {
		c.custom, c.standard = custom, standard
		return c
	}
	c.custom, c.standard = inBoth(c.custom, custom), inBoth(c.standard, standard)
	return c
}

func inBoth(a, b []*commonpb.NameValuePair) []*commonpb.NameValuePair {
	return slices.DeleteFunc(slices.Clone(a), func(p *commonpb.NameValuePair) bool {
		return !slices.ContainsFunc(b, func(q *commonpb.NameValuePair) bool { return proto.Equal(p, q) })
	})
}

// of gives the properties to a stripe.
func (c common) of(f *stripe.Finished) shardwriter.StripeOptions {
	for i := range f.Nodes {
		if p, ok := c.fields[f.Nodes[i].ID]; ok {
			f.Nodes[i].Field.CustomProperties, f.Nodes[i].Field.StandardProperties = p.custom, p.standard
		}
	}
	return shardwriter.StripeOptions{
		Properties: shardfile.PropertiesFromProto(c.custom), Standard: shardfile.PropertiesFromProto(c.standard), Features: f.Features,
	}
}
