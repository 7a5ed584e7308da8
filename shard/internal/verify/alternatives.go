package verify

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
)

// alternatives checks that all native encodings of a column have the same values.
func (c *columnCheck) alternatives(ctx context.Context, col *arrowmap.Column) error {
	n, err := c.mostEncodings(ctx, col)
	for i := 1; i < n && err == nil; i++ {
		err = c.sameValues(ctx, col, i)
	}
	return c.v.found(fault.InStripe(err, c.stripe.Index()))
}

// mostEncodings is the largest number of native encodings of a node of a column.
func (c *columnCheck) mostEncodings(ctx context.Context, col *arrowmap.Column) (int, error) {
	d, err := c.stripe.Descriptor(ctx, col.ID)
	n := len(stripe.NativeEncodings(d))
	for i := 0; i < len(col.Children) && err == nil; i++ {
		var most int
		most, err = c.mostEncodings(ctx, &col.Children[i])
		n = max(n, most)
	}
	return n, err
}

// sameValues compares the values of the first native encodings of a column with those of others.
func (c *columnCheck) sameValues(ctx context.Context, col *arrowmap.Column, other int) error {
	var readers [2]*read.Column
	for i, number := range []int{0, other} {
		var err error
		if readers[i], err = read.OpenColumn(ctx, oneEncoding{c.stripe, number}, *col, c.v.limits()); err != nil {
			return err
		}
	}
	return inBatches(0, c.stripe.Rows(), func(rows rowset.Range) error {
		row, err := difference(ctx, readers, rows)
		if err == nil && row >= 0 {
			err = fault.Corruptf("encodings 1 and %d differ in row %d of the stripe", other+1, rows.From+int64(row))
			err = fault.InColumn(err, schema.Escape(col.Stored.Name))
		}
		return err
	})
}

// difference is the first of some rows whose values differ, counted from the first, or -1.
func difference(ctx context.Context, readers [2]*read.Column, rows rowset.Range) (int, error) {
	var values [2]arrow.Array
	for i, r := range readers {
		var err error
		if values[i], err = r.Read(ctx, rowset.Of(rows), nil); err != nil {
			return -1, err
		}
		defer values[i].Release()
	}
	return arrowutil.Difference(values[0], values[1]), nil
}

// oneEncoding is a stripe with one native encoding of each node: that of a number, or else the last.
type oneEncoding struct {
	*shardfile.Stripe
	number int
}

func (s oneEncoding) Descriptor(ctx context.Context, id uint32) (*shardpb.StripeFieldDescriptor, error) {
	d, err := s.Stripe.Descriptor(ctx, id)
	all := stripe.NativeEncodings(d)
	if err != nil || len(all) < 2 {
		return d, err
	}
	chosen := all[min(s.number, len(all)-1)]
	encodings := slices.DeleteFunc(slices.Clone(d.Encodings), func(e *shardpb.DataEncoding) bool {
		return e.GetNative() != chosen && !e.GetNative().GetPackedGroup()
	})
	return &shardpb.StripeFieldDescriptor{Field: stripe.FieldOf(d.Field, chosen), Encodings: encodings}, nil
}
