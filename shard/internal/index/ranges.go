package index

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/shard/internal/index/strrange"
	"github.com/amudai/amudai-go/storage"
)

// Ranges is the type of range indexes of strings (package strrange).
const Ranges = "amudai-go-range-v1"

// PropertyRows is the number of rows of a page of a range index.
const PropertyRows = "rows"

// defaultPageRows is the rows of a page, as of those of numbers: values come in short runs in many columns.
const defaultPageRows = 256

type rangeKind struct{}

func (rangeKind) Type() string { return Ranges }

func (rangeKind) Check(d *shardpb.IndexDescriptor, columns []arrow.Field) error {
	if len(columns) != len(d.IndexedFields) {
		return errors.New("a range index has no keys of several columns")
	}
	for _, c := range columns {
		if !isString(c.Type) {
			return fmt.Errorf("a range index is of strings and byte strings, not of %v", c.Type)
		}
	}
	if err := setDefault(d, PropertyRows, defaultPageRows); err != nil {
		return err
	}
	_, err := pageRowsOf(d)
	return err
}

// isString reports whether values of a type are strings or byte strings, or structs with nothing else.
func isString(dt arrow.DataType) bool {
	if kinds.Has(dt, func(t arrow.DataType) bool { return t.ID() == arrow.EXTENSION || kinds.Of(t) == kinds.List }) {
		return false
	}
	leaf := leafOf(dt).ID()
	return arrow.IsBaseBinary(leaf) || leaf == arrow.STRING_VIEW || leaf == arrow.BINARY_VIEW
}

func pageRowsOf(d *shardpb.IndexDescriptor) (int64, error) {
	value := property(d, PropertyRows)
	n, ok := value.(int64)
	switch {
	case value == nil:
		return 0, fault.Corruptf("range index without the property %s", PropertyRows)
	case !ok || n < 1 || n > strrange.MaxPageRows:
		return 0, fault.Unsupportedf("range index with %s %v", PropertyRows, value)
	}
	return n, nil
}

type rangeBuilder struct{ *strrange.Builder }

func (rangeKind) NewBuilder(d *shardpb.IndexDescriptor, _ []arrow.Field, _ BuildOptions) (Builder, error) {
	n, err := pageRowsOf(d)
	if err != nil {
		return nil, err
	}
	return &rangeBuilder{strrange.NewBuilder(len(d.GetIndexedFields()), n)}, nil
}

