package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/sbbf"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
)

// batchRows is the number of rows that are decoded at a time.
const batchRows = 65536

// values decodes a column and compares it with all statements of the shard about its values.
func (c *columnCheck) values(ctx context.Context, col *arrowmap.Column) error {
	c.left = []sequence{{c.stripe, col, "", c.stripe.Rows()}}
	for len(c.left) > 0 {
		s := c.left[0]
		c.left = c.left[1:]
		if err := c.sequence(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// sequence is a node with a number of positions that is not that of the node above it: a column, or an alternative of a union with positions
// of its own. It is the source of a column of these.
type sequence struct {
	*shardfile.Stripe
	col    *arrowmap.Column
	parent string
	rows   int64
}

func (s sequence) Rows() int64 { return s.rows }

// sequence decodes the values of a sequence.
func (c *columnCheck) sequence(ctx context.Context, s sequence) error {
	root, err := c.node(ctx, s.col, schema.JoinPath(s.parent, s.col.Stored.Name))
	if err != nil {
		return c.v.found(err)
	}
	reader, err := read.OpenColumn(ctx, s, *s.col, c.v.limits())
	if err != nil {
		return c.v.found(fault.InStripe(fault.InColumn(err, s.parent), c.stripe.Index()))
	}
	rows := s.rows
	if rest, alike := rows%batchRows, rows-rows%batchRows; alike > 0 && !root.hasBuffers() {
		// All rows are equal and take no bytes, so that their number is unlimited.
		if err = c.add(ctx, root, reader, 0, batchRows); err == nil {
			root.repeat(alike / batchRows)
			err = c.add(ctx, root, reader, alike, alike+rest)
		}
	} else {
		err = c.add(ctx, root, reader, 0, rows)
	}
	if err != nil {
		return c.v.found(fault.InStripe(fault.InColumn(err, s.parent), c.stripe.Index()))
	}
	if err := root.finish(); err != nil || s.parent != "" {
		return err
	}
	return c.alternatives(ctx, s.col) // with the nodes below
}

// add decodes rows and adds them to root.
func (c *columnCheck) add(ctx context.Context, root *nodeCheck, reader *read.Column, from, to int64) error {
	return inBatches(from, to, func(rows rowset.Range) error {
		arr, err := reader.Read(ctx, rowset.Of(rows), nil)
		if err != nil {
			return err
		}
		defer arr.Release()
		return root.add(arr)
	})
}

// inBatches calls f with rows that are decoded at a time, and with fewer if their values are too large together.
func inBatches(from, to int64, f func(rows rowset.Range) error) error {
	for n := int64(batchRows); from < to; {
		n = min(n, to-from)
		err := f(rowset.Range{From: from, To: from + n})
		switch {
		case errors.Is(err, fault.ErrBatchTooLarge) && n > 1:
			n /= 2
		case err != nil:
			return err
		default:
			from += n
		}
	}
	return nil
}

// nodeCheck collects statistics of the values of a schema node.
type nodeCheck struct {
	c         *columnCheck
	path      string
	col       *arrowmap.Column
	stored    *shardpb.FieldDescriptor // nil if the stripe lacks the node
	stats     stats.Collector
	leaf      func(arr arrow.Array, valid bitmap.Bits) error // adds values; nil for containers
	unusable  func(err error)                                // reports an index that readers ignore; its values are not damaged
	rangeSum  []byte                                         // checksum of the whole range index; none in shards of other writers
	children  []*nodeCheck
	count     int64
	buffers   int                        // number of buffers of the node
	addressed bool                       // the alternatives of the union are sequences of their own
	repeated  *shardpb.FieldDescriptor   // the descriptor of the values before those of stats, if any
	filters   *shardpb.MembershipFilters // the filters of repeated, which Merge drops
}

// hasBuffers reports whether the node or a node below it has bytes.
func (n *nodeCheck) hasBuffers() bool {
	return n.buffers > 0 || slices.ContainsFunc(n.children, (*nodeCheck).hasBuffers)
}

// repeat multiplies the count of all added values, in log(times) steps.
func (n *nodeCheck) repeat(times int64) {
	power := n.want()
	n.c.v.Count("value", n.count*(times-1))
	n.count *= times
	n.repeated, n.filters = nil, power.MembershipFilters
	for left := times; left > 0; left /= 2 {
		if left%2 == 1 {
			n.repeated = stats.Merge(n.repeated, power)
		}
		power = stats.Merge(power, proto.CloneOf(power))
	}
	n.collect(nil)
	for _, child := range n.children {
		child.repeat(times)
	}
}

func (c *columnCheck) node(ctx context.Context, col *arrowmap.Column, path string) (*nodeCheck, error) {
	n := &nodeCheck{c: c, path: path, col: col}
	d, err := c.stripe.Descriptor(ctx, col.ID)
	if err != nil {
		return nil, err
	}
	n.stored, n.buffers = d.GetField(), len(stripe.NativeEncoding(d).GetBuffers())
	index, err := c.rangeIndex(ctx, n, d)
	if err != nil {
		return nil, err
	}
	n.collect(index)
	n.addressed = stripe.Addressed(col.Stored.Type, stripe.NativeEncoding(d).GetBuffers())
	for i := range col.Children {
		if n.addressed {
			if err := c.leave(ctx, &col.Children[i], path); err != nil {
				return nil, err
			}
			continue
		}
		child, err := c.node(ctx, &col.Children[i], schema.JoinPath(path, childName(col, i)))
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	return n, nil
}

// leave leaves an alternative that has positions of its own for later.
func (c *columnCheck) leave(ctx context.Context, col *arrowmap.Column, parent string) error {
	d, err := c.stripe.Descriptor(ctx, col.ID)
	if err == nil && d != nil {
		c.left = append(c.left, sequence{c.stripe, col, parent, int64(min(d.GetField().GetPositionCount(), math.MaxInt64))})
	}
	return err
}

// collect chooses the statistics by type.
func (n *nodeCheck) collect(index []byte) {
	if number, ok := collectors.Of(n.col.Stored.Type, n.col.Stored.Signed); ok {
		number(n, index)
		return
	}
	switch t := n.col.Stored.Type; {
	case t == schema.Boolean:
		s := &stats.Bool{}
		n.stats, n.leaf = s, func(arr arrow.Array, valid bitmap.Bits) error {
			s.Add(bitmap.Bits{Data: arr.Data().Buffers()[1].Bytes(), Off: arr.Data().Offset(), Len: arr.Len()}, valid)
			return nil
		}
	case t == schema.FixedSizeBinary && n.col.Stored.Label() == schema.LabelDecimal:
		ranges := openRanges(n, index, numrange.ParseDecimal, decimal.Decimal.Compare, decimal.Decimal.IsNaN)
		collectValues(n, &stats.Decimal{}, ranges)
	case t == schema.String || t == schema.Binary || t == schema.Guid || t == schema.FixedSizeBinary:
		n.collectBytes()
	case t == schema.List || t == schema.Map:
		n.stats = &stats.List{}
	default:
		n.stats = &stats.Presence{}
	}
}

// collectors are the functions for stored numbers.
var collectors = stripe.PerNumber[func(n *nodeCheck, index []byte)]{
	collectInteger[int8], collectInteger[int16], collectInteger[int32], collectInteger[int64],
	collectInteger[uint8], collectInteger[uint16], collectInteger[uint32], collectInteger[uint64],
	collectFloat[float32], collectFloat[float64],
}

func collectInteger[T stats.Integer](n *nodeCheck, index []byte) {
	collectValues(n, &stats.Numeric[T]{}, openNumberRanges[T](n, index))
}

func collectFloat[T float32 | float64](n *nodeCheck, index []byte) {
	collectValues(n, &stats.Float[T]{}, openNumberRanges[T](n, index))
}

// collectValues collects statistics of values, and compares them with a range index.
func collectValues[T any](n *nodeCheck, s interface {
	stats.Collector
	Add(values []T, valid bitmap.Bits)
}, ranges *ranges[T]) {
	n.stats, n.leaf = s, func(arr arrow.Array, valid bitmap.Bits) error {
		values := arrowutil.Values[T](arr)
		s.Add(values, valid)
		return ranges.add(values, valid)
	}
}

// maxFilterValues is the number of values up to which the size of a filter is checked.
const maxFilterValues = 1 << 20

func (n *nodeCheck) collectBytes() {
	stored := n.stored.GetMembershipFilters().GetSbbf()
	s := stats.NewBytes(stats.BytesOptions{
		String: n.col.Stored.Type == schema.String, NoFilter: stored == nil, Bound: math.MaxInt32,
		Filter: sbbf.Options{FPP: stored.GetTargetFpp(), MaxValues: int(min(stored.GetNumValues(), maxFilterValues)) + 1},
	})
	filter, ok := sbbf.Filter{}, false
	if f := stored; f != nil {
		filter, ok = sbbf.Open(f.HashAlgorithm, f.HashSeed, f.Data)
		if ok {
			n.c.v.Count("filter", 1)
		} else {
			n.c.v.Note(n.c.in(fmt.Errorf("not checked: a filter with hash %q in %d bytes", f.HashAlgorithm, len(f.Data)), n.path))
		}
	}
	n.stats, n.leaf = s, func(arr arrow.Array, valid bitmap.Bits) error {
		v := bytesOf(arr)
		s.Add(v, valid)
		for i := 0; ok && i < v.N; i++ {
			if valid.At(i) && !filter.MayContain(v.At(i)) {
				return fault.InColumn(fault.Corruptf("filter lacks the value %.40q", v.At(i)), n.path)
			}
		}
		return nil
	}
}

// bytesOf returns strings or bytes as an array with 64-bit offsets or of a fixed size, without a copy.
func bytesOf(arr arrow.Array) bytestring.Values {
	d := arr.Data()
	v := bytestring.Values{N: d.Len()}
	if t, ok := d.DataType().(*arrow.FixedSizeBinaryType); ok {
		v.Fixed = t.ByteWidth
		if v.N > 0 {
			v.Data = d.Buffers()[1].Bytes()[d.Offset()*v.Fixed:]
		}
		return v
	}
	v.Offsets = arrowutil.Offsets[int64](arr)
	if b := d.Buffers()[2]; b != nil {
		v.Data = b.Bytes()
	}
	return v
}

// add adds the next values of the node.
func (n *nodeCheck) add(arr arrow.Array) error {
	if e, ok := arr.(array.ExtensionArray); ok {
		arr = e.Storage()
	}
	count := arr.Len()
	n.count += int64(count)
	n.c.v.Count("value", int64(count))
	valid := arrowutil.Validity(arr)
	if n.leaf != nil {
		if count == 0 {
			return nil
		}
		return n.leaf(arr, valid)
	}
	v := kinds.Open(arr)
	if lists, ok := n.stats.(*stats.List); ok {
		from, _ := v.Span(count)
		offsets := append(make([]uint64, 0, count+1), uint64(from))
		for i := range count {
			_, to := v.Range(i)
			offsets = append(offsets, uint64(to))
		}
		lists.Add(offsets, valid)
	} else {
		n.stats.(*stats.Presence).Add(valid)
	}
	if n.addressed {
		return nil
	}
	for i, part := range v.Parts {
		from, to := int64(0), int64(count)
		if v.Shape == kinds.List {
			from, to = v.Span(count)
		}
		if err := n.children[i].addSlice(part, from, to); err != nil {
			return err
		}
	}
	return nil
}

func (n *nodeCheck) addSlice(arr arrow.Array, from, to int64) error {
	s := array.NewSlice(arr, from, to)
	defer s.Release()
	return n.add(s)
}
