package lines_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
	_ "github.com/amudai/amudai-go/table/text/internal/csv"
	_ "github.com/amudai/amudai-go/table/text/internal/jsonl"
	"github.com/amudai/amudai-go/table/text/internal/lines"
)

// read reads lines, and returns the columns and the fields of each line, but not the lines.
func read(t testing.TB, in string, o provider.ReadOptions) (columns string, fields [][]string) {
	rows := tabletest.MustRead(t, lines.New(lines.Options{}), in, o)
	defer rows.Release()
	for i, f := range rows.Schema().Fields() {
		if f.Name == "line" {
			continue
		}
		columns += " " + f.Name + ":" + text.Type(f.Type)
		row := 0
		for _, c := range rows.Column(i).Data().Chunks() {
			write := values.Text(c)
			for j := range c.Len() {
				if i == 0 {
					fields = append(fields, nil)
				}
				value := "-"
				if !values.IsNull(c, j) {
					value = string(write(nil, j))
				}
				fields[row] = append(fields[row], value)
				row++
			}
		}
	}
	return strings.TrimPrefix(columns, " "), fields
}

// TestRecognize reads single lines.
func TestRecognize(t *testing.T) {
	const plain, zoned = "time:timestamp[us]", "time:timestamp[us, UTC]"
	for _, c := range []struct{ line, columns, fields string }{
		// Layouts of times.
		{"2026-11-22T20:00:01Z x", zoned, "2026-11-22T20:00:01Z"},
		{"2026-11-22T20:00:01.123+02:00 x", zoned, "2026-11-22T18:00:01.123Z"},
		{"2026-11-22T20:00:01-0530 x", zoned, "2026-11-23T01:30:01Z"},
		{"2026-11-22T20:00:01,5 x", plain, "2026-11-22T20:00:01.500"},
		{"2026-11-22T20:00:01.123456789Z x", "time:timestamp[ns, UTC]", "2026-11-22T20:00:01.123456789Z"},
		{"2026-11-22 20:00:01,123 x", plain, "2026-11-22T20:00:01.123"},
		{"2026-11-22 20:00:01.123456", plain, "2026-11-22T20:00:01.123456"},
		{"2026-11-22 20:00:01 +0100 x", zoned, "2026-11-22T19:00:01Z"},
		{"2026-11-22 20:00:01+01 x", zoned, "2026-11-22T19:00:01Z"},
		{"2026-11-22 20:00:01 +01 x", plain, "2026-11-22T20:00:01"},
		{"2026-11-22 20:00:01 - x", plain, "2026-11-22T20:00:01"},
		{"2026-11-22 20:00:01.123 UTC [7] x", zoned, "2026-11-22T20:00:01.123Z"},
		{"2026-11-22 20:00:01 CET x", plain, "2026-11-22T20:00:01"},
		{"\"2026-11-22 20:00:01\",x", plain, "2026-11-22T20:00:01"},
		{"2026/11/22 20:00:01.123456 main.go:7: x", plain, "2026-11-22T20:00:01.123456"},
		{"2026.11.22 20:00:01 x", plain, "2026-11-22T20:00:01"},
		{"22.11.2026 20:00:01 x", plain, "2026-11-22T20:00:01"},
		{`10.1.2.3 - - [22/Nov/2026:20:00:01 +0100] "GET / HTTP/1.1" 200 5`, zoned, "2026-11-22T19:00:01Z"},
		{"[22/Nov/2026:20:00:01] x", plain, "2026-11-22T20:00:01"},
		{"[Sun Nov 22 20:00:01.123456 2026] x", plain, "2026-11-22T20:00:01.123456"},
		{"Sun, x", "", ""},
		{"Sun Nov  2 20:00:01 2026", plain, "2026-11-02T20:00:01"},
		{"1:M 22 Nov 2026 20:00:01.123 * x", plain, "2026-11-22T20:00:01.123"},
		{"081109 203615 148 x", plain, "2008-11-09T20:36:15"},
		{"17/06/09 20:10:40 x", plain, "2017-06-09T20:10:40"},
		{"69/06/09 20:10:40 x", plain, "1969-06-09T20:10:40"},
		{"20171224-0:7:20:444|x", plain, "2017-12-24T00:07:20.444"},
		{"20261122T200001Z x", zoned, "2026-11-22T20:00:01Z"},
		{"20261122 20:00:01 x", plain, "2026-11-22T20:00:01"},
		{"x 2005-06-03-15.42.50.675872 x", plain, "2005-06-03T15:42:50.675872"},
		{"- 1117838570 2005.06.03 x", zoned, "2005-06-03T22:42:50Z"},
		{"1117838570.5 x", zoned, "2005-06-03T22:42:50.500Z"},
		{"1117838570123 x", zoned, "2005-06-03T22:42:50.123Z"},
		{"1117838570123456 x", zoned, "2005-06-03T22:42:50.123456Z"},
		{"<34>1 2026-11-22T20:00:01.003Z host app - x", zoned, "2026-11-22T20:00:01.003Z"},
		{"nova-api.log.1.2017-05-16_13:53:08 2017-05-16 00:00:00.008 25746 x", plain, "2017-05-16T00:00:00.008"},
		{"\xef\xbb\xbf2026-11-22 20:00:01 x", plain, "2026-11-22T20:00:01"},
		{"Nov 22 20:00:01 host app: 2026-11-22 20:00:02 x", plain, "2026-11-22T20:00:02"},
		{"2024-02-29 00:00:00 x", plain, "2024-02-29T00:00:00"},

		// What is no time, or none that is clear.
		{"", "", ""},
		{"x", "", ""},
		{"2026-11-22", "", ""},
		{"2026-13-22 20:00:01 x", "", ""},
		{"2023-02-29 20:00:01 x", "", ""},
		{"2026-11-22 24:00:01 x", "", ""},
		{"2026-11-22 20:60:01 x", "", ""},
		{"2026-11-22 20:00:011 x", "", ""},
		{"2026-11-22 20:00:01x", "", ""},
		{"2026-11-22 20:00:01.1234567890 x", "", ""},
		{"1226-11-22 20:00:01 x", "", ""},
		{"20:00:01 x", "", ""},
		{"1117838570", "", ""},
		{"order with number 1117838570 x", "", ""},
		{"111783857 x", "", ""},
		{"11178385701 x", "", ""},
		{"4111783857012 x", "", ""},
		{"0117838570 x", "", ""},
		{"Nov 22 20:00:01 x", "", ""},
		{"03-17 16:13:38.811 x", "", ""},
		{"a b c d e f 2026-11-22 20:00:01", "", ""},

		// Levels.
		{"2026-11-22 20:00:01 INFO x", plain + " level:utf8", "2026-11-22T20:00:01 INFO"},
		{"2016-09-28 04:30:30, Info   CBS x", plain + " level:utf8", "2016-09-28T04:30:30 Info"},
		{"2026-11-22 20:00:01,123 - name - WARNING - x", plain + " level:utf8", "2026-11-22T20:00:01.123 WARNING"},
		{"[2026-11-22 20:00:01,123] {a.py:12} ERROR - x", plain + " level:utf8", "2026-11-22T20:00:01.123 ERROR"},
		{"[2026-11-22T20:00:01][DEBUG][main] x", plain + " level:utf8", "2026-11-22T20:00:01 DEBUG"},
		{"2026-11-22 20:00:01 [IPC handler [1] on 2] FATAL x", plain + " level:utf8", "2026-11-22T20:00:01 FATAL"},
		{"2026-11-22 20:00:01.123 | SUCCESS  | x", plain, "2026-11-22T20:00:01.123"},
		{"2026-11-22 20:00:01.123 | CRITICAL | x", plain + " level:utf8", "2026-11-22T20:00:01.123 CRITICAL"},
		{"2026-11-22 20:00:01|trace|x", plain + " level:utf8", "2026-11-22T20:00:01 trace"},
		{"[Sun Dec 04 04:47:44 2005] [core:error] [pid 1] x", plain + " level:utf8", "2005-12-04T04:47:44 error"},
		{"2026/11/22 20:00:01 [notice] 1#0: x", plain + " level:utf8", "2026-11-22T20:00:01 notice"},
		{`time="2026-11-22T20:00:01Z" level=info msg=x`, zoned + " level:utf8", "2026-11-22T20:00:01Z info"},
		{`ts=2026-11-22T20:00:01Z caller=a.go:7 level="warn" x`, zoned + " level:utf8", "2026-11-22T20:00:01Z warn"},
		{"[INFO] [2026-11-22 20:00:01] x", plain + " level:utf8", "2026-11-22T20:00:01 INFO"},
		{"I, [2026-11-22T20:00:01.5 #7]  INFO -- : x", plain + " level:utf8", "2026-11-22T20:00:01.500 INFO"},
		{"INFO:root:x", "level:utf8", "INFO"},
		{"WARNING: x", "level:utf8", "WARNING"},
		{"level=error msg=x", "level:utf8", "error"},
		{"03-17 16:13:38.811  1702  2395 D Tag: x", "level:utf8", "D"},
		{"Nov 22 20:00:01 host daemon.warning app: x", "", ""},
		{"2026-11-22 20:00:01 iNFO x", plain, "2026-11-22T20:00:01"},
		{"2026-11-22 20:00:01 INFOS x", plain, "2026-11-22T20:00:01"},
		{"2026-11-22 20:00:01 D x", plain, "2026-11-22T20:00:01"},
		{"no level before the INFO", "", ""},
	} {
		for _, end := range []string{"", "\n", "\r\n"} {
			columns, fields := read(t, c.line+end, provider.ReadOptions{})
			require.Equal(t, c.columns, columns, "%q", c.line)
			if c.columns != "" {
				require.Equal(t, c.fields, strings.Join(fields[0], " "), "%q", c.line)
			}
		}
	}
}

