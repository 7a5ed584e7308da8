package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/hll"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/internal/format/stats"
)

// finish compares what the values of the node are like with its descriptor, and
// goes on to the nodes below.
func (n *nodeCheck) finish() error {
	if n.stored != nil {
		want := &shardpb.FieldDescriptor{}
		n.stats.Fill(want)
		n.c.v.count(func(r *Report) {
			r.Statistics++
			if n.stored.ConstantValue != nil {
				r.Constants++
			}
			if n.stored.GetCardinality().GetHllSketch() != nil {
				r.Sketches++
			}
		})
		c := comparison{got: n.stored, want: want, what: "the values"}
		c.all()
		if err := n.c.v.differences(c, func(err error) error { return n.c.in(err, n.path) }); err != nil {
			return err
		}
	}
	for _, child := range n.children {
		if short := child.short(n); short != "" {
			n.c.v.note(n.c.in(errors.New(short), child.path))
			continue
		}
		if err := child.finish(); err != nil {
			return err
		}
	}
	return nil
}

// short tells that the items of a fixed-size list end early, which they do where
// the reference fills columns up with nulls (docs/format.md §5.4).
func (n *nodeCheck) short(parent *nodeCheck) string {
	if parent.col.Stored.Type != schema.FixedSizeList || n.stored == nil || int64(n.stored.PositionCount) >= n.count {
		return ""
	}
	return fmt.Sprintf("%d items for lists that need %d: the reference writes that for lists that it adds itself", n.stored.PositionCount, n.count)
}

// differences reports what a comparison found; in adds to an error where.
func (v *verifier) differences(c comparison, in func(error) error) error {
	for _, text := range c.notes {
		v.note(in(errors.New(text)))
	}
	for _, text := range c.problems {
		if err := v.problem(Finding{Err: in(fault.Corruptf("%s", text))}); err != nil {
			return err
		}
	}
	return nil
}

// comparison compares a stored descriptor with what it should say. What a
// descriptor does not say is no difference.
type comparison struct {
	got, want       *shardpb.FieldDescriptor
	what            string // that want is made of
	problems, notes []string
}

func (c *comparison) differ(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *comparison) number(name string, got, want *uint64) {
	if got != nil && want != nil && *got != *want {
		c.differ("%s is %d, of %s %d", name, *got, c.what, *want)
	}
}

func (c *comparison) all() {
	c.number("position_count", &c.got.PositionCount, &c.want.PositionCount)
	c.number("null_count", c.got.NullCount, c.want.NullCount)
	c.number("raw_data_size", c.got.RawDataSize, c.want.RawDataSize)
	c.bounds()
	c.constant()
	c.cardinality()
	c.lengths()
	c.signs()
}

func (c *comparison) bounds() {
	got, want := c.got.RangeStats, c.want.RangeStats
	if got == nil || want == nil {
		return
	}
	c.bound("minimum", got.MinValue, want.MinValue)
	c.bound("maximum", got.MaxValue, want.MaxValue)
}

func (c *comparison) bound(name string, got, want *commonpb.AnyValue) {
	switch {
	case got == nil:
	case want == nil:
		c.differ("%s is %v, but there is no value", name, got)
	default:
		if order, ok := stats.Compare(got, want); !ok || order != 0 {
			c.differ("%s is %v, of %s %v", name, got, c.what, want)
		}
	}
}

// constant checks that all values are the constant. Shards of the reference have
// constants although some values are NaN, or differ in sign or scale only
// (docs/format.md §10.2): its counts tell.
func (c *comparison) constant() {
	got := c.got.ConstantValue
	if got == nil {
		return
	}
	if c.got.PositionCount == 0 {
		return
	}
	if f, w := c.got.GetFloatingStats(), c.want.GetFloatingStats(); f != nil && w != nil && !proto.Equal(f, w) {
		c.notes = append(c.notes, "the constant stands for values that are not all alike: the reference loses NaN and the sign of zero there")
		return
	}
	if d, w := c.got.GetDecimalStats(), c.want.GetDecimalStats(); d != nil && w != nil && !proto.Equal(d, w) {
		c.notes = append(c.notes, "the constant stands for values that are not all alike: the reference loses NaN there")
		return
	}
	want := c.want.ConstantValue
	if want == nil {
		c.differ("constant_value is %v, but %s are not all alike", got, c.what)
		return
	}
	if !sameConstant(got, want) {
		c.differ("constant_value is %v, of %s %v", got, c.what, want)
	}
}

func sameConstant(a, b *commonpb.AnyValue) bool {
	if proto.Equal(a, b) {
		return true
	}
	x, ok := textOf(a)
	y, ok2 := textOf(b)
	if ok && ok2 {
		return x == y
	}
	order, ok := stats.Compare(a, b)
	return ok && order == 0
}

func textOf(v *commonpb.AnyValue) (string, bool) {
	switch k := v.GetKind().(type) {
	case *commonpb.AnyValue_StringValue:
		return k.StringValue, true
	case *commonpb.AnyValue_BytesValue:
		return string(k.BytesValue), true
	}
	return "", false
}

