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
	"github.com/amudai/amudai-go/shard/internal/stats"
)

// differences reports the results of a comparison. in adds the place to an error.
func (v *verifier) differences(c comparison, in func(error) error) error {
	for _, text := range c.notes {
		v.Note(in(errors.New(text)))
	}
	for _, name := range c.unknown {
		v.Unchecked(in(fmt.Errorf("%s: not known from %s", name, c.what)))
	}
	for _, text := range c.problems {
		if err := v.problem(in(fault.Corruptf("%s", text))); err != nil {
			return err
		}
	}
	return nil
}

// comparison compares a stored descriptor with the expected one. Absent statements are no difference.
// TestEveryLieIsFound has a table of all statements of descriptors; a new one belongs there, too.
type comparison struct {
	got, want *shardpb.FieldDescriptor
	what      string // the origin of want: "the values" or "the stripes"

	problems, notes []string
	unknown         []string // statements that want does not have
}

func (c *comparison) differ(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// number compares a count. nil means unknown.
func (c *comparison) number(name string, got, want *uint64) {
	switch {
	case got == nil:
	case want == nil:
		c.unknown = append(c.unknown, name)
	case *got != *want:
		c.differ("%s is %d, but %s have %d", name, *got, c.what, *want)
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

// bounds compares minimum and maximum. An inclusive bound is one of the values. An exclusive bound is outside the
// range of the values.
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

// bound compares one bound. outside is the order of values beyond it.
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
	c.differ("%s is %s%s, but %s have %s%s", name, show(got), kind[gotInclusive], c.what, show(want), kind[wantInclusive])
}

// constant checks that all values equal the constant. The reference also makes constants of values that differ in
// sign or scale or include NaN (docs/format.md §10.2). Its counts tell such cases apart.
func (c *comparison) constant() {
	got, want := c.got.ConstantValue, c.want.ConstantValue
	if got == nil || c.got.PositionCount == 0 {
		return
	}
	if c.losesNaN() {
		c.notes = append(c.notes, "the constant replaces values that are not all equal: the reference loses NaN here")
		return
	}
	switch {
	case want != nil && sameConstant(got, want):
	case want != nil:
		c.differ("constant_value is %s, but %s have %s", show(got), c.what, show(want))
	case c.signOfZero():
		c.notes = append(c.notes, "the constant 0 replaces 0 and -0: the reference loses the sign of zero here")
	default:
		c.differ("constant_value is %s, but %s are not all equal", show(got), c.what)
	}
}

// losesNaN tells, by the counts, whether values that were replaced by a constant include NaNs.
func (c *comparison) losesNaN() bool {
	return c.got.ConstantValue != nil && (c.got.GetFloatingStats().GetNanCount() > c.want.GetFloatingStats().GetNanCount() ||
		c.got.GetDecimalStats().GetNanCount() > c.want.GetDecimalStats().GetNanCount())
}

// signOfZero reports whether the constant and all values are zeros.
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
	x, ok := stats.TextOf(a)
	y, ok2 := stats.TextOf(b)
	if ok && ok2 {
		return x == y
	}
	order, ok := stats.Compare(a, b)
	return ok && order == 0
}

// show formats a value for a message.
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
	if s, ok := stats.TextOf(v); ok {
		return fmt.Sprintf("%.80q", s)
	}
	return "of another type"
}

// cardinality compares sketches, and compares counts with the estimates of their sketches.
func (c *comparison) cardinality() {
	got, want := c.got.GetCardinality(), c.want.GetCardinality().GetHllSketch()
	if got == nil {
		return
	}
	s := got.HllSketch
	if got.Count != nil && (!got.IsEstimate || s == nil && got.GetCount() != c.want.GetCardinality().GetCount()) {
		c.unknown = append(c.unknown, "cardinality") // an exact count, or an estimate of another method
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
		c.differ("the sketch differs from that of %s", c.what)
	}
}

// filter compares the header of a filter. Its bits are checked value by value.
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

// specific compares the statistics of single types: lengths, signs, booleans.
func (c *comparison) specific() {
	got, want := c.got.TypeSpecific, c.want.TypeSpecific
	switch {
	case got == nil:
	case want == nil:
		c.unknown = append(c.unknown, "statistics of the type")
	case reflect.TypeOf(got) != reflect.TypeOf(want):
		c.differ("statistics have another type than %s", c.what)
	default:
		c.lengths()
		c.signs()
	}
}

func (c *comparison) lengths() {
	if s, w := stats.LengthsOf(c.got), stats.LengthsOf(c.want); s != nil {
		c.number(s.Names[0], s.Min, w.Min)
		c.number(s.Names[1], s.Max, w.Max)
		c.number(s.Names[2], *s.MinNonEmpty, *w.MinNonEmpty)
	}
	if s, w := c.got.GetStringStats(), c.want.GetStringStats(); s != nil {
		c.number("ascii_count", s.AsciiCount, w.AsciiCount)
	}
}

func (c *comparison) signs() {
	if c.losesNaN() {
		return // see constant
	}
	c.counts("boolean_stats", c.got.GetBooleanStats(), c.want.GetBooleanStats())
	c.counts("floating_stats", c.got.GetFloatingStats(), c.want.GetFloatingStats())
	c.counts("decimal_stats", c.got.GetDecimalStats(), c.want.GetDecimalStats())
}

func (c *comparison) counts(name string, got, want proto.Message) {
	if !proto.Equal(got, want) {
		c.differ("%s are %v, but %s have %v", name, got, c.what, want)
	}
}
