package csv_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/csv"
	"github.com/amudai/amudai-go/table/text/internal/guess"
)

// wide is a text in UTF-16.
func wide(s string, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

// oddFile is a file that is not plain RFC 4180, and what becomes of it.
type oddFile struct {
	name, in string
	o        csv.Options
	schema   string // "name:type …"
	rows     string // written as RFC 4180, without the header; or the error
	notice   string // a part of a notice for each line
}

// oddFiles are files as people have them. A flag that the notice names changes what was recognized.
var oddFiles = []oddFile{
	{"semicolons", "a;b\n1;2\n3;4\n", csv.Options{}, "a:int64 b:int64", "1,2\n3,4\n", "separated by ';' (--delimiter)"},
	{"tabs", "a\tb\n1\t2\n", csv.Options{}, "a:int64 b:int64", "1,2\n", "separated by tab (--delimiter)"},
	{"bars", "a|b\n1|x\n2|y\n", csv.Options{}, "a:int64 b:utf8", "1,x\n2,y\n", "separated by '|' (--delimiter)"},
	{"colons", "root:x:0:0:r\ndaemon:x:1:1:b\n", csv.Options{}, "column1:utf8 column2:utf8 column3:int64 column4:int64 column5:utf8", "root,x,0,0,r\ndaemon,x,1,1,b\n", "separated by ':' (--delimiter), no header"},
	{"carets", "a^b\n1^x\n2^y\n", csv.Options{}, "a:int64 b:utf8", "1,x\n2,y\n", "separated by '^' (--delimiter)"},
	{"tildes", "a~b\n1~x\n2~y\n", csv.Options{}, "a:int64 b:utf8", "1,x\n2,y\n", "separated by '~' (--delimiter)"},
	{"unit separators", "a\x1fb\n1\x1fx\n2\x1fy\n", csv.Options{}, "a:int64 b:utf8", "1,x\n2,y\n", `separated by '\x1f' (--delimiter)`},
	{"spaces", "a b\n1 2\n3 4\n", csv.Options{}, "a:int64 b:int64", "1,2\n3,4\n", "separated by ' ' (--delimiter)"},
	{"decimal commas", "a;b\n1,5;x\n-2,25;y\n", csv.Options{}, "a:utf8 b:utf8", "\"1,5\",x\n\"-2,25\",y\n", "separated by ';'\n\"a\" is kept as text: --decimal , reads numbers such as \"1,5\""},
	{"decimal commas read", "a;b\n1,5;x\n-2,25;y\n", csv.Options{Decimal: ','}, "a:float64 b:utf8", "1.5,x\n-2.25,y\n", "separated by ';'"},
	{"decimal commas without a header", "1,5;2,5\n3,5;4,2\n", csv.Options{Decimal: ','}, "column1:float64 column2:float64", "1.5,2.5\n3.5,4.2\n", "separated by ';' (--delimiter), no header"},
	{"thousands", "a,b\n\"1,234\",x\n\"12,345,678\",y\n", csv.Options{}, "a:utf8 b:utf8", "\"1,234\",x\n\"12,345,678\",y\n", "--thousands , reads numbers such as"},
	{"thousands read", "a,b\n\"1,234\",x\n\"12,345,678\",y\n7,z\n", csv.Options{Thousands: ','}, "a:int64 b:utf8", "1234,x\n12345678,y\n7,z\n", ""},
	{"groups of two", "a,b\n\"1,23\",x\n", csv.Options{Thousands: ','}, "a:utf8 b:utf8", "\"1,23\",x\n", "--decimal , reads numbers such as"},
	{"a comma of either kind", "a,b\n\"1,234\",x\n", csv.Options{}, "a:utf8 b:utf8", "\"1,234\",x\n", "--decimal , or --thousands , reads numbers such as"},
	{"points and commas", "a;b\n1.234,5;x\n2,0;y\n", csv.Options{Decimal: ',', Thousands: '.'}, "a:float64 b:utf8", "1234.5,x\n2.0,y\n", "separated by ';'"},
	{"sep line", "sep=;\r\na;b\r\n1;2\r\n", csv.Options{}, "a:int64 b:int64", "1,2\n", "separated by ';' (--delimiter), 1 line before the header left out (--skip)"},
	{"single quotes", "a,b\n'x, y',1\n'z',2\n", csv.Options{}, "a:utf8 b:int64", "\"x, y\",1\nz,2\n", "quoted by ''' (--quote)"},
	{"doubled single quotes", "a,b\n'it''s',1\n'z',2\n", csv.Options{}, "a:utf8 b:int64", "it's,1\nz,2\n", "quoted by ''' (--quote)"},
	{"no quotes", "a\tb\n\"x\t1\ny\"z\t2\n", csv.Options{}, "a:utf8 b:int64", "\"\"\"x\",1\n\"y\"\"z\",2\n", "separated by tab (--delimiter), quotes as ordinary characters (--quote)"},
	{"inches", "a,b\n5\" pipe,1\n\"6\"\" pipe\",2\n", csv.Options{}, "a:utf8 b:int64", "\"5\"\" pipe\",1\n\"6\"\" pipe\",2\n", "\x00"},
	{"backslashes", "a,b\n\"x \\\"q\\\" y\",1\n\"C:\\\\d\",2\n", csv.Options{}, "a:utf8 b:int64", "\"x \"\"q\"\" y\",1\nC:\\d,2\n", `quotes escaped by '\' (--escape)`},
	{"a backslash before the last quote", "a,b\n\"C:\\\",1\n\"D:\\\",2\n", csv.Options{}, "a:utf8 b:int64", "C:\\,1\nD:\\,2\n", "\x00"},
	{"spaces before quotes", "a, b\n1, \"x, y\"\n2, \"z\"\n", csv.Options{}, "a:int64 b:utf8", "1,\"x, y\"\n2,z\n", "spaces around fields removed (--trim=false)"},
	{"spaces around numbers", "a,b\n 1,x\n 22,y\n", csv.Options{}, "a:utf8 b:utf8", " 1,x\n 22,y\n", `"a" is kept as text: --trim removes the spaces around numbers such as " 1"`},
	{"spaces removed", "a , b\n 1 ,\tx \n 22, \n", csv.Options{Trim: csv.TrimSpaces}, "a:int64 b:utf8", "1,x\n22,\n", ""},
	{"carriage returns", "a,b\r1,2\r3,4\r", csv.Options{}, "a:int64 b:int64", "1,2\n3,4\n", "lines that end in a carriage return (--line-end)"},
	{"a line end within quotes, and carriage returns", "a,b\r1,\"x\ry\"\r", csv.Options{}, "a:int64 b:utf8", "1,\"x\ry\"\n", "lines that end in a carriage return (--line-end)"},
	{"mixed line ends", "a,b\r\n1,2\n3,4\r\n", csv.Options{}, "a:int64 b:int64", "1,2\n3,4\n", "\x00"},
	{"no header", "1,x\n2,y\n", csv.Options{}, "column1:int64 column2:utf8", "1,x\n2,y\n", "no header, because the first record is like the others (--header)"},
	{"no header, dates", "2020-01-01,x\n2020-01-02,y\n", csv.Options{}, "column1:date32 column2:utf8", "2020-01-01,x\n2020-01-02,y\n", "no header"},
	{"no header, nulls", "NA,1\n2,3\n", csv.Options{AutoNulls: true}, "column1:int64 column2:int64", ",1\n2,3\n", "no header"},
	{"a record alone", "1,2\n", csv.Options{}, "column1:int64 column2:int64", "1,2\n", "no header"},
	{"no header, column alone", "1\n2\n", csv.Options{}, "column1:int64", "1\n2\n", "no header"},
	{"numbers as header", "1,x\n2,y\n", csv.Options{Header: csv.HeaderPresent}, "1:int64 x:utf8", "2,y\n", ""},
	{"years as header", "city,2019,2020\nOslo,1,2\nLima,3,4\n", csv.Options{}, "city:utf8 2019:int64 2020:int64", "Oslo,1,2\nLima,3,4\n", "\x00"},
	{"lines before the header", "Report\nof 2020\n\nid,name,n\n1,a,2\n2,b,3\n", csv.Options{}, "id:int64 name:utf8 n:int64", "1,a,2\n2,b,3\n", "3 lines before the header left out (--skip)"},
	{"fields before the header", "Source,\"WDI\"\nDate,2020-01-01\n\ncity,code,n,m\nOslo,x,1,2\nLima,y,3,4\n", csv.Options{}, "city:utf8 code:utf8 n:int64 m:int64", "Oslo,x,1,2\nLima,y,3,4\n", "3 lines before the header left out (--skip)"},
	{"skip", "x,y\na,b\n1,2\n", csv.Options{Skip: 1}, "a:int64 b:int64", "1,2\n", ""},
	{"comments before the header", "# made by x\n# y, z\na,b\n1,2\n", csv.Options{}, "a:int64 b:int64", "1,2\n", "2 lines before the header left out (--skip)"},
	{"comments between", "# made by x\na,b\n1,2\n# more below\n3,4\n", csv.Options{}, "a:int64 b:int64", "1,2\n3,4\n", "comments after '#' left out (--comment), 1 line before the header left out (--skip)"},
	{"comment that looks like a record", "# x\na,b\n1,2\n# y\n" + strings.Repeat("3,4\n", 600) + "#5,6\n", csv.Options{}, "", `a line that starts with '#' could be a comment or a record (line 605) in in`, ""},
	{"comments of another kind", "% x\na,b\n1,2\n% y,z\n", csv.Options{Comment: '%'}, "a:int64 b:int64", "1,2\n", ""},
	{"a header after #", "##x=1\n#chrom\tstart\nchr1\t5\nchr2\t6\n", csv.Options{}, "#chrom:utf8 start:int64", "chr1,5\nchr2,6\n", "separated by tab (--delimiter), 1 line before the header left out (--skip), a header that starts with '#' (--comment)"},
	{"row names", "\"n\",\"s\"\n\"1\",5,x\n\"2\",6,y\n", csv.Options{}, ":int64 n:int64 s:utf8", "1,5,x\n2,6,y\n", "a first column that the header does not name (--ragged)"},
	{"delimiters at the end", "a,b,c\n1,2,3,\n4,5,6,\n", csv.Options{}, "a:int64 b:int64 c:int64", "1,2,3\n4,5,6\n", "no field after the last delimiter of a record (--ragged)"},
	{"too few fields", "a,b\n1,2\n3\n", csv.Options{}, "", "a record has 1 field, not 2 (line 3 of in)", ""},
	{"too many fields", "a,b\n1,2\n3,4\n3,4,5\n", csv.Options{}, "", "a record has 3 fields, not 2 (line 4 of in)", ""},
	{"ragged filled", "a,b,c\n1,2,3\n3\n4,5,6,,\n", csv.Options{Ragged: csv.RaggedNull}, "a:int64 b:int64 c:int64", "1,2,3\n3,,\n4,5,6\n", "1 record with too few fields filled with nulls (line 3), 1 record without the empty fields at the end that were too many (line 4); --ragged error"},
	{"ragged dropped", "a,b\n1,2\nx\n3,4,5\n6,7\n", csv.Options{Ragged: csv.RaggedDrop}, "a:int64 b:int64", "1,2\n6,7\n", "2 records with another number of fields left out (lines 3, 4); --ragged error"},
	{"a footer", "a,b\n1,2\n3,4\n(2 rows)\n", csv.Options{Ragged: csv.RaggedDrop}, "a:int64 b:int64", "1,2\n3,4\n", "left out (line 4)"},
	{"NA", "a,b\n1,NA\n2,3\n", csv.Options{}, "a:int64 b:utf8", "1,NA\n2,3\n", `"b" is kept as text: --null NA makes it int64 (--null auto takes such spellings)`},
	{"NA read", "a,b\n1,NA\nNA,3\n", csv.Options{Nulls: []string{"NA"}}, "a:int64 b:int64", "1,\n,3\n", ""},
	{"nulls of all kinds", "a,b,c,d\n1,NULL,NA,-\nN/A,2.5,x,2020-01-01\n", csv.Options{AutoNulls: true}, "a:int64 b:float64 c:utf8 d:date32", "1,,NA,\n,2.5,x,2020-01-01\n", "\x00"},
	{"NULL as text", "a,b\nNULL,1\nx,2\n", csv.Options{}, "a:utf8 b:int64", "NULL,1\nx,2\n", `"a" has spellings of null, which stay text: --null NULL reads them as null`},
	{"quoted NA", "a,b\n\"NA\",1\n2,2\n", csv.Options{AutoNulls: true}, "a:utf8 b:int64", "NA,1\n2,2\n", `integers ("2") and text ("NA")`},
	{"empty quoted numbers", "a,b\n\"\",1\n2,2\n", csv.Options{}, "a:int64 b:int64", ",1\n2,2\n", "\x00"},
	{"days first", "a,b\n31.12.2020,1\n01.02.2021,2\n", csv.Options{}, "a:date32 b:int64", "2020-12-31,1\n2021-02-01,2\n", `dates as day, month, year ("31.12.2020"): --dates none`},
	{"months first", "a,b\n12/31/2020 11:59 PM,1\n1/2/2021 12:00 AM,2\n", csv.Options{}, "a:timestamp[us] b:int64", "2020-12-31T23:59:00,1\n2021-01-02T00:00:00,2\n", "dates as month, day, year"},
	{"years first", "a,b\n2020/12/31,1\n2021/1/2,2\n", csv.Options{}, "a:date32 b:int64", "2020-12-31,1\n2021-01-02,2\n", "dates as year, month, day"},
	{"names of months", "a,b\n31-Dec-2020,1\n2 January 2021,2\n", csv.Options{}, "a:date32 b:int64", "2020-12-31,1\n2021-01-02,2\n", "dates as day, month, year"},
	{"days or months first", "a,b\n01/02/2020,1\n03/04/2020,2\n", csv.Options{}, "a:utf8 b:int64", "01/02/2020,1\n03/04/2020,2\n", `the order of dates such as "01/02/2020" is not certain: --dates dmy or --dates mdy reads them`},
	{"dates chosen", "a,b\n01/02/2020,1\n03/04/2020,2\n", csv.Options{Dates: guess.DMY}, "a:date32 b:int64", "2020-02-01,1\n2020-04-03,2\n", ""},
	{"dates not wanted", "a,b\n31.12.2020,1\n", csv.Options{Dates: guess.DatesNone}, "a:utf8 b:int64", "31.12.2020,1\n", ""},
	{"contradicting dates", "a,b\n31/12/2020,1\n12/31/2020,2\n", csv.Options{}, "a:utf8 b:int64", "31/12/2020,1\n12/31/2020,2\n", "are not all in one order"},
	{"short years", "a,b\n1/31/20,1\n", csv.Options{}, "a:utf8 b:int64", "1/31/20,1\n", `the order of dates such as "1/31/20" is not certain: --dates mdy reads them`},
	{"dates of a schema", "a,b\n31.12.2020,1\n", csv.Options{Dates: guess.DMY}, "a:timestamp[s] b:int64", "2020-12-31T00:00:00,1\n", ""},
	{"yes and no", "a,b\nyes,1\nno,2\n", csv.Options{True: []string{"yes"}, False: []string{"no"}}, "a:bool b:int64", "true,1\nfalse,2\n", ""},
	{"UTF-16", wide("\ufeffa,b\nż🐢,1\n", false), csv.Options{}, "a:utf8 b:int64", "ż🐢,1\n", "utf-16le text (--encoding)"},
	{"UTF-16, big end first", wide("\ufeffa\tb\nż🐢\t1\n", true), csv.Options{}, "a:utf8 b:int64", "ż🐢,1\n", "utf-16be text (--encoding), fields separated by tab (--delimiter)"},
	{"UTF-16 without a mark", wide("a,b\nx,1\n", false), csv.Options{}, "a:utf8 b:int64", "x,1\n", "utf-16le text (--encoding)"},
	{"half a character of UTF-16", wide("\ufeffa,b\nx,1\n", false) + "\x00", csv.Options{}, "", "the text ends within a character of utf-16le (offset 18) in in", "\x00"},
	{"Windows-1252", "city,n\nK\xf6ln,1\n\x80uro,2\n", csv.Options{}, "city:utf8 n:int64", "Köln,1\n€uro,2\n", "windows-1252 text (--encoding)"},
	{"another encoding", "city,n\n\xa3\xf3d\xbc,1\n", csv.Options{Encoding: "iso-8859-2"}, "city:utf8 n:int64", "Łódź,1\n", ""},
	{"damaged UTF-8", "city,n\nKöln Łódź,1\nK\xf6ln,2\n", csv.Options{}, "", `column "city": "K\xf6ln" is not valid UTF-8; convert the input to UTF-8 first (line 3 of in)`, "\x00"},
	{"a mark of UTF-8", "\xef\xbb\xbfa;b\n1;2\n", csv.Options{}, "a:int64 b:int64", "1,2\n", "separated by ';'"},
	{"names twice", "a,a\n1,x\n", csv.Options{}, "a:int64 a:utf8", "1,x\n", "\x00"},
	{"leading zeros", "zip,n\n00501,1\n10001,2\n", csv.Options{}, "zip:utf8 n:int64", "00501,1\n10001,2\n", "leading zeros"},
	{"prose", "text\nhello; world\nfoo; bar\nbaz\n", csv.Options{}, "text:utf8", "hello; world\nfoo; bar\nbaz\n", "\x00"},
	{"times", "t\n10:20:30\n11:22:33\n", csv.Options{}, "t:utf8", "10:20:30\n11:22:33\n", "\x00"},
	{"addresses", "aa:bb:cc:dd:ee:ff\n00:bb:cc:dd:ee:01\n", csv.Options{}, "aa:bb:cc:dd:ee:ff:utf8", "00:bb:cc:dd:ee:01\n", "\x00"},
	{"seconds since 1970", "created_at,id\n1700000060,1700000000\n1700000000,1700000001\n", csv.Options{}, "created_at:int64 id:int64", "1700000060,1700000000\n1700000000,1700000001\n",
		`column "created_at" is read as integers: they may be seconds since 1970, 1700000000 is 2023-11-14T22:13:20Z`},
	{"milliseconds since 1970", "eventTs,b\n1700000000123,1\n", csv.Options{}, "eventTs:int64 b:int64", "1700000000123,1\n", "may be milliseconds since 1970, 1700000000123 is 2023-11-14T22:13:20.123Z"},
	{"no seconds since 1970", "time,b\n1700000000,1\n12,2\n", csv.Options{}, "time:int64 b:int64", "1700000000,1\n12,2\n", ""},
	{"percentages", "a,b\n12%,1\n3.5 %,2\n", csv.Options{}, "a:utf8 b:int64", "12%,1\n3.5 %,2\n", `column "a" is kept as text: percentages such as "12%" have a sign that numbers lack`},
	{"money", "a,b\n$12,€ 3\n\"$3,000.5\",€ 1.5\n7,€ 2\n", csv.Options{}, "a:utf8 b:utf8", "$12,€ 3\n\"$3,000.5\",€ 1.5\n7,€ 2\n", `columns "a" and "b" are kept as text: amounts of money such as "$12"`},
	{"names with spaces", "name\nJohn Smith\nJane Doe\n", csv.Options{}, "name:utf8", "John Smith\nJane Doe\n", "\x00"},
	{"bars of which some records have none", "a|b\nx\ny\n", csv.Options{}, "a|b:utf8", "x\ny\n", "--delimiter '|' splits them"},
	{"nothing", "", csv.Options{}, "", "", "is empty: the table has no columns"},
}

// TestOddFiles reads the odd files. None is read silently otherwise than RFC 4180 tells.
func TestOddFiles(t *testing.T) {
	require.GreaterOrEqual(t, len(oddFiles), 60)
	for _, c := range oddFiles {
		t.Run(c.name, func(t *testing.T) {
			var said tabletest.Notices
			ro := provider.ReadOptions{Notice: said.Add}
			if c.name == "dates of a schema" {
				ro.Schema = tabletest.Fields(t, "a:timestamp[s]")
			}
			got, err := tabletest.Read(t, csv.New(c.o), tabletest.Input(c.in), ro)
			if c.schema == "" && c.rows != "" {
				require.EqualError(t, err, c.rows)
				return
			}
			require.NoError(t, err)
			var fields []string
			for _, f := range got.Schema().Fields() {
				fields = append(fields, f.Name+":"+text.Type(f.Type))
			}
			require.Equal(t, c.schema, strings.Join(fields, " "))
			require.Equal(t, c.rows, tabletest.Write(t, csv.New(csv.Options{Header: csv.HeaderAbsent}), got))
			notices := strings.Join(said, "\n")
			switch {
			case c.notice == "" || c.notice == "\x00": // as RFC 4180 tells, or as the options do
				require.Empty(t, notices)
				return
			}
			require.Len(t, said, strings.Count(c.notice, "\n")+1)
			for i, want := range strings.Split(c.notice, "\n") {
				require.Contains(t, said[i], want)
			}
			requireAgain(t, got, c)
		})
	}
}

// requireAgain writes rows in RFC 4180, and reads them back.
func requireAgain(t *testing.T, rows arrow.Table, c oddFile) {
	if rows.NumCols() == 0 {
		return
	}
	first := tabletest.Write(t, csv.New(csv.Options{}), rows)
	again := tabletest.MustRead(t, csv.New(plain), first, provider.ReadOptions{Schema: rows.Schema().Fields()})
	require.Equal(t, first, tabletest.Write(t, csv.New(csv.Options{}), again), c.name)
}

// plain is RFC 4180, and nothing is recognized.
var plain = csv.Options{Encoding: "utf-8", Delimiter: ',', Quote: '"', Escape: csv.None, LineEnd: '\n', Comment: csv.None, Skip: -1,
	Header: csv.HeaderPresent, Ragged: csv.RaggedError, Trim: csv.TrimNone, Dates: guess.DatesNone}

// FuzzSniff reads any bytes in the dialect that is recognized. What is read comes back from RFC 4180.
func FuzzSniff(f *testing.F) {
	for _, c := range oddFiles {
		f.Add(c.in, uint8(0))
	}
	f.Fuzz(func(t *testing.T, in string, flags uint8) {
		o := csv.Options{AutoNulls: flags&1 != 0, Ragged: csv.Ragged(flags >> 1 & 3), Decimal: ".,"[flags>>3&1], Text: provider.TextOptions{AllRows: flags&16 != 0, MaxRecordBytes: 1 << 16}}
		got, err := tabletest.Read(t, csv.New(o), tabletest.Input(in), provider.ReadOptions{})
		if err != nil || got.NumCols() == 0 {
			return
		}
		first := tabletest.Write(t, csv.New(csv.Options{}), got)
		again := tabletest.MustRead(t, csv.New(plain), first, provider.ReadOptions{Schema: got.Schema().Fields()})
		require.Equal(t, got.NumRows(), again.NumRows())
		require.Equal(t, first, tabletest.Write(t, csv.New(csv.Options{}), again))
	})
}

// TestAllRows reads values behind the sample that need a wider type, or another encoding.
func TestAllRows(t *testing.T) {
	for late, want := range map[string]string{"1.5": "n: float64\n", "x": "n: utf8\n", "": "n: int64\n", "caf\xe9": "n: utf8\n", "18446744073709551615": "n: uint64\n"} {
		in := "n\n" + strings.Repeat("1\n", 40_000) + late + "\n"
		o := csv.Options{Text: provider.TextOptions{SampleRows: 10, SampleBytes: 1000}}
		_, err := tabletest.Read(t, csv.New(o), tabletest.Input(in), provider.ReadOptions{})
		if late != "" {
			var v *provider.ValueError
			require.ErrorAs(t, err, &v, late)
			require.True(t, v.Inferred)
		}
		o.Text.AllRows = true
		for _, random := range []bool{true, false} {
			input := tabletest.Input(in)
			if !random { // a pipe
				input.At, input.Size = nil, -1
			}
			got, err := tabletest.Read(t, csv.New(o), input, provider.ReadOptions{TempDir: t.TempDir()})
			require.NoError(t, err)
			require.Equal(t, want, text.Schema(got.Schema()))
			require.EqualValues(t, 40_001, got.NumRows())
		}
	}
}

// BenchmarkRecognize measures what sniffing costs, with a plain file and one that needs all trials.
func BenchmarkRecognize(b *testing.B) {
	for name, in := range map[string]string{
		"plain": "a,b,c\n" + strings.Repeat("12345,some text,2020-01-01\n", 3000),
		"odd":   "a;b;c\n" + strings.Repeat("'12345';it's \"some\", text|:;2020-01-01\n", 3000),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				src, err := csv.New(csv.Options{Text: provider.TextOptions{SampleRows: 1}}).Open(b.Context(), tabletest.Input(in), provider.ReadOptions{})
				require.NoError(b, err)
				require.NoError(b, src.Close())
			}
		})
	}
}
