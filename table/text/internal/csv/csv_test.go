package csv_test

import (
	stdcsv "encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/csv"
)

// TestCSVInference lists the type that is inferred from the values of a column.
func TestCSVInference(t *testing.T) {
	for _, c := range []struct{ values, want, notice string }{
		{"1 -2 9223372036854775807", "int64", ""},
		{"1 18446744073709551615", "uint64", ""},
		{"-1 18446744073709551615", "utf8", "integers"},
		{"18446744073709551616", "utf8", "too long for 64 bits"},
		{"1 2.5 -1e-7 .5 5.", "float64", ""},
		{"9007199254740993 0.5", "utf8", "integers"},
		{"9007199254740992 0.5", "float64", ""},
		{"-0", "float64", ""},
		{"0.12345678901234567890", "utf8", "too long"},
		{"1e999", "utf8", "too long"},
		{"1e-999", "utf8", "too long"},
		{"00501 10001", "utf8", "leading zeros"},
		{"00.5", "utf8", "leading zeros"},
		{"+5 +7", "utf8", ""},
		{"NaN Inf -Inf 1.5", "float64", ""},
		{"true False TRUE", "bool", ""},
		{"true 1", "utf8", "booleans"},
		{"2012-12-31 0001-01-01", "date32", ""},
		{"2012-02-30", "utf8", ""},
		{"2012-12-31T01:02:03 2012-12-31T01:02:03.5", "timestamp[us]", ""},
		{"2012-12-31T01:02:03.1234567", "timestamp[ns]", ""},
		{"2012-12-31T01:02:03.1234567 1500-01-01T00:00", "utf8", "nanoseconds outside"},
		{"2012-12-31T01:02:03Z", "timestamp[us, UTC]", ""},
		{"2012-12-31T01:02:03+02:00", "timestamp[us, UTC]", "stored in UTC"},
		{"2012-12-31T01:02:03Z 2012-12-31T01:02:03", "utf8", "with a zone"},
		{"2012-12-31 2012-12-31T01:02:03", "utf8", "dates"},
		{"1 x", "utf8", "integers (\"1\") and text (\"x\")"},
		{"x y", "utf8", ""},
		{"", "utf8", ""},
	} {
		var said tabletest.Notices
		src := "a,b\n"
		for _, v := range strings.Split(c.values, " ") {
			src += v + ",k\n"
		}
		got := tabletest.MustRead(t, csv.New(csv.Options{}), src, provider.ReadOptions{Notice: said.Add})
		require.Equal(t, c.want, text.Type(got.Schema().Field(0).Type), c.values)
		if c.notice == "" {
			require.Empty(t, said, c.values)
		} else {
			require.Len(t, said, 1, c.values)
			require.Contains(t, said[0], c.notice)
		}
		if c.want == "utf8" { // text is unchanged
			require.Equal(t, src, tabletest.Write(t, csv.New(csv.Options{}), got))
		}
	}
}

// TestCSVNulls checks the rules for nulls and empty values.
func TestCSVNulls(t *testing.T) {
	src := "t,n\n,\n\"\",\"\"\nNA,NA\n\"NA\",1\n"
	got := tabletest.MustRead(t, csv.New(csv.Options{Nulls: []string{"NA"}}), src, provider.ReadOptions{})
	require.Equal(t, "t: utf8\nn: int64\n", text.Schema(got.Schema()))
	require.Equal(t, `["" (null) "NA"]`, strings.Replace(got.Column(0).Data().Chunk(0).String(), `[(null) "" `, `["" `, 1))
	require.Equal(t, `[(null) (null) (null) 1]`, got.Column(1).Data().Chunk(0).String())
	out := tabletest.Write(t, csv.New(csv.Options{Null: "NA"}), got)
	require.Equal(t, "t,n\nNA,NA\n\"\",NA\nNA,NA\n\"NA\",1\n", out)
}

// A format that wrote a file with commas recognizes other delimiters afterwards.
func TestCSVReadAfterWrite(t *testing.T) {
	f := csv.New(csv.Options{})
	const src = "a;b\n1;2\n"
	before := tabletest.MustRead(t, f, src, provider.ReadOptions{})
	require.Equal(t, "a,b\n1,2\n", tabletest.Write(t, f, before))
	require.Equal(t, text.Schema(before.Schema()), text.Schema(tabletest.MustRead(t, f, src, provider.ReadOptions{}).Schema()))
}

