package shard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
	texts "github.com/amudai/amudai-go/table/text"
)

// TestStatistics: what a shard records, by path, in the types of its schema.
func TestStatistics(t *testing.T) {
	f := shard.New(shard.FormatOptions{})
	rows := tabletest.MustRead(t, texts.CSV(texts.CSVOptions{}), "n,s,d\n1,a,2012-12-31\n,b,1999-01-01\n7,b,2000-02-29\n", provider.ReadOptions{})
	s, err := f.Statistics(t.Context(), tabletest.Input(tabletest.Write(t, f, rows)), nil)
	require.NoError(t, err)
	require.EqualValues(t, 3, s.Rows)
	require.Equal(t, "n 1 0 [1] [7] true; s 0 0 [\"a\"] [\"b\"] true; d 0 0 [1999-01-01] [2012-12-31] true", describeStatistics(s))

	nested := tabletest.MustRead(t, texts.JSONLines(texts.JSONOptions{}), `{"a":{"b":1.5,"c":[1,2]}}`+"\n"+`{"a":{"b":-2}}`+"\n", provider.ReadOptions{})
	in := tabletest.Write(t, f, nested)
	s, err = f.Statistics(t.Context(), tabletest.Input(in), nil)
	require.NoError(t, err)
	require.Equal(t, "a 0 0 <nil> <nil> false; a.b 0 0 [-2] [1.5] true; a.c 1 0 <nil> <nil> false", describeStatistics(s))
	s, err = f.Statistics(t.Context(), tabletest.Input(in), []string{"a.c.item", "a.b"})
	require.NoError(t, err)
	require.Equal(t, "a.c.item -1 -1 <nil> <nil> false; a.b 0 0 [-2] [1.5] true", describeStatistics(s))
	_, err = f.Statistics(t.Context(), tabletest.Input(in), []string{"a.x"})
	require.ErrorContains(t, err, "a.x")

	pipe := strings.NewReader(in)
	s, err = f.Statistics(t.Context(), provider.Input{Name: "stdin", Reader: pipe, Size: -1}, nil)
	require.NoError(t, err)
	require.Nil(t, s)
	require.Equal(t, len(in), pipe.Len(), "bytes of the pipe")
}

// TestStatisticsOfAllTypes: the bounds have the types of the columns.
func TestStatisticsOfAllTypes(t *testing.T) {
	f := shard.New(shard.FormatOptions{})
	rows := tabletest.Table(arrowtest.Batch(t, arrowtest.Columns()))
	s, err := f.Statistics(t.Context(), tabletest.Input(tabletest.Write(t, f, rows)), nil)
	require.NoError(t, err)
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Min != nil {
			require.Equal(t, c.PlainType().String(), c.Min.DataType().String(), c.Path)
			require.Equal(t, 1, c.Min.Len())
		}
	}
}

func describeStatistics(s *provider.Statistics) string {
	var list []string
	for _, c := range s.Columns {
		list = append(list, fmt.Sprint(c.Path, " ", c.Nulls, " ", c.NaNs, " ", c.Min, " ", c.Max, " ", c.Exact))
	}
	return strings.Join(list, "; ")
}