// TestRecognizeCorpus reads the logs of the corpus. Each line has the fields of its kind of log.
func TestRecognizeCorpus(t *testing.T) {
	const plain, zoned = "time:timestamp[us]", "time:timestamp[us, UTC]"
	for _, c := range []struct {
		name, columns, first, last string
		levels                     map[string]int
	}{
		{"Android", "level:utf8", "D", "D", map[string]int{"D": 650, "E": 3, "I": 920, "V": 257, "W": 170}},
		{"Apache", plain + " level:utf8", "2005-12-04T04:47:44 notice", "2005-12-05T19:15:57 error", map[string]int{"error": 595, "notice": 1405}},
		{"BGL", zoned + " level:utf8", "2005-06-03T22:42:50Z INFO", "2006-01-03T15:13:09Z INFO",
			map[string]int{"ERROR": 41, "FATAL": 347, "INFO": 1597, "SEVERE": 7, "WARNING": 8}},
		{"Hadoop", plain + " level:utf8", "2015-10-18T18:01:47.978 INFO", "2015-10-18T18:10:55.202 WARN",
			map[string]int{"ERROR": 150, "FATAL": 2, "INFO": 1040, "WARN": 808}},
		{"HDFS", plain + " level:utf8", "2008-11-09T20:36:15 INFO", "2008-11-11T10:20:17 INFO", map[string]int{"INFO": 1920, "WARN": 80}},
		{"HealthApp", plain, "2017-12-23T22:15:29.606", "2017-12-24T01:02:35.789", nil},
		{"HPC", "", "", "", nil},
		{"Linux", "", "", "", nil},
	} {
		b, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "logs", c.name+"_2k.log"))
		require.NoError(t, err)
		columns, fields := read(t, string(b), provider.ReadOptions{})
		require.Equal(t, c.columns, columns, c.name)
		if c.columns == "" {
			continue
		}
		require.Equal(t, c.first, strings.Join(fields[0], " "), c.name)
		require.Equal(t, c.last, strings.Join(fields[len(fields)-1], " "), c.name)
		levels := map[string]int{}
		for _, f := range fields {
			require.NotContains(t, f, "-", c.name)
			levels[f[len(f)-1]]++
		}
		if c.levels != nil {
			require.Equal(t, c.levels, levels, c.name)
		}
	}
}

