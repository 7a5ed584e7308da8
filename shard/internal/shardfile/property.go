package shardfile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/message"
)

// Names of the standard properties of a shard or a stripe that this library writes.
const (
	// PropertyEdition is the edition of the format that the shard was written with.
	PropertyEdition = "amudai.edition"
	// PropertyFeatures lists the features that the reference does not have, separated by commas.
	PropertyFeatures = "amudai.features"
	// PropertyChecksumTree is a [ChecksumTree].
	PropertyChecksumTree = "amudai.checksum-tree"
	// PropertyDescriptors is the place of copies of the descriptors of all stripes (docs/format.md §11.2): a list of the start and the end of their frame.
	PropertyDescriptors = "amudai.descriptors"
	// PropertyShards is a list of the ends of the directory ranges of the shards before this one in its artifact, ascending.
	PropertyShards = "amudai.shards"
	// PropertyHistory has the earlier versions of a shard that are kept: a struct.
	PropertyHistory = "amudai.history"
	// PropertyFooters are, for a stripe that refers to Parquet files, the XXH3-64 of their footers: a list of u64.
	PropertyFooters = "amudai.parquet-footers"
	// PropertyWriter is the name and version of the program that wrote the shard.
	PropertyWriter = "amudai.writer"
)

// DefaultWriter is the default value of [PropertyWriter].
const DefaultWriter = "amudai-go 0.1.0"

// Property is a named value of a shard, a stripe or a field.
//
// Value is nil, bool, int64 (int and int32 are accepted), uint64, float64, string, []byte, [time.Time] (stored as UTC in units of 100 ns), [time.Duration] (the same units),
// [Decimal], []any, []Property (a struct), or a *commonpb.AnyValue for anything else.
type Property struct {
	Name  string // case-sensitive; the first of several with the same name counts
	Value any    // see above
}

// Decimal is the 16 bytes of a decimal128 value (docs/format.md §5.5).
type Decimal [16]byte

// unixEpochTicks is 1970-01-01 in units of 100 ns since 0001-01-01.
const unixEpochTicks = 621355968000000000

// Ticks converts a time to a DateTime: units of 100 ns since 0001-01-01 UTC. Fractions of a unit are cut off. Times before that day or past the last tick are errors.
func Ticks(t time.Time) (uint64, error) {
	const perSecond = 10_000_000
	s, rest := t.Unix(), uint64(t.Nanosecond()/100)
	if s < -unixEpochTicks/perSecond || uint64(s+unixEpochTicks/perSecond) > (math.MaxUint64-rest)/perSecond {
		return 0, fmt.Errorf("%v cannot be stored as a DateTime", t)
	}
	return uint64(s+unixEpochTicks/perSecond)*perSecond + rest, nil
}

// Time is the inverse of [Ticks], in UTC.
func Time(ticks uint64) time.Time {
	const perSecond = 10_000_000
	return time.Unix(int64(ticks/perSecond)-unixEpochTicks/perSecond, int64(ticks%perSecond)*100).UTC()
}

// PropertiesToProto converts properties to their stored form.
func PropertiesToProto(list []Property) ([]*commonpb.NameValuePair, error) {
	return propertiesToProto(list, message.MaxNesting/4)
}

func propertiesToProto(list []Property, depth int) ([]*commonpb.NameValuePair, error) {
	var out []*commonpb.NameValuePair
	for _, p := range list {
		v, err := valueToProto(p.Value, depth)
		if err != nil {
			return nil, fmt.Errorf("property %q: %w", p.Name, err)
		}
		out = append(out, &commonpb.NameValuePair{Name: p.Name, Value: v})
	}
	return out, nil
}

