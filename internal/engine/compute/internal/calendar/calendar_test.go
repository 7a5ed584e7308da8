package calendar

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The calendar is that of package time, for every day of 800 years and some far away.
func TestCalendar(t *testing.T) {
	check := func(days int64) {
		want := time.Unix(days*DaySeconds, 0).UTC()
		y, m, d := date(days)
		require.Equal(t, []int{want.Year(), int(want.Month()), want.Day()}, []int{int(y), m, d}, days)
		require.Equal(t, days, DayOf(y, m, d))
		_, week := want.ISOWeek()
		require.EqualValues(t, week, isoWeek(days))
		require.EqualValues(t, want.Weekday(), weekday(days))
		require.EqualValues(t, want.YearDay(), Parts["dayofyear"](days))
	}
	for days := int64(-146_097); days < 146_097; days += 1 + days&7 {
		check(days)
	}
	for _, days := range []int64{-shift - 1, -shift, 1<<30 - shift - 1, 1<<30 - shift, 1 << 31, -1 << 31, 0, -719_468} {
		check(days)
	}
}

// Parts of days are the same whether a table of near days gives them or not, and so are days of local times.
func TestPartsOfManyDays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		from, span := r.Int64N(1<<40)-1<<39, 1+r.Int64N([]int64{5, 400, 1 << 20}[r.IntN(3)])
		days, seconds := make([]int64, 1+r.IntN(500)), make([]int64, 500)[:0]
		for i := range days {
			days[i] = from/DaySeconds + r.Int64N(span)
			seconds = append(seconds, days[i]*DaySeconds+r.Int64N(DaySeconds))
		}
		dst := make([]int64, len(days))
		for name, part := range Parts {
			OfDays(dst, days, part)
			for i, day := range days {
				require.Equal(t, part(day), dst[i], "%s of day %d", name, day)
			}
		}
		for _, per := range []int64{1, 1e3, 1e6} {
			for i, s := range seconds {
				dst[i] = s*per + r.Int64N(per)
			}
			LocalDays(dst, dst, per, Zone{})
			require.Equal(t, days, dst)
			LocalDays(dst, seconds, 1, Zone{offset: -DaySeconds})
			for i, day := range days {
				require.Equal(t, day-1, dst[i])
			}
		}
	}
	first := make([]int32, 100)
	OfDays(first, slices.Repeat([]int32{math.MinInt32}, 100), Truncations["year"])
	require.EqualValues(t, math.MinInt32, first[0])
}

// Offsets that are remembered are those of the zone.
func TestOffsets(t *testing.T) {
	z, ok := ZoneOf("Europe/Berlin")
	require.True(t, ok)
	o := z.Offsets()
	for i := range int64(3000) {
		at := (i*7_654_321 + i*i*977) % 4_000_000_000
		_, want := time.Unix(at, 0).In(z.Location).Zone()
		require.EqualValues(t, want, o.At(at))
	}
}
