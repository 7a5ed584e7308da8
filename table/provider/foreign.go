package provider

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// foreign is a format that nothing here reads.
type foreign struct {
	title      string
	extensions []string
	magic      []string // first bytes of its files; none: only the extension tells
	wayOut     string
}

// foreignFormats lists formats that users meet. Of several with the same first bytes, the extension decides, else the first.
var foreignFormats = []foreign{
	{"a zip archive", []string{".zip"}, []string{"PK\x03\x04", "PK\x05\x06"}, "unzip -p FILE | amudai head - reads a table in it"},
	{"an Excel workbook", []string{".xlsx", ".xlsm"}, []string{"PK\x03\x04"}, "save the sheet as CSV, or libreoffice --convert-to csv FILE"},
	{"an Excel workbook", []string{".xls"}, []string{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}, "save the sheet as CSV, or libreoffice --convert-to csv FILE"},
	{"an OpenDocument spreadsheet", []string{".ods"}, []string{"PK\x03\x04"}, "save the sheet as CSV, or libreoffice --convert-to csv FILE"},
	{"Avro", []string{".avro"}, []string{"Obj\x01"}, `duckdb -c "copy (from read_avro('FILE')) to 'OUT.parquet'" converts it`},
	{"ORC", []string{".orc"}, []string{"ORC"}, `python -c "from pyarrow import orc, parquet; parquet.write_table(orc.read_table('FILE'), 'OUT.parquet')" converts it`},
	{"compressed with bzip2", []string{".bz2"}, []string{"BZh"}, "bzip2 -dc FILE | amudai head - reads it"},
	{"compressed with xz", []string{".xz"}, []string{"\xfd7zXZ\x00"}, "xz -dc FILE | amudai head - reads it"},
	{"compressed with LZ4", []string{".lz4"}, []string{"\x04\x22\x4d\x18"}, "lz4 -dc FILE | amudai head - reads it"},
	{"a 7z archive", []string{".7z"}, []string{"7z\xbc\xaf\x27\x1c"}, "7z x -so FILE | amudai head - reads a table in it"},
	{"a tar archive", []string{".tar", ".tgz"}, nil, "tar -xOf FILE MEMBER | amudai head - reads a table in it"},
	{"an SQLite database", []string{".sqlite", ".sqlite3", ".db"}, []string{"SQLite format 3\x00"}, `sqlite3 -csv -header FILE "select * from TABLE" | amudai head - reads a table`},
	{"a DuckDB database", []string{".duckdb"}, nil, `duckdb FILE -c "copy TABLE to 'OUT.parquet'" writes a table as Parquet`},
	{"HDF5", []string{".h5", ".hdf5"}, []string{"\x89HDF\r\n\x1a\n"}, "pandas.read_hdf('FILE').to_parquet('OUT.parquet') converts a table of pandas"},
	{"a PDF document", []string{".pdf"}, []string{"%PDF-"}, "tables in it need to be saved as CSV first"},
}

// markup recognizes HTML and XML.
var (
	htmlStart = regexp.MustCompile(`^(?i)<(!doctype\s+html|html|head|body)[\s>]`)
	xmlStart  = regexp.MustCompile(`^<(\?xml\s|!--|!DOCTYPE\s|[A-Za-z_][\w.:-]*(\s[^<>]*)?/?>)`)
	htmlTitle = regexp.MustCompile(`(?is)<title>\s*([^<]{1,80}?)\s*</title>`)
)

// ForeignError is the error of a file in a format that nothing here reads.
type ForeignError struct {
	Input  string // its name
	Title  string // of the format, as in "a zip archive"
	Remedy string
}

// Error names the format.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is %s, which cannot be read", e.Input, e.Title)
}

// Hint is a way to read the file.
func (e *ForeignError) Hint() string { return e.Remedy }

// Foreign returns the error of an input whose first bytes are those of a format that nothing here reads, such as a zip archive, a
// database or an HTML page, or whose name has the extension of one. It is nil for others. Sixteen bytes suffice for all but HTML and XML.
func Foreign(name string, head []byte) error {
	if e := markup(name, head); e != nil {
		return e
	}
	extension := strings.ToLower(path.Ext(strings.ReplaceAll(name, `\`, "/")))
	best := -1
	for i, f := range foreignFormats {
		named := slices.Contains(f.extensions, extension)
		begins := slices.ContainsFunc(f.magic, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
		if begins && (named || best < 0 && isBinary(head)) {
			best = i
		}
		if named && len(f.magic) == 0 && best < 0 {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	f := foreignFormats[best]
	return &ForeignError{name, f.title, f.wayOut}
}

// isBinary reports whether bytes are no text.
func isBinary(b []byte) bool {
	return !utf8.Valid(b) || bytes.IndexFunc(b, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) }) >= 0
}

// markup is the error of HTML and XML.
func markup(name string, head []byte) error {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case htmlStart.Match(head):
		title := "an HTML page"
		if m := htmlTitle.FindSubmatch(head); m != nil {
			title += fmt.Sprintf(" (%q)", m[1])
		}
		return &ForeignError{name, title, "a download may have ended at a page of an error or a login instead of the file"}
	case xmlStart.Match(head) && (bytes.Contains(head, []byte("</")) || bytes.Contains(head, []byte("/>")) || bytes.HasPrefix(head, []byte("<?xml"))):
		return &ForeignError{name, "XML", "convert it to CSV or JSON first; a download may have ended at an error instead of the file"}
	}
	return nil
}