func (b *rangeBuilder) Add(first int64, columns []arrow.Array) error {
	for i, arr := range columns {
		plain, err := arrowutil.Plain(memory.DefaultAllocator, arr)
		if err != nil {
			return err
		}
		err = b.addField(i, first, plain)
		plain.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// addField adds the values of a field, which may lie in structs.
func (b *rangeBuilder) addField(field int, first int64, arr arrow.Array) error {
	structs := []arrow.Array(nil)
	for s, ok := arr.(*array.Struct); ok; s, ok = arr.(*array.Struct) {
		structs, arr = append(structs, s), s.Field(0)
	}
	value := arrowutil.BytesOf(arr)
	if value == nil {
		return fault.Unsupportedf("bounds of %v", arr.DataType())
	}
	for i := range arr.Len() {
		null := arr.IsNull(i)
		for _, s := range structs {
			null = null || s.IsNull(i)
		}
		if null {
			b.AddNull(field, first+int64(i))
		} else {
			b.Builder.Add(field, first+int64(i), value(i))
		}
	}
	return nil
}

func (b *rangeBuilder) Close() error { return nil }

func (rangeKind) Write(_ context.Context, d *shardpb.IndexDescriptor, wo WriteOptions, builders []Builder, create func(name string) io.Writer) error {
	o, err := rangeOptions(d, wo.Rows)
	if err != nil {
		return err
	}
	return strrange.Write(create("ranges"), o, each(builders, func(b *rangeBuilder) *strrange.Builder { return b.Builder })...)
}

func rangeOptions(d *shardpb.IndexDescriptor, rows int64) (o strrange.Options, err error) {
	o.Rows, o.Fields = rows, len(d.GetIndexedFields())
	o.PageRows, err = pageRowsOf(d)
	return o, err
}

// Join implements [Joiner].
func (rangeKind) Join(_ context.Context, d *shardpb.IndexDescriptor, jo JoinOptions, segments []Segment, create func(name string) io.Writer) error {
	o, err := rangeOptions(d, jo.Rows)
	if err != nil {
		return err
	}
	var parts []*strrange.Index
	for _, one := range segments {
		x := one.Index.(*rangeIndex).Index
		if one.First%x.PageRows != 0 && x.Rows > 0 {
			return fmt.Errorf("pages of %d rows, of rows from %d on: %w", x.PageRows, one.First, ErrCannotJoin)
		}
		if x.Rows > 0 {
			parts = append(parts, x)
		}
	}
	return strrange.Join(create("ranges"), o, parts...)
}

// Cost is that of the pages, about which the size tells. Bounds say something about sets of values, patterns with a beginning, and nulls.
func (rangeKind) Cost(d *shardpb.IndexDescriptor, _ Index, c *Condition) (int64, bool) {
	if len(c.Parts) > 1 || c.Parts[0].Inside > 0 {
		return 0, false
	}
	if kinds.HasNames(kinds.Storage(c.Parts[0].Type)) { // structs and unions, whose nulls are not those of the strings in it
		return 0, false
	}
	ok := false
	switch test := c.Parts[0].Test.(type) {
	case valueset.Bytes, predicate.Nulls:
		ok = true
	case *predicate.Text:
		ok = len(test.Prefix) > 0
	}
	return int64(d.GetIndexSize())/8 + 1, ok
}

func (rangeKind) Open(ctx context.Context, d *shardpb.IndexDescriptor, artifacts []storage.ByteRange, rows int64) (Index, error) {
	n, err := pageRowsOf(d)
	if err != nil {
		return nil, err
	}
	if len(artifacts) != 1 {
		return nil, fault.Corruptf("range index of %d artifacts", len(artifacts))
	}
	x, err := strrange.Open(ctx, artifacts[0], rows)
	if err != nil {
		return nil, err
	}
	if x.Fields != len(d.GetIndexedFields()) || x.PageRows != n {
		return nil, fault.Corruptf("range index of %d fields in pages of %d rows is described as one of %d, %d", x.Fields, x.PageRows, len(d.GetIndexedFields()), n)
	}
	return &rangeIndex{x}, nil
}

type rangeIndex struct{ *strrange.Index }

func (x *rangeIndex) Stats() []Stat {
	return []Stat{{"pages", x.NumPages()}, {"rows", x.Rows}, {"page rows", x.PageRows}}
}

// Identity implements [Index].
func (x *rangeIndex) Identity() uint64 { return x.Hash }

// Ask implements [Index].
func (x *rangeIndex) Ask(_ context.Context, c Condition, all rowset.Set) (maybe, sure rowset.Set, err error) {
	if len(c.Parts) > 1 || c.Parts[0].Inside > 0 {
		return all, rowset.Set{}, nil
	}
	var some, every []rowset.Range
	b := all.Bounds()
	for k := b.From / x.PageRows; k*x.PageRows < b.To; k++ {
		p := x.Page(c.Field, k)
		facts := predicate.Facts{NoNulls: !p.Nulls, NoValues: !p.Values}
		if p.Values {
			facts.Min = predicate.BytesLimit(p.Lo)
			if !p.Unbounded {
				facts.Max = predicate.BytesLimit(p.Hi)
			}
		}
		rows := rowset.Range{From: max(k*x.PageRows, b.From), To: min((k+1)*x.PageRows, b.To)}
		switch predicate.PruneStrings(c.Parts[0].Test, &facts) {
		case predicate.All:
			every = append(every, rows)
			some = append(some, rows)
		case predicate.Some:
			some = append(some, rows)
		}
	}
	return rowset.Of(some...), rowset.Of(every...), nil
}

// Compare implements [Index].
func (x *rangeIndex) Compare(_ context.Context, built Index, found func(error) error) error {
	return x.Index.Compare(built.(*rangeIndex).Index, found)
}
