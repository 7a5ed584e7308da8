package text_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/text"
)

// TestInstantRange reads the first and the last second that 64 bits hold, and refuses times beyond.
func TestInstantRange(t *testing.T) {
	for s, want := range map[string]int64{
		"+292277026596-12-04T15:30:07":       math.MaxInt64,
		"+292277026596-12-04T16:30:07+01:00": math.MaxInt64,
		"-292277022657-01-27T08:29:52":       math.MinInt64,
		"1970-01-01T00:00:00":                0,
		"0000-03-01T00:00:00":                -62162035200,
	} {
		got, err := text.ParseInstant([]byte(s), text.Strict)
		require.NoError(t, err, s)
		require.Equal(t, want, got.Secs, s)
	}
	for _, s := range []string{
		"+292277026596-12-04T15:30:08", "-292277022657-01-27T08:29:51", "+584554051223-11-09T07:00:16", "+999999999999-01-01T00:00:00",
		"-999999999999-01-01T00:00:00", "+292277026596-12-04T15:30:07-00:01", "-292277022657-01-27T08:29:52+00:01",
	} {
		_, err := text.ParseInstant([]byte(s), text.Strict)
		require.ErrorIs(t, err, text.ErrTimeRange, s)
		_, err = text.ParseInstant([]byte(s), text.Lenient)
		require.ErrorIs(t, err, text.ErrTimeRange, s)
	}
	_, err := text.ParseInstant([]byte("+1999999999999-01-01T00:00:00"), text.Strict)
	require.ErrorIs(t, err, text.ErrSyntax)
}

// TestWhatIsPrintedIsRead prints random times and durations of all units, and reads them strictly and leniently.
func TestWhatIsPrintedIsRead(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 0, -1})).Draw(r, "v")
		per := rapid.SampledFrom([]int64{1, 1e3, 1e6, 1e9}).Draw(r, "per")
		for _, mode := range []text.Mode{text.Strict, text.Lenient} {
			b := text.AppendTimestamp(nil, v, per, rapid.Bool().Draw(r, "zoned"))
			instant, err := text.ParseInstant(b, mode)
			require.NoError(r, err, string(b))
			got, err := instant.InUnits(per)
			require.NoError(r, err, string(b))
			require.Equal(r, v, got, string(b))
		}
		b := text.AppendDuration(nil, v, per)
		d, err := text.ParseDuration(b)
		require.NoError(r, err, string(b))
		got, err := d.InUnits(per)
		require.NoError(r, err, string(b))
		require.Equal(r, v, got)
		got, err = text.ParseSpan(string(b), per)
		require.NoError(r, err, string(b))
		require.Equal(r, v, got)
		day := rapid.Int64Range(0, text.DaySeconds*per-1).Draw(r, "day")
		b = text.AppendTimeOfDay(nil, day, per)
		clock, rest, ok := text.CutClock(b, text.Strict)
		require.True(r, ok && len(rest) == 0, string(b))
		got, err = clock.InUnits(per)
		require.NoError(r, err)
		require.Equal(r, day, got)
	})
}

// TestLenientTimes reads times as people write them, in filters and for types of --schema. Strict parsing refuses
// them.
func TestLenientTimes(t *testing.T) {
	for s, want := range map[string]string{
		"2001-1-5":                "2001-01-05T00:00:00",
		"2001-01-05":              "2001-01-05T00:00:00",
		"12001-01-05":             "+12001-01-05T00:00:00",
		"2001-01-05t10:00":        "2001-01-05T10:00:00",
		"2001-01-05  9:00:01":     "2001-01-05T09:00:01",
		"2001-01-05 10:00 +01:00": "2001-01-05T09:00:00",
	} {
		got, err := text.ParseInstant([]byte(s), text.Lenient)
		require.NoError(t, err, s)
		require.Equal(t, want, string(text.AppendTimestamp(nil, got.Secs, 1, false)))
		_, err = text.ParseInstant([]byte(s), text.Strict)
		require.Error(t, err, s)
	}
	for s, want := range map[string]int64{"1h30m": 5400e9, "1d2h3.5s": 93603.5e9, "01:02:03": 3723e9, "-5ms": -5e6, "0": 0, "PT1M": 60e9, "1.5h": 5400e9} {
		got, err := text.ParseSpan(s, 1e9)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "1", "h", "1h30", "1.h.", "P1M", "5 parsecs", "1e3s"} {
		_, err := text.ParseSpan(s, 1e9)
		require.Error(t, err, s)
	}
	_, err := text.ParseSpan("0.1ns", 1e9)
	require.ErrorIs(t, err, text.ErrUnitLoss)
}

func FuzzInstant(f *testing.F) {
	f.Add("+584554051223-11-09T07:00:16+23:59")
	f.Fuzz(func(t *testing.T, s string) {
		for _, mode := range []text.Mode{text.Strict, text.Lenient} {
			got, err := text.ParseInstant([]byte(s), mode)
			if err != nil {
				continue
			}
			again, err := text.ParseInstant(text.AppendTimestamp(nil, got.Secs, 1, got.Zoned), text.Strict)
			require.NoError(t, err)
			require.Equal(t, got.Secs, again.Secs)
		}
		text.ParseExactSpan(s)
		_, _, _ = text.CutClock([]byte(s), text.Lenient)
	})
}
