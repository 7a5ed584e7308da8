package inspect

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
)

// PlainValue converts values that JSON cannot represent to text.
func PlainValue(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case time.Duration:
		return v.String()
	case shardfile.Decimal:
		return decimal.Decimal(v).String()
	case []byte:
		return bytesText(v)
	case float64:
		if v != v || v-v != 0 { // JSON has neither NaN nor infinities
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = PlainValue(x)
		}
		return out
	case []shardfile.Property:
		out := map[string]any{}
		for _, p := range v {
			out[p.Name] = PlainValue(p.Value)
		}
		return out
	case fmt.Stringer:
		return v.String()
	}
	return v
}

// bytesText formats bytes as text if they are printable UTF-8, else in hexadecimal.
func bytesText(b []byte) string {
	if utf8.Valid(b) && text.Printable(string(b)) == string(b) {
		return string(b)
	}
	return "0x" + hex.EncodeToString(b)
}

// decimalLabel is an extended type (docs/format.md §4.4).
const decimalLabel = "KustoDecimal"

// arrowText formats a date, time or duration as amudai cat does.
func arrowText(v *commonpb.AnyValue, n schema.Node) (string, bool) {
	if _, null := v.GetKind().(*commonpb.AnyValue_NullValue); null || v.GetKind() == nil || n.NumChildren() > 0 {
		return "", false
	}
	col, err := arrowmap.ColumnOf(n, arrowmap.ReadOptions{})
	if err != nil {
		return "", false
	}
	switch col.Plain.ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
	default:
		return "", false
	}
	arr, err := read.ValueOf(col, v)
	if err != nil {
		return "", false
	}
	defer arr.Release()
	if arr.Len() != 1 || arr.IsNull(0) {
		return "", false
	}
	return string(values.Text(arr)(nil, 0)), true
}

// boundsText are the bounds of the values of a column as text, or "".
func boundsText(f *shardpb.FieldDescriptor, n schema.Node) (lo, hi string) {
	if v := f.GetConstantValue(); v != nil {
		text := valueText(v, n)
		return text, text
	}
	r := f.GetRangeStats()
	if r == nil {
		return "", ""
	}
	return valueText(r.GetMinValue(), n), valueText(r.GetMaxValue(), n)
}

// valueText formats a value of a column's statistics as one line, by its type, because the metadata has times, dates, decimals and
// identifiers in their stored form, as numbers and bytes.
func valueText(v *commonpb.AnyValue, n schema.Node) string {
	if s, ok := arrowText(v, n); ok {
		return s
	}
	label, _ := n.Label()
	switch k := v.GetKind().(type) {
	case nil:
		return "–"
	case *commonpb.AnyValue_NullValue:
		return "null"
	case *commonpb.AnyValue_StringValue:
		return strconv.Quote(k.StringValue)
	case *commonpb.AnyValue_DoubleValue:
		return strconv.FormatFloat(k.DoubleValue, 'g', -1, 64)
	case *commonpb.AnyValue_U64Value:
		if n.Type() == schema.DateTime { // out of the range of the Arrow type
			return shardfile.Time(k.U64Value).Format("2006-01-02T15:04:05.9999999")
		}
	case *commonpb.AnyValue_BytesValue:
		if label == decimalLabel && len(k.BytesValue) == 16 {
			return decimal.Decimal(k.BytesValue).String()
		}
		if n.Type() == schema.Guid && len(k.BytesValue) == 16 {
			return string(text.AppendUUID(nil, k.BytesValue))
		}
	}
	return fmt.Sprint(PlainValue(shardfile.ValueFromProto(v)))
}
