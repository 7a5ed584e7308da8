package root

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
)

// Column is a node of the schema of a root that changes.
type Column struct {
	schema.Field // Children are those below instead
	// ID is the schema id that the column has so far, or Missing: it is null until stripes say where it is.
	ID uint32
	// Built is the schema id among the fields that [Stripe.Build] makes, or Missing.
	Built    uint32
	Children []Column
}

// Missing is the id of a column that is not there.
const Missing = shardwriter.Missing

// Columns are the columns of the root.
func (r *Root) Columns() ([]Column, error) {
	budget := r.Schema.Budget()
	all := make([]Column, r.Schema.NumFields())
	for i := range all {
		n, err := r.Schema.Field(i)
		if err == nil {
			all[i], err = columnOf(n, budget)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func columnOf(n schema.Node, budget *schema.Budget) (c Column, err error) {
	if c.Field, err = budget.Describe(n); err != nil {
		return c, err
	}
	if c.ID, c.Built = n.ID(), Missing; n.Hidden() && c.Name == c.Internal {
		c.Name = "" // the kind stands for it
	}
	for i := range n.NumChildren() {
		child, err := n.Child(i)
		if err != nil {
			return c, err
		}
		below, err := columnOf(child, budget)
		if err != nil {
			return c, err
		}
		c.Children = append(c.Children, below)
	}
	return c, nil
}

// All are columns and those below them. The index of each is the id that their schema will give it.
func All(columns []Column) (all []*Column) {
	for i := range columns {
		all = append(append(all, &columns[i]), All(columns[i].Children)...)
	}
	return all
}

// NewColumns are columns that [Stripe.Build] makes.
func NewColumns(fields []schema.Field) []Column {
	columns := newColumns(fields)
	for id, c := range All(columns) {
		c.Built = uint32(id)
	}
	return columns
}

func newColumns(fields []schema.Field) (all []Column) {
	for _, f := range fields {
		all = append(all, Column{Field: f, ID: Missing, Children: newColumns(f.Children)})
	}
	return all
}

// WithColumns is the root with other columns: those that it has, with other names or in another order, and new ones. Indexes of columns that are left
// out go. build, if it is not nil, makes the function that builds the new columns of a stripe.
func (r Root) WithColumns(columns []Column, build func(Stripe) Build) (Root, error) {
	message, err := schema.Build(Fields(columns))
	if err != nil {
		return r, err
	}
	old := r.Schema
	if r.Schema, err = schema.Parse(message); err != nil {
		return r, err
	}
	moved := Moved(columns, old.IDCount())
	if r.Features().Has(edition.PackedGroups) {
		for id := range old.IDCount() {
			if moved[id] != id {
				return r, fmt.Errorf("columns of a shard with packed groups refer to each other by their place: compact it first, without groups")
			}
		}
	}
	all := All(columns)
	r.Stripes = slices.Clone(r.Stripes)
	for i := range r.Stripes {
		s := &r.Stripes[i]
		fields := make([]shardwriter.Field, len(all))
		for id, c := range all {
			if fields[id] = (shardwriter.Field{ID: c.Built}); c.ID != Missing {
				fields[id] = s.field(c.ID)
			}
		}
		if build != nil {
			if s.Build != nil {
				return r, fmt.Errorf("stripe %d has columns that are not built yet", i)
			}
			s.Build = build(*s)
		}
		s.Fields, s.Indexes = fields, renumber(s.Indexes, moved)
	}
	r.Indexes = renumber(r.Indexes, moved)
	return r, nil
}

// field is the place of a column of the stripe.
func (s *Stripe) field(id uint32) shardwriter.Field {
	if s.Fields == nil {
		return shardwriter.Field{Stripe: s.Of, ID: id}
	}
	return s.Fields[id]
}

// all are the places of the columns of the stripe, of which there are n.
func (s *Stripe) all(n uint32) []shardwriter.Field {
	fields := make([]shardwriter.Field, n)
	for id := range fields {
		fields[id] = s.field(uint32(id))
	}
	return fields
}

// WithProperties is the root with other custom properties of stored columns: functions, by schema id, make them of those that a column has in a stripe.
func (r Root) WithProperties(changes map[uint32]func([]*commonpb.NameValuePair) []*commonpb.NameValuePair) Root {
	if len(changes) == 0 {
		return r
	}
	r.Stripes = slices.Clone(r.Stripes)
	for i := range r.Stripes {
		s := &r.Stripes[i]
		s.Fields = s.all(r.Schema.IDCount())
		for id, change := range changes {
			s.Fields[id].Properties = change
		}
	}
	return r
}

// Fields are columns as fields of a schema, with those below them.
func Fields(columns []Column) []schema.Field {
	fields := make([]schema.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.Field
		fields[i].Children = Fields(c.Children)
	}
	return fields
}

// renumber are the indexes whose columns are all still there, by their new ids. Inverted ones of the reference have the ids in them, and stay only if these do.
func renumber(all []Index, moved []uint32) (kept []Index) {
	for _, x := range all {
		if !Stays(x.Descriptor, moved) {
			continue
		}
		x.Descriptor = proto.CloneOf(x.Descriptor)
		for _, f := range x.Descriptor.GetIndexedFields() {
			for i, id := range f.SchemaIds {
				f.SchemaIds[i] = moved[id]
			}
		}
		kept = append(kept, x)
	}
	return kept
}

// Stays reports whether an index is one of the shard whose columns have other ids: all of its columns are there, and, for one that has their ids in its content, under
// the same ids.
func Stays(d *shardpb.IndexDescriptor, moved []uint32) bool {
	for _, f := range d.GetIndexedFields() {
		for _, id := range f.SchemaIds {
			if id >= uint32(len(moved)) || moved[id] == Missing || moved[id] != id && d.GetIndexType() == index.Inverted {
				return false
			}
		}
	}
	return true
}

// Lost tells of the indexes that go with columns whose ids change.
func (r *Root) Lost(moved []uint32, lost func(*shardpb.IndexDescriptor)) {
	tell := func(all []Index) {
		for _, x := range all {
			if !Stays(x.Descriptor, moved) {
				lost(x.Descriptor)
			}
		}
	}
	tell(r.Indexes)
	for _, s := range r.Stripes {
		tell(s.Indexes)
	}
}

// Moved are the new schema ids by those that columns have so far, of which there are n; Missing for those that are not among the columns.
func Moved(columns []Column, n uint32) []uint32 {
	all := slices.Repeat([]uint32{Missing}, int(n))
	for id, c := range All(columns) {
		if c.ID != Missing {
			all[c.ID] = uint32(id)
		}
	}
	return all
}

// Features are those that the root has so far.
func (r *Root) Features() edition.Set {
	names, _ := shardfile.Find(r.Standard, shardfile.PropertyFeatures).(string)
	known, _ := edition.ParseSet(names)
	return known
}

// WithArrowSchema adds the Arrow schema to the properties if it has metadata, which no other
// place stores. A property of the same name in the options takes precedence.
func WithArrowSchema(list []shardfile.Property, s *arrow.Schema) ([]shardfile.Property, error) {
	if s.Metadata().Len() == 0 || shardfile.Find(list, arrowmap.SchemaProperty) != nil {
		return list, nil
	}
	text, err := arrowmap.EncodeIPC(s)
	if err != nil {
		return nil, err
	}
	return append(slices.Clip(list), shardfile.Property{Name: arrowmap.SchemaProperty, Value: text}), nil
}

// WithNewColumns has the Arrow schema among the properties, if there is one, tell of the columns of a stored schema. Readers take its metadata only.
func WithNewColumns(list []shardfile.Property, now *schema.Schema) ([]shardfile.Property, error) {
	stored := shardfile.Find(list, arrowmap.SchemaProperty)
	if stored == nil {
		return list, nil
	}
	text, _ := stored.(string)
	list = shardfile.Without(list, arrowmap.SchemaProperty)
	meta, err := arrowmap.MetadataFromIPC(text)
	if err != nil { // it says nothing to readers
		return list, nil
	}
	s, _, err := arrowmap.ToArrow(now, arrowmap.ReadOptions{})
	if err != nil {
		s = arrow.NewSchema(nil, nil) // of columns that this version does not read
	}
	return WithArrowSchema(list, arrow.NewSchema(s.Fields(), &meta))
}
