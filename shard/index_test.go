package shard

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
)

// lines is a table of lines of a log in stripes.
func lines(t *testing.T, location string, rows int, o WriterOptions) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range rows {
		if i%101 == 100 {
			b.AppendNull()
			continue
		}
		level := "info"
		if i%1000 == 0 {
			level = "FAILED"
		}
		b.Append(fmt.Sprintf("%06d %s: block blk_%d from 10.0.%d.%d", i, level, i*7919, i/256%256, i%256))
	}
	arr := b.NewArray()
	defer arr.Release()
	s := arrow.NewSchema([]arrow.Field{{Name: "line", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	batch := array.NewRecordBatch(s, []arrow.Array{arr}, int64(rows))
	defer batch.Release()
	w, err := Create(t.Context(), location, s, o)
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
}

func count(t *testing.T, location, where string, disable Sources) (rows []RowRange) {
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	e, err := filter.Parse(where)
	require.NoError(t, err)
	for b, err := range s.Scan(t.Context(), ScanOptions{Filter: e, Disable: disable}) {
		require.NoError(t, err)
		rows = append(rows, b.RowRanges()...)
	}
	return rows
}

func TestAddIndex(t *testing.T) {
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		location := filepath.Join(t.TempDir(), "x.shard")
		lines(t, location, 20_000, WriterOptions{Layout: layout, StripeRows: 7000})
		require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, IndexDefinition{Columns: []string{"line"}}))
		files, _ := os.ReadDir(filepath.Dir(location))
		for _, f := range files {
			i, _ := f.Info()
			fmt.Println(f.Name(), i.Size())
		}
		rep, err := Verify(t.Context(), location, VerifyOptions{})
		require.NoError(t, err)
		require.True(t, rep.OK(), "%v", rep.Problems)
		for _, where := range []string{"has(line, 'failed')", "line has '10.0.7.9'", "has_prefix(line, 'blk_79')", "line contains '123 info: block'",
			"not has(line, 'info')", "line has_any ('000123', '000999')", "has_phrase(line, 'failed block')", "line = '000007 info: block blk_55433 from 10.0.0.7'", "line starts with '0000'"} {
			want := count(t, location, where, Indexes)
			require.NotEmpty(t, want, where)
			require.Equal(t, want, count(t, location, where, 0), where)
			s, err := Open(t.Context(), location, OpenOptions{})
			require.NoError(t, err)
			e, _ := filter.Parse(where)
			x, err := s.Explain(t.Context(), ScanOptions{Filter: e})
			require.NoError(t, err)
			fmt.Println(where, x.Stripes[0].Steps)
			s.Close()
		}
	}
}