func TestCSVShapes(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		o    csv.Options
		want string // written again
	}{
		"crlf":           {"a,b\r\n1,\"x\r\ny\"\r\n", csv.Options{}, "a,b\n1,\"x\r\ny\"\n"},
		"no last end":    {"a,b\n1,2", csv.Options{}, "a,b\n1,2\n"},
		"empty last":     {"a,b\n1,", csv.Options{}, "a,b\n1,\n"},
		"blank lines":    {"\na,b\n\n1,2\n\n", csv.Options{}, "a,b\n1,2\n"},
		"one column":     {"a\n1\n\n2\n", csv.Options{}, "a\n1\n\n2\n"},
		"quotes":         {"a,b\n\"x\"\"y\",\"\"\"\"\n", csv.Options{}, "a,b\n\"x\"\"y\",\"\"\"\"\n"},
		"bare quote":     {"a,b\n5\" pipe,x\n", csv.Options{}, "a,b\n\"5\"\" pipe\",x\n"},
		"bom":            {"\xef\xbb\xbfa,b\n1,2\n", csv.Options{}, "a,b\n1,2\n"},
		"delimiter":      {"a;b\n1,5;2\n", csv.Options{Delimiter: ';'}, "a,b\n\"1,5\",2\n"},
		"no header":      {"1,2\n3,4\n", csv.Options{Header: csv.HeaderAbsent}, "column1,column2\n1,2\n3,4\n"},
		"only header":    {"a,b\n", csv.Options{}, "a,b\n"},
		"nothing":        {"", csv.Options{}, ""},
		"twice the name": {"a,a\n1,2\n", csv.Options{}, "a,a\n1,2\n"},
		"empty name":     {"a,\n1,2\n", csv.Options{}, "a,\"\"\n1,2\n"},
		"unicode":        {"ä,b\nżółw,\"🐢\"\n", csv.Options{}, "ä,b\nżółw,🐢\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 1000} {
				in := tabletest.Input(c.text)
				in.Reader = &tabletest.TricklingReader{B: []byte(c.text), N: n}
				c.o.Text.SampleBytes = int64(n)
				got, err := tabletest.Read(t, csv.New(c.o), in, provider.ReadOptions{BatchRows: 1})
				require.NoError(t, err)
				require.Equal(t, c.want, tabletest.Write(t, csv.New(csv.Options{}), got))
			}
		})
	}
}

func TestCSVErrors(t *testing.T) {
	long := "n,s\n" + strings.Repeat("1,x\n", 20) + "oops,y\n"
	for _, c := range []struct {
		text       string
		o          csv.Options
		schema     string
		columns    []string
		want, hint string
	}{
		{long, csv.Options{Text: provider.TextOptions{SampleRows: 10}}, "", nil, `column "n": "oops" is not an int64 (line 22 of in)`, "--schema n:utf8 keeps the column as text, --sample all finds types that fit all rows"},
		{"a,b\n1\n", csv.Options{}, "", nil, "a record has 1 field, not 2 (line 2 of in)", ""},
		{"a,b\n1,2,3\n", csv.Options{}, "", nil, "a record has 3 fields, not 2 (line 2 of in)", ""},
		{"a,b\n\"x\",\"1,2\n", csv.Options{}, "", nil, "a quoted field has no end (line 2) in in", ""},
		{"a,b\nx,\"1\"2\n", csv.Options{}, "", nil, `"2" follows the quote that ends a field (line 2) in in`, ""},
		{"a,b\n1," + strings.Repeat("x", 3000), csv.Options{Text: provider.TextOptions{SampleBytes: 10, MaxRecordBytes: 1000}}, "", nil, "a record is longer than 1000 bytes in in", ""},
		{"a b,c\n1,2\n", csv.Options{}, "x:int64", nil, `column "x" of the schema is not in in (its columns: a b, c)`, ""},
		{"a,b\n,1\n", csv.Options{}, "a:int64 not null", nil, `column "a": null in a column that is declared not null (line 2 of in)`, "--schema a:utf8 keeps the column as text"},
		{"a,b\n1,2\n", csv.Options{}, "", []string{"z"}, `there is no column "z" in in`, ""},
		{"a,b\n1,2\n", csv.Options{Header: csv.HeaderAbsent}, "a:int64", nil, "the first record has 2 fields, but the schema lists 1: without a header it must list all columns in in", ""},
		{"a b\n" + strings.Repeat("1\n", 5) + "007\n", csv.Options{Text: provider.TextOptions{SampleRows: 3}}, "", nil, `column "a b": "007" has leading zeros, which a number would lose (line 7 of in)`, "--schema 'a b:utf8' keeps the column as text, --sample all finds types that fit all rows"},
		{"f\n" + strings.Repeat("1.5\n", 5) + "9007199254740993\n", csv.Options{Text: provider.TextOptions{SampleRows: 3}}, "", nil, `column "f": "9007199254740993" has more digits than the float holds (line 7 of in)`, "--schema f:utf8 keeps the column as text, --sample all finds types that fit all rows"},
	} {
		_, err := tabletest.Read(t, csv.New(c.o), tabletest.Input(c.text), provider.ReadOptions{Schema: tabletest.Fields(t, c.schema), Columns: c.columns})
		require.EqualError(t, err, c.want, "%q", c.text)
		var v *provider.ValueError
		if c.hint != "" {
			require.ErrorAs(t, err, &v)
			require.Equal(t, c.hint, v.Hint())
		}
	}
}

