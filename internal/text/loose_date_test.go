package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/text"
)

func TestLooseDate(t *testing.T) {
	for in, want := range map[string]struct {
		orders text.DateOrders
		iso    string // in the first of the orders
	}{
		"31.12.2012":                {text.DMY, "2012-12-31"},
		"12/31/2012":                {text.MDY, "2012-12-31"},
		"01/02/2012":                {text.DMY | text.MDY, "2012-02-01"},
		"2012/12/31":                {text.YMD, "2012-12-31"},
		"2012-1-5":                  {text.YMD, "2012-01-05"},
		"31-Dec-2012":               {text.DMY, "2012-12-31"},
		"31 december 2012":          {text.DMY, "2012-12-31"},
		"Dec 31, 2012":              {text.MDY, "2012-12-31"},
		"Sept. 3, 2012":             {text.MDY, "2012-09-03"},
		"2012-May-03":               {text.YMD, "2012-05-03"},
		"12/31/2012 11:59 PM":       {text.MDY, "2012-12-31T23:59:00"},
		"12/31/2012 12:05:01.5 am":  {text.MDY, "2012-12-31T00:05:01.500"},
		"12/31/2012 12:05 p.m.":     {text.MDY, "2012-12-31T12:05:00"},
		"31.12.2012, 7:05":          {text.DMY, "2012-12-31T07:05:00"},
		"December 31, 2012 7:05:09": {text.MDY, "2012-12-31T07:05:09"},
		"31/12/12":                  {text.DMY, "2012-12-31"},
		"1/31/69":                   {text.MDY, "1969-01-31"},
		"29.02.2011":                {},
		"13.13.2012":                {},
		"1.5.0":                     {},
		"192.168.1.1":               {},
		"1 2 2012":                  {},
		"31.12/2012":                {},
		"May":                       {},
		"Mayor 3, 2012":             {},
		"12/31/2012 13:05 PM":       {},
		"12/31/2012 25:05":          {},
		"31.12.2012x":               {},
		"31.12.2012 ":               {},
		"":                          {},
	} {
		d, ok := text.ParseLooseDate([]byte(in))
		require.Equal(t, want.orders != 0, ok, in)
		if !ok {
			continue
		}
		require.Equal(t, want.orders, d.Orders(), in)
		iso, ok := d.Append(nil, want.orders&-want.orders)
		require.True(t, ok)
		require.Equal(t, want.iso, string(iso), in)
	}
}