// TestContinuations reads stack traces, whose lines have no fields, and logs that are not clear.
func TestContinuations(t *testing.T) {
	trace := "2026-11-22 20:00:01 ERROR x\njava.lang.Error: y\n\tat a\n\tat b\nCaused by: z\n\tat c\n\n"
	_, fields := read(t, strings.Repeat(trace, 20)+"2026-11-22 20:00:02 x", provider.ReadOptions{})
	require.Equal(t, []string{"2026-11-22T20:00:01", "ERROR"}, fields[0])
	for _, f := range fields[1:7] {
		require.Equal(t, []string{"-", "-"}, f)
	}
	require.Equal(t, []string{"2026-11-22T20:00:02", "-"}, fields[140])

	most := strings.Repeat("2026-11-22 20:00:01 x\n", 95)
	columns, fields := read(t, most+strings.Repeat("other\n", 5), provider.ReadOptions{})
	require.Equal(t, "time:timestamp[us]", columns)
	require.Equal(t, []string{"-"}, fields[99])
	columns, _ = read(t, most+strings.Repeat("other\n", 6), provider.ReadOptions{})
	require.Empty(t, columns)
	columns, _ = read(t, most+strings.Repeat("2026-11-22 20:00:01Z x\n", 6), provider.ReadOptions{})
	require.Empty(t, columns)
	columns, _ = read(t, "2026-11-22 20:00:01 x\n"+strings.Repeat("  code\n", 200), provider.ReadOptions{})
	require.Empty(t, columns)
}

