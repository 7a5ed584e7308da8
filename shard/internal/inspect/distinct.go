package inspect

import (
	"context"
	"maps"

	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/dictionary"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/valuedict"
	"github.com/amudai/amudai-go/table/provider"
)

// distinct is the number of distinct values of a column without nulls.
type distinct struct {
	n        *uint64 // nil if it is not known
	estimate bool
}

// cell is the number in a list.
func (d distinct) cell() any {
	if d.n != nil && d.estimate {
		return provider.Estimate(*d.n)
	}
	return known(d.n)
}

// distinctOf returns the number of distinct values in a descriptor, within the limits that its other statistics
// prove. If these allow a single number, it is exact.
func distinctOf(f *shardpb.FieldDescriptor) distinct {
	least, most := distinctLimits(f)
	c := f.GetCardinality()
	switch {
	case least == most:
		return distinct{n: &least}
	case c == nil || c.Count == nil:
		return distinct{}
	}
	n := min(max(c.GetCount(), least), most)
	return distinct{n: &n, estimate: c.GetIsEstimate() || n != c.GetCount()}
}

// distinctLimits returns the minimum and maximum number of distinct values that a descriptor allows.
func distinctLimits(f *shardpb.FieldDescriptor) (least, most uint64) {
	if c := f.GetConstantValue(); c != nil && f.GetDictionarySize() == 0 {
		if _, null := c.GetKind().(*commonpb.AnyValue_NullValue); null || f.GetPositionCount() == 0 {
			return 0, 0
		}
		return 1, 1
	}
	if s := f.GetBooleanStats(); s != nil {
		n := min(s.GetTrueCount(), 1) + min(s.GetFalseCount(), 1)
		return n, n
	}
	lo, hi := f.GetRangeStats().GetMinValue(), f.GetRangeStats().GetMaxValue()
	if f.NullCount == nil {
		if lo != nil {
			least = 1
		}
		return least, f.GetPositionCount()
	}
	if f.GetNullCount() >= f.GetPositionCount() {
		return 0, 0
	}
	least, most = 1, f.GetPositionCount()-f.GetNullCount()
	if lo == nil || hi == nil {
		return least, most
	}
	nans := min(f.GetFloatingStats().GetNanCount(), 1)
	exact := f.GetRangeStats().GetMinInclusive() && f.GetRangeStats().GetMaxInclusive()
	if exact && !proto.Equal(lo, hi) {
		least = 2 + nans
	}
	if n, ok := integersBetween(lo, hi); ok {
		most = min(most, n)
	}
	return min(least, most), most
}

// integersBetween counts the integers from lo to hi. ok is false if these are not integers or if the count exceeds
// 64 bits.
func integersBetween(lo, hi *commonpb.AnyValue) (uint64, bool) {
	var n uint64
	switch from := lo.GetKind().(type) {
	case *commonpb.AnyValue_I64Value:
		to, ok := hi.GetKind().(*commonpb.AnyValue_I64Value)
		if !ok || to.I64Value < from.I64Value {
			return 0, false
		}
		n = uint64(to.I64Value) - uint64(from.I64Value)
	case *commonpb.AnyValue_U64Value:
		to, ok := hi.GetKind().(*commonpb.AnyValue_U64Value)
		if !ok || to.U64Value < from.U64Value {
			return 0, false
		}
		n = to.U64Value - from.U64Value
	default:
		return 0, false
	}
	return n + 1, n+1 != 0
}

// maxExactBytes limits the values that are compared to count distinct values over several stripes.
const maxExactBytes = 256 << 20

// distinctSet counts the distinct values of a column, if each stripe has them all in a dictionary, or has a single
// one. The zero set is empty.
type distinctSet struct {
	unknown      bool
	dictionaries []*dictionary.Dictionary
	constants    map[string]struct{} // encoded constants of columns that may have dictionaries
	bytes        int
}

// add adds the values of one stripe.
func (s *distinctSet) add(ctx context.Context, st *shardfile.Stripe, n schema.Node, f *shardpb.FieldDescriptor, e []*shardpb.DataEncoding) error {
	if f.GetPositionCount() == 0 || f.NullCount != nil && f.GetNullCount() == f.GetPositionCount() {
		return nil
	}
	if c := f.GetConstantValue(); c != nil && f.GetDictionarySize() == 0 {
		s.addConstant(c)
		return nil
	}
	d, err := readDictionary(ctx, st, n, f.GetPositionCount(), e)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// Verify reports the damage. Numbers may be equal that differ as bytes, and constants are kept in another form.
	if err != nil || d == nil || d.Key != nil || f.GetDecimalStats() != nil || len(d.Data()) > maxExactBytes {
		s.unknown = true
		return nil
	}
	s.dictionaries, s.bytes = append(s.dictionaries, d), s.bytes+len(d.Data())
	return nil
}

func (s *distinctSet) addConstant(c *commonpb.AnyValue) {
	var key []byte
	switch v := c.GetKind().(type) {
	case *commonpb.AnyValue_NullValue:
		return
	case *commonpb.AnyValue_StringValue:
		key = []byte(v.StringValue)
	case *commonpb.AnyValue_BytesValue:
		key = v.BytesValue
	default:
		var err error
		key, err = proto.MarshalOptions{Deterministic: true}.Marshal(c)
		s.unknown = s.unknown || err != nil
	}
	if s.constants == nil {
		s.constants = map[string]struct{}{}
	}
	s.constants[string(key)] = struct{}{}
}

// merge adds the values of another set.
func (s *distinctSet) merge(from *distinctSet) {
	s.bytes += from.bytes
	if s.unknown = s.unknown || from.unknown || s.bytes > maxExactBytes; s.unknown {
		s.dictionaries, s.constants = nil, nil
		return
	}
	s.dictionaries = append(s.dictionaries, from.dictionaries...)
	if s.constants == nil {
		s.constants = map[string]struct{}{}
	}
	maps.Copy(s.constants, from.constants)
}

// count returns the exact count. ok is false if there is none.
func (s *distinctSet) count() (distinct, bool) {
	if s.unknown || len(s.dictionaries)+len(s.constants) == 0 {
		return distinct{}, false
	}
	if len(s.dictionaries) == 1 && len(s.constants) == 0 {
		n := uint64(s.dictionaries[0].Len())
		if _, null := s.dictionaries[0].NullID(); null {
			n--
		}
		return distinct{n: &n}, true
	}
	all := map[string]struct{}{}
	maps.Copy(all, s.constants)
	for _, d := range s.dictionaries {
		null, hasNull := d.NullID()
		for id := range uint32(d.Len()) {
			if !hasNull || id != null {
				all[string(d.Value(id))] = struct{}{}
			}
		}
	}
	n := uint64(len(all))
	return distinct{n: &n}, true
}

// readDictionary reads the value dictionary of a column in a stripe. It returns nil if there is none.
func readDictionary(ctx context.Context, st *shardfile.Stripe, n schema.Node, positions uint64, encodings []*shardpb.DataEncoding) (*dictionary.Dictionary, error) {
	for _, e := range encodings {
		b := stripe.FindBuffer(e.GetNative().GetBuffers(), shardpb.BufferKind_VALUE_DICTIONARY)
		if b == nil {
			continue
		}
		stored, err := valuedict.Open(ctx, st, nodeOf(n, e.GetNative()), b, positions, 0)
		if err != nil {
			return nil, err
		}
		_, d, err := stored.Read(ctx, nil)
		return d, err
	}
	return nil, nil
}