func valueToProto(value any, depth int) (*commonpb.AnyValue, error) {
	if depth == 0 {
		return nil, fmt.Errorf("values nest too deep")
	}
	switch v := value.(type) {
	case nil:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_NullValue{NullValue: &commonpb.UnitValue{}}}, nil
	case bool:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_BoolValue{BoolValue: v}}, nil
	case int:
		return valueToProto(int64(v), depth)
	case int32:
		return valueToProto(int64(v), depth)
	case int64:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_I64Value{I64Value: v}}, nil
	case uint64:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_U64Value{U64Value: v}}, nil
	case float64:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}, nil
	case string:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_StringValue{StringValue: v}}, nil
	case []byte:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_BytesValue{BytesValue: v}}, nil
	case Decimal:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DecimalValue{DecimalValue: v[:]}}, nil
	case time.Duration:
		ticks := &commonpb.TimeSpan{Ticks: uint64(int64(v) / 100)}
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_TimespanValue{TimespanValue: ticks}}, nil
	case time.Time:
		ticks, err := Ticks(v)
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DatetimeValue{DatetimeValue: &commonpb.DateTimeUtc{Ticks: ticks}}}, err
	case []any:
		list := &commonpb.ListValue{}
		for _, e := range v {
			p, err := valueToProto(e, depth-1)
			if err != nil {
				return nil, err
			}
			list.Elements = append(list.Elements, p)
		}
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_ListValue{ListValue: list}}, nil
	case []Property:
		fields, err := propertiesToProto(v, depth-1)
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_StructValue{StructValue: &commonpb.StructValue{Fields: fields}}}, err
	case *commonpb.AnyValue:
		return v, nil
	}
	return nil, fmt.Errorf("values of type %T are not supported", value)
}

// PropertiesFromProto is the inverse of [PropertiesToProto].
func PropertiesFromProto(list []*commonpb.NameValuePair) []Property {
	var out []Property
	for _, p := range list {
		out = append(out, Property{p.GetName(), ValueFromProto(p.GetValue())})
	}
	return out
}

// ValueFromProto converts a value to the types that [Property] lists.
func ValueFromProto(v *commonpb.AnyValue) any {
	switch k := v.GetKind().(type) {
	case *commonpb.AnyValue_NullValue:
		return nil
	case *commonpb.AnyValue_BoolValue:
		return k.BoolValue
	case *commonpb.AnyValue_I64Value:
		return k.I64Value
	case *commonpb.AnyValue_U64Value:
		return k.U64Value
	case *commonpb.AnyValue_DoubleValue:
		return k.DoubleValue
	case *commonpb.AnyValue_StringValue:
		return k.StringValue
	case *commonpb.AnyValue_BytesValue:
		return k.BytesValue
	case *commonpb.AnyValue_DecimalValue:
		if len(k.DecimalValue) == 16 {
			return Decimal(k.DecimalValue)
		}
	case *commonpb.AnyValue_DatetimeValue:
		return Time(k.DatetimeValue.GetTicks())
	case *commonpb.AnyValue_TimespanValue:
		if ticks := int64(k.TimespanValue.GetTicks()); ticks <= math.MaxInt64/100 && ticks >= math.MinInt64/100 {
			return time.Duration(ticks * 100)
		}
	case *commonpb.AnyValue_ListValue:
		list := []any{}
		for _, e := range k.ListValue.GetElements() {
			list = append(list, ValueFromProto(e))
		}
		return list
	case *commonpb.AnyValue_StructValue:
		return PropertiesFromProto(k.StructValue.GetFields())
	}
	return v
}

// Find is the value of the property with a name, nil if there is none.
func Find(list []Property, name string) any {
	if i := slices.IndexFunc(list, func(p Property) bool { return p.Name == name }); i >= 0 {
		return list[i].Value
	}
	return nil
}

// Without are properties but for the one with a name; never nil.
func Without(list []Property, name string) []Property {
	return slices.DeleteFunc(append([]Property{}, list...), func(p Property) bool { return p.Name == name })
}

// UnknownFeatures lists those features in the standard properties of a shard that this version does not know, and
// the shard's edition if it is unknown.
func UnknownFeatures(standard []Property) (unknown []string) {
	for _, q := range standard {
		text, _ := q.Value.(string)
		switch q.Name {
		case PropertyEdition:
			if _, err := edition.Parse(text); err != nil {
				unknown = append(unknown, "edition "+text)
			}
		case PropertyFeatures:
			_, others := edition.ParseSet(text)
			unknown = append(unknown, others...)
		}
	}
	return unknown
}

// WithFeatures are standard properties of a shard that uses more features.
func WithFeatures(standard []Property, more edition.Set) []Property {
	i := slices.IndexFunc(standard, func(p Property) bool { return p.Name == PropertyFeatures })
	if i < 0 {
		if more == 0 {
			return standard
		}
		return append(slices.Clone(standard), Property{Name: PropertyFeatures, Value: more.String()})
	}
	text, _ := standard[i].Value.(string)
	known, others := edition.ParseSet(text)
	if known|more == known {
		return standard
	}
	standard = slices.Clone(standard)
	standard[i].Value = strings.Join(append([]string{(known | more).String()}, others...), ",")
	return standard
}
