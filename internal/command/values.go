package command

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
)

// anyValue is a value of the metadata as JSON can hold it.
func anyValue(v *commonpb.AnyValue) any {
	return plainValue(shardfile.ValueFromProto(v))
}

// plainValue turns the values that JSON has no form for into text.
func plainValue(v any) any {
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
			out[i] = plainValue(x)
		}
		return out
	case []shardfile.Property:
		out := map[string]any{}
		for _, p := range v {
			out[p.Name] = plainValue(p.Value)
		}
		return out
	case fmt.Stringer:
		return v.String()
	}
	return v
}

// bytesText shows bytes: as text if they are one, else in hexadecimal.
func bytesText(b []byte) string {
	if utf8.Valid(b) && printable(string(b)) == string(b) {
		return string(b)
	}
	return "0x" + hex.EncodeToString(b)
}

// storedValue is a value of a column's statistics, with times as such: the
// metadata holds them as the numbers that are stored.
func storedValue(v *commonpb.AnyValue, n schema.Node) any {
	label, _ := n.Label()
	switch k := v.GetKind().(type) {
	case *commonpb.AnyValue_U64Value:
		if n.Type() == schema.DateTime {
			return timeText(k.U64Value)
		}
	case *commonpb.AnyValue_I64Value:
		if label == timeSpanLabel {
			return spanText(k.I64Value)
		}
	case *commonpb.AnyValue_BytesValue:
		if label == decimalLabel && len(k.BytesValue) == 16 {
			return decimal.Decimal(k.BytesValue).String()
		}
		if n.Type() == schema.Guid && len(k.BytesValue) == 16 {
			b := hex.EncodeToString(k.BytesValue)
			return b[:8] + "-" + b[8:12] + "-" + b[12:16] + "-" + b[16:20] + "-" + b[20:]
		}
	}
	return anyValue(v)
}

// Labels of extended types (docs/format.md §4.4).
const (
	timeSpanLabel = "KustoTimeSpan"
	decimalLabel  = "KustoDecimal"
)

// timeText is a DateTime: 2012-12-31T15:04:05.1234567.
func timeText(ticks uint64) string {
	return shardfile.Time(ticks).Format("2006-01-02T15:04:05.9999999")
}

// spanText is a number of 100-ns steps: 36h0m0.5s.
func spanText(ticks int64) string {
	if ticks > math.MaxInt64/100 || ticks < math.MinInt64/100 {
		return strconv.FormatInt(ticks/10_000_000, 10) + "s"
	}
	return time.Duration(ticks * 100).String()
}

// valueText is a value of a column's statistics for people, in one line.
func valueText(v *commonpb.AnyValue, n schema.Node) string {
	if v == nil || v.GetKind() == nil {
		return "–"
	}
	switch x := storedValue(v, n).(type) {
	case nil:
		return "null"
	case string:
		if _, isText := v.GetKind().(*commonpb.AnyValue_StringValue); isText {
			return strconv.Quote(x)
		}
		return x
	case bool:
		return strconv.FormatBool(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case uint64:
		return strconv.FormatUint(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	default:
		return fmt.Sprint(x)
	}
}
