package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/pageindex"
)

// rangeIndex reads the RANGE_INDEX buffer of a node. It returns nil if there is none, and calls n.unusable for an
// invalid one.
func (c *columnCheck) rangeIndex(ctx context.Context, n *nodeCheck, d *shardpb.StripeFieldDescriptor) ([]byte, error) {
	b := stripe.FindBuffer(stripe.NativeEncoding(d).GetBuffers(), shardpb.BufferKind_RANGE_INDEX)
	if b == nil {
		return nil, nil
	}
	r, err := c.stripe.Artifact(ctx, n.col.ID, b.Buffer)
	if err != nil {
		return nil, err
	}
	start := int64(b.GetBuffer().GetRange().GetStart())
	in := func(err error, offset int64) error {
		return c.in(fault.Of(fault.InBuffer(err, b.Kind.String(), offset), r.Name()), n.path)
	}
	var raw []byte
	n.rangeSum = b.GetChecksums()
	n.unusable = func(err error) {
		damage := in(err, start)
		if errors.Is(err, fault.ErrChecksum) {
			if i, bit, ok := c.v.flips.RangeIndex(ctx, raw); ok {
				damage = &FlippedBit{r.Name(), start + int64(i), bit, damage}
			}
		}
		_ = c.v.problem(damage)
	}
	raw, err = pageindex.Read(ctx, c.stripe, n.col.ID, b, n.stored.GetPositionCount(), nil)
	if err == nil && raw == nil {
		n.unusable(fault.Corruptf("larger than any index of %d positions", n.stored.GetPositionCount()))
	}
	return raw, in(err, -1)
}

// ranges compares the values of a node with its range index, 256 at a time. A nil *ranges accepts all values.
type ranges[T any] struct {
	n       *nodeCheck
	index   *numrange.Index[T]
	compare func(a, b T) int
	invalid func(v T) bool // for NaN

	block, at   int // place of the next value
	nulls       int // invalid values of the block so far
	some        bool
	least, most T
}

// openRanges parses a range index, of which raw is nil if there is none.
func openRanges[T any](n *nodeCheck, raw []byte, parse func([]byte, uint64, *numeric.Scratch) (*numrange.Index[T], error),
	compare func(a, b T) int, invalid func(T) bool) *ranges[T] {
	if raw == nil {
		return nil
	}
	x, err := parse(raw, n.stored.GetPositionCount(), new(numeric.Scratch))
	if err = cmp.Or(err, blocks.CheckWhole(raw, n.rangeSum)); err != nil {
		n.unusable(err)
		return nil
	}
	n.c.v.Count("range index", 1)
	return &ranges[T]{n: n, index: x, compare: compare, invalid: invalid}
}

func openNumberRanges[T numeric.Value](n *nodeCheck, raw []byte) *ranges[T] {
	parse := func(raw []byte, positions uint64, s *numeric.Scratch) (*numrange.Index[T], error) {
		return numrange.Parse[T](raw, byte(n.col.Stored.Type), positions, s)
	}
	return openRanges(n, raw, parse, cmp.Compare[T], func(v T) bool { return v != v })
}

func (r *ranges[T]) add(values []T, valid bitmap.Bits) error {
	if r == nil {
		return nil
	}
	for i, v := range values {
		switch {
		case !valid.At(i) || r.invalid(v):
			r.nulls++
		case !r.some:
			r.some, r.least, r.most = true, v, v
		case r.compare(v, r.least) < 0:
			r.least = v
		case r.compare(v, r.most) > 0:
			r.most = v
		}
		if r.at++; r.block < r.index.Len() {
			if _, _, _, n := r.index.Block(r.block); r.at == n {
				if err := r.close(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// close compares a complete block.
func (r *ranges[T]) close() error {
	lo, hi, invalid, _ := r.index.Block(r.block)
	var err error
	switch {
	case invalid != r.nulls:
		err = fault.Corruptf("block %d has %d nulls and NaNs, the index has %d", r.block, r.nulls, invalid)
	case r.some && (r.compare(lo, r.least) != 0 || r.compare(hi, r.most) != 0):
		err = fault.Corruptf("block %d has values from %v to %v, the index from %v to %v", r.block, r.least, r.most, lo, hi)
	}
	r.block, r.at, r.nulls, r.some = r.block+1, 0, 0, false
	return fault.InColumn(fault.InBuffer(err, shardpb.BufferKind_RANGE_INDEX.String(), -1), r.n.path)
}

// finish compares the values of the node with its descriptor, and continues with the nodes below.
func (n *nodeCheck) finish() error {
	if n.stored != nil {
		want := n.want()
		n.c.v.Count("descriptor", 1)
		if n.stored.ConstantValue != nil {
			n.c.v.Count("constant", 1)
		}
		if n.stored.GetCardinality().GetHllSketch() != nil {
			n.c.v.Count("sketch", 1)
		}
		c := comparison{got: n.stored, want: want, what: "the values"}
		c.all()
		if err := n.c.v.differences(c, func(err error) error { return n.c.in(err, n.path) }); err != nil {
			return err
		}
	}
	for _, child := range n.children {
		if short := child.short(n); short != "" {
			n.c.v.Note(n.c.in(errors.New(short), child.path))
			continue
		}
		if err := child.finish(); err != nil {
			return err
		}
	}
	return nil
}

// want is the descriptor that fits the values of the node.
func (n *nodeCheck) want() *shardpb.FieldDescriptor {
	d := &shardpb.FieldDescriptor{}
	n.stats.Fill(d)
	if n.repeated != nil {
		d = stats.Merge(proto.CloneOf(n.repeated), d)
		d.MembershipFilters = n.filters
	}
	return d
}

// short reports whether the items of a fixed-size list end early, as they do where the reference fills columns with
// nulls (docs/format.md §5.4).
func (n *nodeCheck) short(parent *nodeCheck) string {
	if parent.col.Stored.Type != schema.FixedSizeList || n.stored == nil || int64(n.stored.PositionCount) >= n.count {
		return ""
	}
	return fmt.Sprintf("%d items for lists that need %d: the reference does so for lists that it adds itself", n.stored.PositionCount, n.count)
}
