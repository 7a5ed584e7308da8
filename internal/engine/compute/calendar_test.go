package compute

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The calendar is that of package time, for every day of 800 years and some far away.
func TestCalendar(t *testing.T) {
	check := func(days int64) {
		want := time.Unix(days*daySeconds, 0).UTC()
		y, m, d := date(days)
		require.Equal(t, []int{want.Year(), int(want.Month()), want.Day()}, []int{int(y), m, d}, days)
		year := make([]int64, 1)
		years(year, []int64{days})
		require.Equal(t, y, year[0])
		require.Equal(t, days, dayOf(y, m, d))
		_, week := want.ISOWeek()
		require.EqualValues(t, week, isoWeek(days))
		require.EqualValues(t, want.Weekday(), weekday(days))
		require.EqualValues(t, want.YearDay(), dateParts["dayofyear"](days))
	}
	for days := int64(-146_097); days < 146_097; days += 1 + days&7 {
		check(days)
	}
	for _, days := range []int64{-shift - 1, -shift, 1<<30 - shift - 1, 1<<30 - shift, 1 << 31, -1 << 31, 0, -719_468} {
		check(days)
	}
}

// Offsets that are remembered are those of the zone.
func TestOffsets(t *testing.T) {
	z, ok := zoneOf("Europe/Berlin")
	require.True(t, ok)
	o := z.offsets()
	for i := range int64(3000) {
		at := (i*7_654_321 + i*i*977) % 4_000_000_000
		_, want := time.Unix(at, 0).In(z.location).Zone()
		require.EqualValues(t, want, o.at(at))
	}
}
