package verify

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/hll"
	"github.com/amudai/amudai-go/internal/format/stats"
)

// differences reports what a comparison found; in adds to an error where.
func (v *verifier) differences(c comparison, in func(error) error) error {
	for _, text := range c.notes {
		v.note(in(errors.New(text)))
	}
	for _, name := range c.unknown {
		v.unchecked(in(fmt.Errorf("%s: %s do not tell", name, c.what)))
	}
	for _, text := range c.problems {
		if err := v.problem(Finding{Err: in(fault.Corruptf("%s", text))}); err != nil {
			return err
		}
	}
	return nil
}

// comparison compares a stored descriptor with what it should say. What a
// descriptor does not say is no difference. Every statement of a descriptor is in
// the table of TestEveryLieIsFound; a new one belongs there, too.
type comparison struct {
	got, want *shardpb.FieldDescriptor
	what      string // that want is made of

	problems, notes []string
	unknown         []string // statements that want says nothing of
}

func (c *comparison) differ(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// number compares a count, nil if it is not known.
func (c *comparison) number(name string, got, want *uint64) {
	switch {
	case got == nil:
	case want == nil:
		c.unknown = append(c.unknown, name)
	case *got != *want:
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
	c.filter()
	c.specific()
}

// bounds compares least and greatest value. A bound that is inclusive is a value, one
// that is not is outside of all values.
func (c *comparison) bounds() {
	got, want := c.got.RangeStats, c.want.RangeStats
	switch {
	case got.GetMinValue() == nil && got.GetMaxValue() == nil:
	case want == nil:
		c.unknown = append(c.unknown, "range_stats")
	default:
		c.bound("minimum", -1, got.MinValue, want.MinValue, got.MinInclusive, want.MinInclusive)
		c.bound("maximum", 1, got.MaxValue, want.MaxValue, got.MaxInclusive, want.MaxInclusive)
	}
}

// bound compares one bound; outside is the order of what is beyond it.
func (c *comparison) bound(name string, outside int, got, want *commonpb.AnyValue, gotInclusive, wantInclusive bool) {
	switch {
	case got == nil:
		return
	case want == nil:
		c.differ("%s is %s, but there is no value", name, show(got))
		return
	}
	order, ok := stats.Compare(got, want)
	switch {
	case !ok:
	case gotInclusive && wantInclusive && order == 0:
		return
	case !gotInclusive && (order == outside || order == 0 && !wantInclusive):
		return
	}
	kind := map[bool]string{true: "", false: " (exclusive)"}
	c.differ("%s is %s%s, of %s %s%s", name, show(got), kind[gotInclusive], c.what, show(want), kind[wantInclusive])
}

// constant checks that all values are the constant. Shards of the reference have
// constants although some values are NaN, or differ in sign or scale only
// (docs/format.md §10.2): its counts tell.
func (c *comparison) constant() {
	got, want := c.got.ConstantValue, c.want.ConstantValue
	if got == nil || c.got.PositionCount == 0 {
		return
	}
	if c.losesNaN() {
		c.notes = append(c.notes, "the constant stands for values that are not all alike: the reference loses NaN there")
		return
	}
	switch {
	case want != nil && sameConstant(got, want):
	case want != nil:
		c.differ("constant_value is %s, of %s %s", show(got), c.what, show(want))
	case c.signOfZero():
		c.notes = append(c.notes, "the constant 0 stands for 0 and -0: the reference loses the sign of zero there")
	default:
		c.differ("constant_value is %s, but %s are not all alike", show(got), c.what)
	}
}

// losesNaN tells whether there were NaNs, by the counts, among the values that have
// become a constant.
func (c *comparison) losesNaN() bool {
	return c.got.ConstantValue != nil && (c.got.GetFloatingStats().GetNanCount() > c.want.GetFloatingStats().GetNanCount() ||
		c.got.GetDecimalStats().GetNanCount() > c.want.GetDecimalStats().GetNanCount())
}

// signOfZero tells whether the constant is a zero, and all values are zeros.
func (c *comparison) signOfZero() bool {
	d, ok := c.got.ConstantValue.GetKind().(*commonpb.AnyValue_DoubleValue)
	if !ok || d.DoubleValue != 0 || c.want.NullCount == nil || *c.want.NullCount > 0 || c.want.GetFloatingStats().GetNanCount() > 0 {
		return false
	}
	low, ok1 := stats.Compare(c.got.ConstantValue, c.want.GetRangeStats().GetMinValue())
	high, ok2 := stats.Compare(c.got.ConstantValue, c.want.GetRangeStats().GetMaxValue())
	return ok1 && ok2 && low == 0 && high == 0
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

// show is a value in a message.
func show(v *commonpb.AnyValue) string {
	switch k := v.GetKind().(type) {
	case nil:
		return "unknown"
	case *commonpb.AnyValue_NullValue:
		return "null"
	case *commonpb.AnyValue_BoolValue:
		return strconv.FormatBool(k.BoolValue)
	case *commonpb.AnyValue_I64Value:
		return strconv.FormatInt(k.I64Value, 10)
	case *commonpb.AnyValue_U64Value:
		return strconv.FormatUint(k.U64Value, 10)
	case *commonpb.AnyValue_DoubleValue:
		return strconv.FormatFloat(k.DoubleValue, 'g', -1, 64)
	case *commonpb.AnyValue_DatetimeValue:
		return fmt.Sprintf("%d ticks", k.DatetimeValue.GetTicks())
	case *commonpb.AnyValue_TimespanValue:
		return fmt.Sprintf("%d ticks", int64(k.TimespanValue.GetTicks()))
	case *commonpb.AnyValue_DecimalValue:
		if len(k.DecimalValue) == 16 {
			return decimal.Decimal(k.DecimalValue).String()
		}
		return fmt.Sprintf("% x", k.DecimalValue)
	}
	if s, ok := textOf(v); ok {
		return fmt.Sprintf("%.80q", s)
	}
	return "of another type"
}

// cardinality compares sketches, and counts with what their sketch estimates.
func (c *comparison) cardinality() {
	got, want := c.got.GetCardinality(), c.want.GetCardinality().GetHllSketch()
	if got == nil {
		return
	}
	s := got.HllSketch
	if got.Count != nil && (!got.IsEstimate || s == nil && got.GetCount() != c.want.GetCardinality().GetCount()) {
		c.unknown = append(c.unknown, "cardinality") // an exact count, or an estimate made in another way
	}
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
	switch {
	case want == nil || s.HashAlgorithm != want.HashAlgorithm || s.HashSeed != want.HashSeed || s.BitsPerIndex != want.BitsPerIndex:
		c.unknown = append(c.unknown, "sketch")
	case !bytes.Equal(s.Counters, want.Counters):
		c.differ("the sketch is not that of %s", c.what)
	}
}

// filter compares what a filter says of itself. Its bits are asked value by value.
func (c *comparison) filter() {
	got, want := c.got.GetMembershipFilters().GetSbbf(), c.want.GetMembershipFilters().GetSbbf()
	switch {
	case got == nil:
		return
	case want == nil:
		c.unknown = append(c.unknown, "filter")
	case got.NumValues != want.NumValues:
		c.differ("the filter is of %d values, %s have %d", got.NumValues, c.what, want.NumValues)
	}
	if got.NumBlocks*32 != uint64(len(got.Data)) {
		c.differ("the filter of %d blocks has %d bytes", got.NumBlocks, len(got.Data))
	}
}

// specific compares what only some types have: lengths, signs, truth.
func (c *comparison) specific() {
	got, want := c.got.TypeSpecific, c.want.TypeSpecific
	switch {
	case got == nil:
	case want == nil:
		c.unknown = append(c.unknown, "statistics of the type")
	case reflect.TypeOf(got) != reflect.TypeOf(want):
		c.differ("statistics are of another type than %s", c.what)
	default:
		c.lengths()
		c.signs()
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
	if c.losesNaN() {
		return // see constant
	}
	if s, w := c.got.GetFloatingStats(), c.want.GetFloatingStats(); s != nil && w != nil && !proto.Equal(s, w) {
		c.differ("floating_stats are %v, of %s %v", s, c.what, w)
	}
	if s, w := c.got.GetDecimalStats(), c.want.GetDecimalStats(); s != nil && w != nil && !proto.Equal(s, w) {
		c.differ("decimal_stats are %v, of %s %v", s, c.what, w)
	}
}
