package verify

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/reference"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
)

// columns are all columns in the Arrow types that Parquet files are read in.
func (v *verifier) columns(context.Context) (*table.Projection, error) {
	s, all, err := arrowmap.ToArrow(v.schema, arrowmap.ReadOptions{})
	return &table.Projection{Columns: all, Schema: s}, err
}

// external checks the references of a top-level column, and the nodes below it, to a Parquet file. It compares the values there with the counts of
// nulls and the bounds in descriptors.
func (c *columnCheck) external(ctx context.Context, n schema.Node) error {
	col, err := arrowmap.ColumnOf(n, arrowmap.ReadOptions{})
	if err != nil {
		return c.v.found(fault.InStripe(err, c.stripe.Index()))
	}
	in, err := c.v.references.Column(ctx, c.stripe, &col)
	if err == nil && in == nil {
		c.v.Unchecked(c.in(errors.New("an encoding in a Parquet file that is not supported, beside a native one"), schema.Escape(n.Name())))
		return nil
	}
	if err == nil {
		err = c.references(ctx, &col)
	}
	if err != nil || c.v.Options.MetadataOnly || c.v.Options.Quick {
		return c.v.found(err)
	}
	ranges, err := in.RangesToOpen(ctx, nil, &col, table.AllValues, 1<<62)
	if err != nil {
		return c.v.found(err)
	}
	for _, r := range ranges {
		if err := c.v.budget.spend(ctx, r.Reader, r.Size); err != nil {
			return c.v.enough(c.in(err, schema.Escape(n.Name())))
		}
	}
	return c.v.found(c.externalValues(ctx, in, &col))
}

// references checks the references of the nodes below a column.
func (c *columnCheck) references(ctx context.Context, col *table.Column) error {
	for i := range col.Children {
		if len(kinds.Fields(col.Plain)) == 0 { // an interval, which is a leaf of the file
			return nil
		}
		child := &col.Children[i]
		if _, err := c.v.references.Column(ctx, c.stripe, child); err != nil {
			return err
		}
		if err := c.references(ctx, child); err != nil {
			return err
		}
	}
	return nil
}

// externalValues reads the values of a column.
func (c *columnCheck) externalValues(ctx context.Context, in *reference.Column, col *table.Column) error {
	r, err := in.Open(ctx, col, false, nil)
	if err != nil {
		return err
	}
	root, err := c.externalNode(ctx, col, schema.Escape(col.Stored.Name))
	if err != nil {
		return err
	}
	o := &table.ReadOptions{Allocator: memory.DefaultAllocator}
	err = inBatches(0, c.stripe.Rows(), func(rows rowset.Range) error {
		a, err := r.Read(ctx, rowset.Of(rows), o)
		if err != nil {
			return fault.InStripe(err, c.stripe.Index())
		}
		defer a.Release()
		if err = root.add(a, bitmap.Bits{}); err != nil {
			return c.in(err, root.path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return root.finish()
}

// externalNode compares the values of a node, which is not within a list, with its descriptor.
type externalNode struct {
	c        *columnCheck
	path     string
	stored   *shardpb.FieldDescriptor
	facts    predicate.Facts
	nulls    uint64
	children []*externalNode // of a struct
}

func (c *columnCheck) externalNode(ctx context.Context, col *table.Column, path string) (*externalNode, error) {
	d, err := c.stripe.Descriptor(ctx, col.ID)
	if err != nil {
		return nil, err
	}
	n := &externalNode{c: c, path: path, stored: d.GetField(), facts: shardtable.FactsOf([]*table.Column{col}, []*shardpb.FieldDescriptor{d.GetField()})}
	if kinds.Of(col.Plain) != kinds.Record {
		return n, nil
	}
	for i := range col.Children {
		child, err := c.externalNode(ctx, &col.Children[i], schema.JoinPath(path, childName(col, i)))
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	return n, nil
}

// add adds the next values, of which those are null, too, whose parents are.
func (n *externalNode) add(a arrow.Array, parents bitmap.Bits) error {
	plain, err := arrowutil.Plain(memory.DefaultAllocator, a)
	if err != nil {
		return err
	}
	defer plain.Release()
	n.c.v.Count("value", int64(plain.Len()))
	own := arrowutil.Validity(plain)
	valid := bitmap.Bits{Data: make([]byte, (plain.Len()+7)/8), Len: plain.Len()}
	limits := predicate.LimitsOf(plain)
	if texts := arrowutil.BytesOf(plain); texts != nil {
		limits = func(i int) predicate.Limit { return predicate.BytesLimit(texts(i)) }
	}
	for i := range plain.Len() {
		if !own.At(i) || !parents.At(i) {
			n.nulls++
			continue
		}
		valid.Data[i>>3] |= 1 << (i & 7)
		if limits == nil || !n.facts.Min.IsKnown() && !n.facts.Max.IsKnown() {
			continue
		}
		v := limits(i)
		low, hasLow := v.Compare(n.facts.Min)
		high, hasHigh := v.Compare(n.facts.Max)
		if v.IsKnown() && (hasLow && low < 0 || hasHigh && high > 0) {
			return fault.InColumn(fault.Corruptf("the value %s is outside of the bounds of the descriptor", plain.ValueStr(i)), n.path)
		}
	}
	for i, child := range n.children {
		part := kinds.Open(plain).Parts[i]
		if err := child.add(part, valid); err != nil {
			return err
		}
	}
	return nil
}

// finish compares the number of nulls with the descriptor.
func (n *externalNode) finish() error {
	n.c.v.Count("descriptor", 1)
	if want := n.stored.NullCount; want != nil && *want != n.nulls {
		return n.c.in(fault.Corruptf("%d nulls, the descriptor counts %d", n.nulls, *want), n.path)
	}
	for _, child := range n.children {
		if err := child.finish(); err != nil {
			return err
		}
	}
	return nil
}
