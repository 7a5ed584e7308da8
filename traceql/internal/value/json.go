package value

import (
	"strconv"
	"strings"
)

// JSONFloat is a float as protobuf's JSON has it: a number, or a name of one that is not finite.
func JSONFloat(f float64) any {
	if f-f == 0 {
		return f
	}
	return strings.TrimPrefix(strings.Replace(FormatFloat(f), "Inf", "Infinity", 1), "+")
}

// JSON is a value as an AnyValue of OTLP/JSON.
func JSON(v Value) any {
	switch v.Kind() {
	case Int:
		return map[string]any{"intValue": strconv.FormatInt(v.Int64(), 10)}
	case Float:
		return map[string]any{"doubleValue": JSONFloat(v.Float64())}
	case Bool:
		return map[string]any{"boolValue": v.Bool()}
	case Array, Any:
		values := []any{}
		for _, e := range v.List() {
			values = append(values, JSON(e))
		}
		return map[string]any{"arrayValue": map[string]any{"values": values}}
	}
	return map[string]any{"stringValue": v.Plain()}
}