// TestFieldsOfSchema names the columns of fields, which exist then.
func TestFieldsOfSchema(t *testing.T) {
	log := "2026-11-22 20:00:01.5 INFO x\n"
	for _, c := range []struct{ in, schema, columns, want string }{
		{log, "time:timestamp[ns],level:utf8", "time:timestamp[ns] level:utf8", "2026-11-22T20:00:01.500 INFO"},
		{log, "line:binary", "time:timestamp[us] level:utf8", "2026-11-22T20:00:01.500 INFO"},
		{"x\n", "time:timestamp[us],level:utf8", "time:timestamp[us] level:utf8", "- -"},
		{"Nov 22 20:00:01 x\n", "time:timestamp[us]", "time:timestamp[us]", "-"},
	} {
		columns, fields := read(t, c.in, provider.ReadOptions{Schema: tabletest.Fields(t, c.schema)})
		require.Equal(t, c.columns, columns)
		require.Equal(t, c.want, strings.Join(fields[0], " "))
	}
	for _, c := range []struct{ in, schema, err string }{
		{log, "time:timestamp[s]", `column "time": "2026-11-22 20:00:01.5" has a smaller fraction of a second than the column's unit (line 1 of in)`},
		{log, "time:timestamp[us, UTC]", `times such as "2026-11-22 20:00:01.5" cannot be timestamp[us, UTC]: one of them has a zone, the other has none in in`},
		{log, "time:utf8", `column "time" cannot be utf8: it is a timestamp in in`},
		{log, "line:int64", `column "line" cannot be int64: it is utf8 in in`},
		{log, "other:int64", `there is no column "other" of the schema in in`},
		{strings.Repeat(log, 20_000) + "2026-11-22 20:00:01.1234567 INFO x", "line:utf8",
			`column "time": "2026-11-22 20:00:01.1234567" has a smaller fraction of a second than the column's unit (line 20001 of in)`},
	} {
		_, err := tabletest.Read(t, lines.New(lines.Options{}), tabletest.Input(c.in), provider.ReadOptions{Schema: tabletest.Fields(t, c.schema)})
		require.EqualError(t, err, c.err)
	}
}

