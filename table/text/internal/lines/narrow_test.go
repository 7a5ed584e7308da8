package lines_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/lines"
)

// Lines that a source is asked for by a condition are those that meet it of all lines, with their positions, whatever the lines and the
// condition are, and wherever reads end.
func TestNarrow(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"disk", "Disk", "DISK", "dıſK", "fail", "failed ", " ", "e", "\x00", "\r", "\n", "\r\n", "\n\n", "\xff", "ß", strings.Repeat("x", 300<<10)})
	wheres := rapid.SampledFrom([]string{
		"line contains 'disk'", "icontains(line, 'dISk')", "line has 'disk'", "line has_prefix 'dis'", "line like '%disk%fail%'", "not line contains 'disk'",
		"line matches 'fail|disk'", "line matches '(?i)disk\\s'", "line matches 'x+f'", "line contains 'disk' and line contains 'e'", "line has 'fail' or line contains 'ss'",
		"line matches '^disk'", "line matches 'd[^a]sk$'", "line has 'failed' and not line has 'disk'", "line contains 'x' or line = 'e'",
	})
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(t, "text"), "")
		o := provider.ReadOptions{BatchRows: rapid.IntRange(1, 5).Draw(t, "batch"), Columns: []string{"line"}}
		if rapid.Bool().Draw(t, "bytes") || !bytes.Equal(bytes.ToValidUTF8([]byte(src), nil), []byte(src)) {
			o.Schema = []arrow.Field{{Name: "line", Type: arrow.BinaryTypes.Binary}}
		}
		size := rapid.IntRange(1, 100_000).Draw(t, "read")
		open := func(o provider.ReadOptions) provider.Source {
			in := provider.Input{Name: "in", Size: -1, Reader: &tabletest.TricklingReader{B: []byte(src), N: size}}
			s, err := lines.New(lines.Options{Text: provider.TextOptions{SampleBytes: 100}}).Open(t.Context(), in, o)
			require.NoError(t, err)
			return s
		}
		where, err := filter.Parse(wheres.Draw(t, "where"))
		require.NoError(t, err)

		var want, every []string
		var rows []int64
		all := open(o)
		bound, err := filter.Bind(where, all.Schema())
		require.NoError(t, err)
		at := int64(0)
		for b, err := range provider.Batches(t.Context(), all) {
			require.NoError(t, err)
			match, err := bound.Select(b)
			require.NoError(t, err)
			for i, v := range textsOf(b) {
				every = append(every, v)
				if match[i/8]>>(i%8)&1 != 0 {
					want, rows = append(want, v), append(rows, at+int64(i))
				}
			}
			at += b.NumRows()
		}
		require.NoError(t, all.Close())
		checkNear(t, open(o), every, rapid.IntRange(0, 4).Draw(t, "before"), rapid.IntRange(0, 4).Draw(t, "after"))

		o.Filter = where
		var have []string
		var positions []int64
		some := open(o)
		for b, err := range provider.Batches(t.Context(), some) {
			require.NoError(t, err)
			have = append(have, textsOf(b)...)
			for _, r := range provider.RangesOf(some) {
				for row := r.From; row < r.To; row++ {
					positions = append(positions, row)
				}
			}
		}
		require.NoError(t, some.Close())
		require.Equal(t, want, have)
		require.Equal(t, rows, positions)
	})
}

// checkNear checks that a source gives the lines with a text and those near them, perhaps others, with their positions.
func checkNear(t *rapid.T, src provider.Source, every []string, before, after int) {
	src.(interface {
		Narrow(lists [][]pattern.Text, before, after int64)
	}).Narrow([][]pattern.Text{{{Bytes: []byte("disk")}}}, int64(before), int64(after))
	given := make([]bool, len(every))
	next := int64(0)
	for b, err := range provider.Batches(t.Context(), src) {
		require.NoError(t, err)
		values := textsOf(b)
		for _, r := range provider.RangesOf(src) {
			require.LessOrEqual(t, next, r.From)
			for next = r.From; next < r.To; next++ {
				require.Equal(t, every[next], values[0])
				given[next], values = true, values[1:]
			}
		}
		require.Empty(t, values)
	}
	require.NoError(t, src.Close())
	for i, line := range every {
		if strings.Contains(line, "disk") {
			for k := max(0, i-before); k <= min(i+after, len(every)-1); k++ {
				require.True(t, given[k], "line %d near %d", k, i)
			}
		}
	}
}

func textsOf(b arrow.RecordBatch) (texts []string) {
	for i := range int(b.NumRows()) {
		switch c := b.Column(0).(type) {
		case *array.Binary:
			texts = append(texts, string(c.Value(i)))
		case *array.String:
			texts = append(texts, c.Value(i))
		}
	}
	return texts
}

// A line that is not UTF-8, is too long, or cannot be read is an error, also if it would be left out; lines before it are found.
func TestNarrowErrors(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		in   io.Reader
		want string
	}{
		{strings.NewReader("a disk\nb\nc\xff\nd disk\n"), `column "line": "c\xff" is not valid UTF-8 (line 3 of in)`},
		{io.MultiReader(strings.NewReader("a disk\nb\nc"), failing{failed}), "failed in in"},
		{strings.NewReader("a disk\n" + strings.Repeat("x", 1<<20) + "\n"), "a record is longer than 100000 bytes (line 2) in in"},
	} {
		f := lines.New(lines.Options{Text: provider.TextOptions{SampleBytes: 8, MaxRecordBytes: 100_000}})
		src, err := f.Open(t.Context(), provider.Input{Name: "in", Size: -1, Reader: c.in}, provider.ReadOptions{Filter: filter.Contains(filter.Col("line"), "disk")})
		require.NoError(t, err)
		b, err := src.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a disk"}, textsOf(b))
		b.Release()
		_, err = src.Next(t.Context())
		require.EqualError(t, err, c.want)
		require.NoError(t, src.Close())
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestNarrowByRareTexts looks for the text that few lines have, though texts of letters are rarer in general.
func TestNarrowByRareTexts(t *testing.T) {
	var text strings.Builder
	want := 0
	for i := range 40_000 {
		fmt.Fprintf(&text, "block_%d was written\n", i)
		want += strings.Count(fmt.Sprint(i), "123")
	}
	in := provider.Input{Name: "in", Size: -1, Reader: strings.NewReader(text.String())}
	s, err := lines.New(lines.Options{}).Open(t.Context(), in, provider.ReadOptions{Columns: []string{"line"}})
	require.NoError(t, err)
	defer s.Close()
	s.(pattern.Narrower).Narrow([][]pattern.Text{{{Bytes: []byte("block_")}}, {{Bytes: []byte("123")}}}, 0, 0)
	rows := 0
	for b, err := range provider.Batches(t.Context(), s) {
		require.NoError(t, err)
		rows += int(b.NumRows())
	}
	require.Less(t, rows, 2*want)
	require.GreaterOrEqual(t, rows, want)
}