// TestCSVFixed reads columns whose types the caller sets.
func TestCSVFixed(t *testing.T) {
	src := "a,b,c\n007,+1.5,\"[1,null]\"\n"
	got := tabletest.MustRead(t, csv.New(csv.Options{}), src, provider.ReadOptions{Schema: tabletest.Fields(t, "a:int16, b:float32, c:list<int32>")})
	require.Equal(t, "a: int16\nb: float32\nc: list<int32>\n", text.Schema(got.Schema()))
	require.Equal(t, "a,b,c\n7,1.5,\"[1,null]\"\n", tabletest.Write(t, csv.New(csv.Options{}), got))
	got = tabletest.MustRead(t, csv.New(csv.Options{}), src, provider.ReadOptions{Columns: []string{"c", "a"}})
	require.Equal(t, "c: utf8\na: utf8\n", text.Schema(got.Schema()))
}

// TestCSVTypes writes every type and reads it back with its schema.
func TestCSVTypes(t *testing.T) {
	tabletest.RoundTripTypes(t, csv.New(csv.Options{}))
}

// TestCSVAgainstStandard compares with encoding/csv, for files that both understand.
func TestCSVAgainstStandard(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(2, 4).Draw(r, "width")
		cell := rapid.StringOfN(rapid.SampledFrom([]rune("a,\"\n x;ż")), 0, 6, -1)
		var records [][]string
		for range rapid.IntRange(1, 6).Draw(r, "rows") {
			records = append(records, rapid.SliceOfN(cell, width, width).Draw(r, "row"))
		}
		var b strings.Builder
		w := stdcsv.NewWriter(&b)
		require.NoError(r, w.WriteAll(records))
		o := csv.Options{Header: csv.HeaderAbsent, Text: provider.TextOptions{SampleBytes: int64(rapid.IntRange(1, 50).Draw(r, "sample"))}}
		in := tabletest.Input(b.String())
		in.Reader = &tabletest.TricklingReader{B: []byte(b.String()), N: rapid.IntRange(1, 20).Draw(r, "reads")}
		got, err := tabletest.Read(t, csv.New(o), in, provider.ReadOptions{})
		require.NoError(r, err)
		out := tabletest.Write(t, csv.New(o), got)
		again, err := stdcsv.NewReader(strings.NewReader(out)).ReadAll()
		require.NoError(r, err)
		require.Equal(r, records, again)
	})
}

func FuzzCSV(f *testing.F) {
	f.Add("a,b\n1,\"x\"\"\n\"\n", int64(3))
	f.Fuzz(func(t *testing.T, src string, sample int64) {
		o := csv.Options{Text: provider.TextOptions{SampleBytes: sample % 100, SampleRows: 3, MaxRecordBytes: 1 << 16}}
		got, err := tabletest.Read(t, csv.New(o), tabletest.Input(src), provider.ReadOptions{})
		if err != nil || got.NumCols() == 0 {
			return
		}
		first := tabletest.Write(t, csv.New(csv.Options{}), got)
		again := tabletest.MustRead(t, csv.New(plain), first, provider.ReadOptions{Schema: got.Schema().Fields()}) // bytes could be those of UTF-16, too
		require.Equal(t, first, tabletest.Write(t, csv.New(csv.Options{}), again))
	})
}