// TestNotices reads logs, and is told what was recognized, unless it does not ask for it.
func TestNotices(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns []string
		want    []string
	}{
		{"08/11/09 20:36:15 INFO x\n", nil, []string{
			`times such as "08/11/09 20:36:15" are in a column "time", as 2008-11-09T20:36:15; --columns line leaves it out`,
			`levels such as "INFO" are in a column "level"; --columns line leaves it out`}},
		{"08/11/09 20:36:15 INFO x\n", []string{"line"}, nil},
		{"08/11/09 20:36:15 INFO x\n", []string{"line", "level"}, []string{`levels such as "INFO" are in a column "level"`}},
		{"Nov 22 20:00:01 x\n", nil, []string{`times such as "Nov 22 20:00:01" have no year, and are not made a column`}},
		{"Nov 22 20:00:01 x\n", []string{"line"}, nil},
		{"{\"time\":1}\n", nil, []string{"the lines look like JSON lines: --from jsonl reads its columns"}},
		{"name\tage\nBob\t3\n", nil, []string{"the lines look like TSV: --from tsv reads its columns"}},
		{"name;age\nBob;3\n", nil, []string{"the lines look like CSV: --from csv reads its columns"}},
		{"name;age\nBob;3\n", []string{"line"}, nil},
		{"\xff\xfea\x00\n\x00", nil, []string{"the lines are kept as bytes: some are not UTF-8", "in looks like UTF-16, which is not converted (iconv -f UTF-16 -t UTF-8 converts it)"}},
	} {
		var said tabletest.Notices
		tabletest.MustRead(t, lines.New(lines.Options{}), c.in, provider.ReadOptions{Notice: said.Add, Columns: c.columns}).Release()
		require.Equal(t, c.want, []string(said))
	}
}

// TestOddLines keeps lines as they are.
func TestOddLines(t *testing.T) {
	for _, in := range []string{"", "\n", "\n\n", "a\x00b\n", "\x00", "a\r\r\nb\rc\n", "2026-11-22 20:00:01", "[", "[[[", "]", "|", " | ", "=", "a=", "a=[", "\xff\n\xfe",
		strings.Repeat("x", 1<<20) + "\n", strings.Repeat("[", 1<<16), "\xef\xbb\xbf", "level=", "level=:", ":", "a:"} {
		rows := tabletest.MustRead(t, lines.New(lines.Options{}), in, provider.ReadOptions{})
		var back strings.Builder
		for _, c := range rows.Column(int(rows.NumCols()) - 1).Data().Chunks() {
			for i := range c.Len() {
				switch c := c.(type) {
				case *array.String:
					back.WriteString(c.Value(i) + "\n")
				case *array.Binary:
					back.WriteString(string(c.Value(i)) + "\n")
				}
			}
		}
		want := strings.ReplaceAll(in, "\r\n", "\n")
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		require.Equal(t, want, back.String())
	}
}

// FuzzLines reads any bytes. The lines come back, however the bytes arrive, and so do their fields.
func FuzzLines(f *testing.F) {
	f.Add([]byte("2026-11-22 20:00:01 INFO x\n\tat y\n"))
	f.Add([]byte("[22/Nov/2026:20:00:01 +0000] [a:error]\r\n1117838570 x"))
	f.Add([]byte("03-17 16:13:38.811  1702  2395 D a\n081109 203615 148 INFO b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		format := lines.New(lines.Options{Text: provider.TextOptions{SampleBytes: 64}})
		schema := []arrow.Field{{Name: "line", Type: arrow.BinaryTypes.Binary}}
		one, err := tabletest.Read(t, format, tabletest.Input(string(b)), provider.ReadOptions{Schema: schema})
		if err != nil {
			var value *provider.ValueError
			require.ErrorAs(t, err, &value)
			return
		}
		defer one.Release()
		in := provider.Input{Name: "in", Reader: &tabletest.TricklingReader{B: b, N: 3}, Size: -1}
		other, err := tabletest.Read(t, format, in, provider.ReadOptions{Schema: schema, BatchRows: 2})
		require.NoError(t, err)
		defer other.Release()
		require.True(t, one.Schema().Equal(other.Schema()))
		require.Equal(t, one.NumRows(), other.NumRows())
		require.EqualValues(t, bytes.Count(b, []byte{'\n'})+min(1, len(b)-1-bytes.LastIndexByte(b, '\n')), one.NumRows())
	})
}
