// Package root has the root of a shard as a value: its schema and properties, references to its stripes, and its indexes. A change of a shard
// is a plan, which makes another root of the one there is and writes nothing. [Publish] writes a root to a new shard, with copies of the data.
// [Replace] publishes one in the place of another, and refers to the data where they are.
package root

import (
	"context"
	"slices"
	"time"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// Root is the root of a shard. Its files stay open as long as it is used. What it refers to is shared by all roots and must not be changed.
type Root struct {
	Schema  *schema.Schema
	Edition edition.Edition
	// Standard and Custom are the properties; nil standard ones mean those of a new shard. The history is not among them: it is that of a location, and does not go
	// with copies.
	Standard, Custom []shardfile.Property
	// Created is when the oldest and the newest data were written; zero if that is not known.
	Created [2]time.Time
	Stripes []Stripe
	Indexes []Index // of the rows of all stripes

	// Own has [Refer] copy single-file shards beside themselves where their store has no links, so that they may change.
	Own bool
	// Change says what is changed, for the history of the shard that the root replaces one of; Keep which versions are kept from now on, nil for those so
	// far. Both are of roots for [Replace] only.
	Change string
	Keep   *History

	// Moved are URLs of artifacts that have others from now on, and have been copied there. Copy says which bytes are copied while the root is written, as that of
	// [shardwriter.Links], of roots for [Replace] only. It may be nil.
	Moved map[string]string
	Copy  func(f shardwriter.Field, r storage.Reader) (folder string)
}

// Stripe is a stripe of a root: fields of stored stripes of any shards, and fields that are built when the root is written.
type Stripe struct {
	// Of is the stored stripe that has the records; nil if all fields are built.
	Of *shardfile.Stripe
	// Fields says where the fields are, by schema id of the root. Nil means those of Of with the same ids.
	Fields []shardwriter.Field
	Build  Build // makes the fields that are not stored; may be nil
	// Stream builds any number of stripes, in the place of all that is above, and gives each to add, which releases it.
	Stream func(ctx context.Context, add func(*stripe.Finished, shardwriter.StripeOptions) error) error
	// Deleted is the number of records that are marked as deleted.
	Deleted uint64
	Indexes []Index // of its rows
}

// Build makes fields of a stripe, by the ids of their own schema. They may come with others that nothing refers to.
type Build func(context.Context) (*stripe.Finished, error)

// Index is an index of a root. It is stored, or is built when the root is written.
type Index struct {
	// Descriptor describes a stored index. Its references are those of File and of its stripe with a number, or of all of File with fault.None.
	Descriptor *shardpb.IndexDescriptor
	File       *shardfile.File
	Stripe     int
	// Build is for one that is not stored. It returns nil if the root is to lack the index.
	Build func(context.Context) (*indexing.Built, error)
}

// New is a root without stripes, with the properties of a shard. Without standard properties, the shard is of the edition of the reference.
func New(s *schema.Schema, p *shardpb.ShardProperties) (Root, error) {
	r := Root{Schema: s, Edition: edition.Reference,
		Standard: shardfile.Without(shardfile.PropertiesFromProto(p.StandardProperties), shardfile.PropertyHistory), Custom: shardfile.PropertiesFromProto(p.CustomProperties)}
	if first := p.CreationMin.GetTicks(); first != 0 {
		r.Created = [2]time.Time{shardfile.Time(first), shardfile.Time(max(p.CreationMax.GetTicks(), first))}
	}
	if v := shardfile.Find(r.Standard, shardfile.PropertyEdition); v != nil {
		var err error
		name, _ := v.(string)
		if r.Edition, err = edition.Parse(name); err != nil {
			return r, fault.Unsupportedf("a shard of edition %q", name)
		}
	}
	return r, nil
}

// WithEdition is the root with stripes that are built in another edition.
func (r Root) WithEdition(e edition.Edition) Root {
	r.Edition = e
	r.Standard = append(shardfile.Without(r.Standard, shardfile.PropertyEdition), shardfile.Property{Name: shardfile.PropertyEdition, Value: e.String()})
	return r
}

// Of is the root of a shard.
func Of(ctx context.Context, f *shardfile.File) (Root, error) {
	s, err := f.Schema(ctx)
	if err != nil {
		return Root{}, err
	}
	p, err := f.Properties(ctx)
	if err != nil {
		return Root{}, err
	}
	r, err := New(s, p)
	if err != nil {
		return r, err
	}
	for i := range f.NumStripes() {
		s := f.Stripe(i)
		m, err := s.Indexes(ctx)
		if err != nil {
			return r, err
		}
		r.Stripes = append(r.Stripes, Stripe{Of: s, Deleted: s.Directory().DeletedRecordCount, Indexes: stored(f, i, m)})
	}
	m, err := f.Indexes(ctx)
	r.Indexes = stored(f, fault.None, m)
	return r, err
}

func stored(f *shardfile.File, stripe int, m *shardpb.IndexCollection) (all []Index) {
	for _, d := range m.GetIndexDescriptors() {
		all = append(all, Index{Descriptor: d, File: f, Stripe: stripe})
	}
	return all
}

// WithIndexes is the root with other indexes: change is called with those of the whole shard and fault.None, then with those of each stripe and its
// number. It may change the slice.
func (r Root) WithIndexes(change func(stripe int, all []Index) ([]Index, error)) (_ Root, err error) {
	if r.Indexes, err = change(fault.None, slices.Clone(r.Indexes)); err != nil {
		return r, err
	}
	r.Stripes = slices.Clone(r.Stripes)
	for i, s := range r.Stripes {
		if r.Stripes[i].Indexes, err = change(i, slices.Clone(s.Indexes)); err != nil {
			return r, err
		}
	}
	return r, nil
}
