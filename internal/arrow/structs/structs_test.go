package structs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

type row struct {
	ID    int
	Text  string
	Items []*item
	Pairs map[string]int
	Opt   *item
	Two   [2]string
}

type item struct{ Name string }

func makeRows(n int) []row {
	rows := make([]row, n)
	for i := range rows {
		text := strings.Repeat("x", i%40)
		rows[i] = row{ID: i, Text: text, Two: [2]string{text, fmt.Sprint(i)}}
		for k := range i % 4 {
			rows[i].Items = append(rows[i].Items, &item{text}, nil)
			if rows[i].Pairs == nil {
				rows[i].Pairs = map[string]int{}
			}
			rows[i].Pairs[fmt.Sprint(k*7%5)] = i
		}
		if i%3 == 0 {
			rows[i].Opt = &item{text}
		}
	}
	return rows
}

// batches appends rows some at a time, checks the batches, and reads them back.
func batches(t *testing.T, rows []row, step int) (got []row, n int, err error) {
	all, err := TypeOf[row]()
	require.NoError(t, err)
	r, err := all.NewReader(all.Schema())
	require.NoError(t, err)
	a := all.NewAppender()
	take := func() bool {
		batch, e := a.Batch()
		if err = e; batch == nil || e != nil {
			return false
		}
		defer batch.Release()
		n++
		for _, column := range batch.Columns() {
			require.NoError(t, arrowutil.Check(column))
		}
		more, e := r.Each(batch, func(r row, _ error) bool {
			got = append(got, r)
			return true
		})
		require.NoError(t, e)
		return more
	}
	for at := 0; at < len(rows); at += step {
		for part := rows[at:min(at+step, len(rows))]; ; {
			k, err := a.Append(part)
			if err != nil {
				return got, n, err
			}
			if part = part[k:]; !a.Full() {
				require.Empty(t, part)
				break
			}
			require.True(t, take())
		}
		require.Equal(t, min(at+step, len(rows)), len(got)+a.Len())
	}
	for take() {
	}
	return got, n, err
}

// TestFullArrays lowers what an array can hold, so that batches end in the middle of rows that are appended.
func TestFullArrays(t *testing.T) {
	rows := makeRows(3000)
	for _, limit := range []int{maxOffset, 300, 130} {
		for _, step := range []int{3000, 700, 1} {
			got, n, err := limited(limit, func() ([]row, int, error) { return batches(t, rows, step) })
			require.NoError(t, err)
			require.Len(t, got, len(rows))
			for i := range rows {
				require.Equal(t, rows[i], got[i])
			}
			require.Equal(t, limit == maxOffset, n == 1)
		}
	}
	_, _, err := limited(30, func() ([]row, int, error) { return batches(t, rows, 100) })
	require.ErrorIs(t, err, errFull)
	require.ErrorContains(t, err, "field row.")
}

func limited(limit int, run func() ([]row, int, error)) ([]row, int, error) {
	before := maxOffset
	maxOffset = limit
	defer func() { maxOffset = before }()
	return run()
}

// TestLongLists reads lists whose items are more than neighbours share.
func TestLongLists(t *testing.T) {
	rows := make([]row, 50)
	for i := range rows {
		for k := range 16 << 10 * (i % 3) {
			rows[i].Items = append(rows[i].Items, nil)
			if k%100 == 0 {
				rows[i].Items[k] = &item{fmt.Sprint(k)}
			}
		}
	}
	got, _, err := batches(t, rows, 50)
	require.NoError(t, err)
	for i := range rows {
		require.Equal(t, rows[i].Items, got[i].Items)
		require.LessOrEqual(t, cap(got[i].Items), max(1, len(got[i].Items)))
	}
}

// TestUnits converts times at the ends of their ranges.
func TestUnits(t *testing.T) {
	dt := &arrow.TimestampType{Unit: arrow.Nanosecond}
	for _, want := range []int64{-1 << 63, -1<<63 + 1, -1_000_000_000, -1, 0, 1, 1<<63 - 1} {
		got, err := unixIn(time.Unix(0, want), time.Nanosecond, dt)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	least, most := time.Unix(0, -1<<63), time.Unix(0, 1<<63-1)
	for _, bad := range []time.Time{least.Add(-1), most.Add(1), least.Add(-time.Second), most.Add(time.Second), {}} {
		_, err := unixIn(bad, time.Nanosecond, dt)
		require.Error(t, err)
	}
	day := time.Date(-9999, 1, 1, 0, 0, 0, 0, time.UTC)
	days, err := dateOf(day, arrow.FixedWidthTypes.Date32)
	require.NoError(t, err)
	require.Equal(t, day, time.Unix(int64(days)*daySeconds, 0).UTC())
	_, err = dateOf(time.Unix(1<<62/daySeconds*daySeconds, 0), arrow.FixedWidthTypes.Date32)
	require.Error(t, err)
}

// TestLeaves are the columns of a projection.
func TestLeaves(t *testing.T) {
	all, err := TypeOf[struct {
		A struct{ B, C int } `arrow:"a"`
		L []struct {
			D int
			E []struct{ F int }
		}
		M map[string]struct{ G int }
		N [][]struct{ H int }
	}]()
	require.NoError(t, err)
	var leaves []string
	for _, f := range all.Leaves() {
		leaves = append(leaves, strings.Join(f.Names, ".")+" "+f.Go)
	}
	require.Equal(t, []string{"a.B .A.B", "a.C .A.C", "L.D .L[].D", "L.E.F .L[].E[].F", "M .M", "N .N"}, leaves)
}