// cardinality compares sketches, and counts with what their sketch estimates.
func (c *comparison) cardinality() {
	got := c.got.GetCardinality()
	s := got.GetHllSketch()
	if s == nil {
		return
	}
	sketch, err := hll.Parse(s.BitsPerIndex, s.Counters)
	if err != nil {
		c.differ("%v", err)
		return
	}
	if e := sketch.Estimate(); got.Count != nil && got.IsEstimate && *got.Count != e {
		c.differ("cardinality is %d, its sketch estimates %d", *got.Count, e)
	}
	want := c.want.GetCardinality().GetHllSketch()
	if want == nil || s.HashAlgorithm != want.HashAlgorithm || s.HashSeed != want.HashSeed || s.BitsPerIndex != want.BitsPerIndex {
		return
	}
	if !bytes.Equal(s.Counters, want.Counters) {
		c.differ("the sketch is not that of %s", c.what)
	}
}

func (c *comparison) lengths() {
	if s, w := c.got.GetStringStats(), c.want.GetStringStats(); s != nil && w != nil {
		c.number("min_size", &s.MinSize, &w.MinSize)
		c.number("max_size", &s.MaxSize, &w.MaxSize)
		c.number("min_non_empty_size", s.MinNonEmptySize, w.MinNonEmptySize)
		c.number("ascii_count", s.AsciiCount, w.AsciiCount)
	}
	if s, w := c.got.GetBinaryStats(), c.want.GetBinaryStats(); s != nil && w != nil {
		c.number("min_length", &s.MinLength, &w.MinLength)
		c.number("max_length", &s.MaxLength, &w.MaxLength)
		c.number("min_non_empty_length", s.MinNonEmptyLength, w.MinNonEmptyLength)
	}
	if s, w := c.got.GetListStats(), c.want.GetListStats(); s != nil && w != nil {
		c.number("min_length", &s.MinLength, &w.MinLength)
		c.number("max_length", &s.MaxLength, &w.MaxLength)
		c.number("min_non_empty_length", s.MinNonEmptyLength, w.MinNonEmptyLength)
	}
}

func (c *comparison) signs() {
	if s, w := c.got.GetBooleanStats(), c.want.GetBooleanStats(); s != nil && w != nil && !proto.Equal(s, w) {
		c.differ("boolean_stats are %v, of %s %v", s, c.what, w)
	}
	if c.got.ConstantValue != nil {
		return // see constant
	}
	if s, w := c.got.GetFloatingStats(), c.want.GetFloatingStats(); s != nil && w != nil && !proto.Equal(s, w) {
		c.differ("floating_stats are %v, of %s %v", s, c.what, w)
	}
	if s, w := c.got.GetDecimalStats(), c.want.GetDecimalStats(); s != nil && w != nil && !proto.Equal(s, w) {
		c.differ("decimal_stats are %v, of %s %v", s, c.what, w)
	}
}

// merger makes the descriptors of the shard from those of its stripes.
type merger struct {
	v      *verifier
	fields map[uint32]*shardpb.FieldDescriptor
}

// add takes the descriptors of a stripe, and checks the stripe's raw size.
func (m *merger) add(ctx context.Context, s *shardfile.Stripe) error {
	raw, known, broken := uint64(0), false, false
	for _, id := range m.v.ids {
		d, err := s.Descriptor(ctx, id)
		if err != nil {
			if !fault.Is(err) && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			broken = true
			continue // reported with the messages
		}
		if d == nil {
			continue
		}
		if d.Field.RawDataSize != nil {
			raw, known = raw+*d.Field.RawDataSize, true
		}
		m.fields[id] = stats.Merge(m.fields[id], d.Field)
	}
	if d := s.Directory(); known && !broken && d.RawDataSize != nil && *d.RawDataSize != raw {
		return m.v.found(fault.InStripe(fault.Corruptf("raw_data_size is %d, that of its fields %d", *d.RawDataSize, raw), s.Index()))
	}
	return nil
}

// compare compares the shard's descriptors.
func (m *merger) compare(ctx context.Context) error {
	absolute := 0
	for _, id := range m.v.ids {
		got, err := m.v.file.FieldDescriptor(ctx, id)
		if err != nil {
			if err := m.v.found(err); err != nil {
				return err
			}
			continue
		}
		url, err := m.v.file.FieldURL(ctx, id)
		if err := m.v.found(err); err != nil {
			return err
		}
		if strings.Contains(url, "://") {
			absolute++
		}
		if got == nil {
			continue
		}
		want := m.fields[id]
		if want == nil {
			want = &shardpb.FieldDescriptor{}
		}
		c := comparison{got: got, want: want, what: "the stripes"}
		c.number("position_count", &got.PositionCount, &want.PositionCount)
		c.number("null_count", got.NullCount, want.NullCount)
		c.number("raw_data_size", got.RawDataSize, want.RawDataSize)
		c.bounds()
		c.cardinality()
		c.lengths()
		c.signs()
		if got.ConstantValue != nil && (want.ConstantValue == nil || !sameConstant(got.ConstantValue, want.ConstantValue)) {
			c.differ("constant_value is %v, of the stripes %v", got.ConstantValue, want.ConstantValue)
		}
		if err := m.v.differences(c, func(err error) error { return fault.InColumn(err, m.v.paths[id]) }); err != nil {
			return err
		}
	}
	if absolute > 0 {
		m.v.note(fault.In(fmt.Errorf("%d absolute urls: the reference wrote where the shard was at the time, and cannot find these descriptors elsewhere", absolute), "field list", -1))
	}
	return nil
}
