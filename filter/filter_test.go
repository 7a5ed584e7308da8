package filter_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// selected returns the rows that a condition selects from a column x given as JSON.
func selected(t *testing.T, dt arrow.DataType, values, condition string) []int64 {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: dt, Nullable: true}}, nil)
	b, err := predicate.BindText(condition, s)
	require.NoError(t, err, condition)
	arr, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(values))
	require.NoError(t, err, values)
	batch := array.NewRecordBatch(s, []arrow.Array{arr}, int64(arr.Len()))
	rows, err := b.Select(batch)
	require.NoError(t, err, condition)
	out := []int64{}
	for row := range rows.Rows() {
		out = append(out, row)
	}
	return out
}

// rows parses row numbers from a string of digits.
func rows(digits string) []int64 {
	out := []int64{}
	for _, d := range digits {
		out = append(out, int64(d-'0'))
	}
	return out
}

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		dt     arrow.DataType
		values string
		checks string // condition → rows
	}{
		{arrow.PrimitiveTypes.Int8, `[-128, -1, 0, 1, 127, null]`, `
			x = 1 → 3
			x = 1.5 →
			x <> 1.5 → 01234
			x > 0.5 → 34
			x >= -0.5 → 234
			x < 1000 → 01234
			x > 127 →
			x >= 127 → 4
			x < -128 →
			x <= -128 → 0
			x <> 1 → 0124
			not x = 1 → 0124
			not (x = 1 or x > 100) → 012
			x between -1 and 1 → 123
			x not between -1 and 1 → 04
			x in (1, 0, 1000, 127) → 234
			x in (1, null) → 3
			x not in (1, null) →
			x not in (1, 2) → 0124
			x in () →
			x not in () → 01234
			x is null → 5
			x is not null → 01234
			x = null →
			x <> null →
			not x = null →
			true → 012345
			false →
			null →
			not null →
			x = 1 or true → 012345
			x = 1 and null →
			x = 1 or null → 3
			x = 0x7f → 4
			x = 0b1 → 3
			1 = x → 3
			0 < x → 34
			0 >= x → 012
			x is nan →
			x is not nan → 01234
			x between null and 0 →
			x not between null and 0 → 34
			(x) = 1 → 3
			x > 0 and x < 100 → 3
			x > 100 and x < 0 →
			x < 1 or x > 0 → 01234
			x < 0 or x > 0 and x < 50 → 013
			x = '127' → 4
		`},
		{arrow.PrimitiveTypes.Uint64, `[0, 1, 18446744073709551615, null]`, `
			x > 9223372036854775807 → 2
			x >= 18446744073709551615 → 2
			x > 18446744073709551615 →
			x = -1 →
			x > -1 → 012
			x < 0.5 → 0
			x in (0, 18446744073709551615) → 02
			x not in (0, 18446744073709551615) → 1
		`},
		{arrow.FixedWidthTypes.Boolean, `[true, false, null]`, `
			x → 0
			not x → 1
			x = true → 0
			x <> true → 1
			x in (true, false) → 01
			x < true → 1
			x = 'TRUE' → 0
			x is null → 2
			x or not x → 01
			x and not x →
		`},
		{arrow.PrimitiveTypes.Float64, `[-0.0, 0.0, 0.1, 1.5, 9007199254740993, 1e308, null]`, `
			x = 0 → 01
			x >= 0 → 012345
			x < 0 →
			x = 0.1 → 2
			x > 0.1 → 345
			x = 9007199254740993 →
			x > 9007199254740992 → 5
			x = 9007199254740992 → 4
			x < 1e309 → 012345
			x > 1e309 →
			x >= 1e400 →
			x <> 1e400 → 012345
			x = 'NaN' →
			x <> 'NaN' → 012345
			x is nan →
			x < 'inf' → 012345
			x <= '-inf' →
		`},
		{arrow.PrimitiveTypes.Float32, `[0.1, 16777216, 3.4028235e38, null]`, `
			x = 0.1 → 0
			x > 0.1 → 12
			x = 16777217 →
			x > 16777216 → 2
			x < 16777217 → 01
			x >= 16777217 → 2
			x = 16777217.0 → 1
			x = 3.4028235e38 → 2
			x < 1e39 → 012
			x >= 1e39 →
		`},
		{&arrow.Decimal128Type{Precision: 12, Scale: 2}, `["1.00", "1.50", "-2.25", null]`, `
			x = 1.5 → 1
			x = 1.505 →
			x > 1.499 → 1
			x >= -2.255 → 012
			x < -2.25 →
			x < 1e30 → 012
			x < 1e60 → 012
			x in (1, -2.25) → 02
			x = '1.50' → 1
		`},
		{&arrow.Decimal256Type{Precision: 60, Scale: -2}, `["100", "1500", "-200", null]`, `
			x = 100 → 0
			x > 1450 → 1
			x < 150 → 02
			x = 150 →
		`},
		{&arrow.Decimal32Type{Precision: 5, Scale: 1}, `["1.0", "1.5", null]`, `
			x > 1.25 → 1
			x <= 1.5 → 01
		`},
		{arrow.BinaryTypes.String, `["SFO", "", "SFOX", "sfo", "größe", "a%b_c", "prefix-middle-suffix", null]`, `
			x = 'SFO' → 0
			x in ('SFO', '') → 01
			x <> '' → 023456
			x >= 'SFO' and x < 'SFP' → 02
			x starts with 'SFO' → 02
			not x starts with 'SFO' → 13456
			x ends with 'O' → 0
			x contains 'i' → 6
			x contains '' → 0123456
			x like 'SF%' → 02
			x like '%fix-%-suf%' → 6
			x like 'a\%b\_c' → 5
			x like '____' → 2
			x like 'gr__e' → 4
			x like '%e' → 4
			x like '' → 1
			x like '%' → 0123456
			x ilike 'S%O' → 03
			x iequals 'Sfo' → 03
			x icontains 'SF' → 023
			x istarts with 'gRÖ' → 4
			x iends with 'o' → 03
			x matches '^S.*O$' → 0
			x ~ 'fo' → 3
			x ~* 'fo' → 023
			x !~ 'fo' → 012456
			x ~ '^(pre|suf)' → 6
			x ~ 'mid+le' → 6
			x ~ '^$' → 1
			contains(x, 'mid') → 6
			icontains(x, 'MID') → 6
			isnull(x) → 7
			x in ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'SFO', 'sfo') → 03
			x = x'53464f' → 0
			x = e'\x53FO' → 0
		`},
		{arrow.FixedWidthTypes.Date32, `["2001-01-05", "1969-12-31", null]`, `
			x = '2001-01-05' → 0
			x >= '2001-01-05T00:00:01' →
			x > '2001-01-04T23:59:59' → 0
			x < '1970-01-01' → 1
			x = date '1969-12-31' → 1
			x < '2262-04-12' → 01
			x < '+9999999-12-31' → 01
		`},
		{&arrow.TimestampType{Unit: arrow.Millisecond}, `["2001-01-05 12:00:00.5", "1969-12-31 23:59:59.999", null]`, `
			x > '2001-01-05' → 0
			x = '2001-01-05T12:00:00.500Z' → 0
			x = '2001-01-05 13:00:00.500+01:00' → 0
			x = '2001-01-05T12:00:00.5001' →
			x < '2001-01-05T12:00:00.5001' → 01
			x >= '1969-12-31 23:59:59.9985' → 01
			x = timestamp '1969-12-31 23:59:59.999' → 1
		`},
		{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "+05:30"}, `["2001-01-05T12:00:00Z", null]`, `
			x = '2001-01-05T12:00:00Z' → 0
			x = '2001-01-05T17:30:00' → 0
		`},
		{arrow.FixedWidthTypes.Time32s, `["12:34:56", "00:00:00", null]`, `
			x > '12:34' → 0
			x < '00:00:00.5' → 1
		`},
		{arrow.FixedWidthTypes.Duration_ms, `["1500ms", "-1ms", null]`, `
			x > '1s' → 0
			x = '1s500ms' → 0
			x = '1.5s' → 0
			x < '0s' → 1
			x < '1d2h' → 01
			x >= '-1ms' → 01
			x > '00:00:01' → 0
		`},
		{arrow.ListOf(arrow.PrimitiveTypes.Int8), `[[1], null]`, `
			x is null → 1
			x is not null → 0
		`},
		{arrow.Null, `[null, null]`, `
			x is null → 01
			x is not null →
		`},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, `["YWI=", "YWM=", null]`, `
			x = 'ab' → 0
			x = 'a' →
			x > 'a' → 01
			x <> 'abc' → 01
			x starts with 'a' → 01
			x > 'abz' → 1
		`},
	} {
		for line := range strings.SplitSeq(strings.TrimSpace(c.checks), "\n") {
			condition, want, ok := strings.Cut(line, "→")
			require.True(t, ok, line)
			require.Equal(t, rows(strings.TrimSpace(want)), selected(t, c.dt, c.values, strings.TrimSpace(condition)), "%s on %s", line, c.values)
		}
	}
}
