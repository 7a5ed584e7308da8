package csv_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/csv"
	_ "github.com/amudai/amudai-go/table/text/internal/jsonl"
)

// TestRecognizedTables finds the format of texts without a name. A log or prose has none.
func TestRecognizedTables(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1,2\n": "csv", "a,b\n1,2": "csv", "\xef\xbb\xbfa,b\r\n1,2\r\n": "csv", "a;b\n1;2\n": "csv", "a|b|c\nx|y|1\n": "csv", "a\tb\nx\ty\n": "tsv",
		"city,2019,2020\nOslo,1,2\n": "csv", "1,2\n3,4\n": "csv", "2020-01-01,1.5\n2020-01-02,2\n": "csv", "\"a\",\"b, c\"\nx,1\n": "csv",
		"a,b\n" + strings.Repeat("x,y\n", 9): "csv", wide("a,b\n1,2\n", false): "csv", "\xff\xfe" + wide("é,b\n1,2\n", false): "csv", "na\xefve,b\n1,2\n": "csv",
		"": "", "a": "", "a,b": "", "a,b\n": "", "a\n1\n2\n": "", "a b\n1 2\n": "", "a,b\n1,2,3\n": "", "a,a\n1,2\n": "", ",b\n1,2\n": "",
		"Dear Bob, I write\nto you, because\n": "", "| a | b |\n|---|---|\n| 1 | 2 |\n": "", "a,b\n\x00,\x01\n": "",
		"2026-11-22 20:00:01,123 INFO a\n2026-11-22 20:00:02,456 INFO b\n":     "",
		"20171223-22:15:29:606|Step|30|x 1\n20171223-22:15:29:615|Step|31|y\n": "", "Nov 22 20:00:01 a, b\nNov 22 20:00:01 c, d\n": "",
		"[error],x\n[error],y\n": "", `{"a":1,"b":2}` + "\n" + `{"a":3,"b":4}` + "\n": "jsonl", "[1,2]\n": "json", "[Sun Dec 04] a, b\n[Sun Dec 04] a, b\n": "", "[2026-11-22 20:00:00] x\n": "",
		"<a,b>\n1,2\n": "",
	} {
		f, _ := provider.Registered().Sniff([]byte(text))
		require.Equal(t, want, f.Name, text)
	}
	corpus := filepath.Join(testdata.Shared(t), "corpus")
	for pattern, want := range map[string]string{"tables/*.csv": "csv", "logs/*.log": ""} {
		files, err := filepath.Glob(filepath.Join(corpus, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, name := range files {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			f, _ := provider.Registered().Sniff(b[:min(len(b), provider.SniffBytes)])
			require.Equal(t, want, f.Name, name)
		}
	}
}

// TestNotCSV refuses what is no CSV, unless options say how it is read.
func TestNotCSV(t *testing.T) {
	for text, want := range map[string]string{
		"<!doctype html>\n<title>\n 404, x</title>":    `in is an HTML page ("404, x"), which cannot be read`,
		"\n <html><body>a,b</body></html>":             "in is an HTML page, which cannot be read",
		"<Error><Code>x</Code></Error>":                "in is XML, which cannot be read",
		`{"error": "not found"}`:                       `in is JSON, not CSV: it begins with {"error": "not found"}`,
		"[\n{\"a\": 1}]":                               `in is JSON, not CSV: it begins with [`,
		`{"a": "` + strings.Repeat("y", 40<<10) + `"}`: `in is JSON, not CSV: it begins with {"a": "yyy`,
		"SQLite format 3\x00\x10\x00\x01":              "in is an SQLite database, which cannot be read",
		"PK\x03\x04\x14\x00":                           "in is a zip archive, which cannot be read",
		"BZh91AY&SY\x8b":                               "in is compressed with bzip2, which cannot be read",
		"ORC\n\x03\x00":                                "in is ORC, which cannot be read",
	} {
		_, err := tabletest.Read(t, csv.New(csv.Options{}), tabletest.Input(text), provider.ReadOptions{})
		require.ErrorContains(t, err, want)
		var hint interface{ Hint() string }
		require.ErrorAs(t, err, &hint)
	}
	for _, text := range []string{"ORCID,n\n1,2\n", "BZh9,n\n1,2\n", "<5,>5\n1,2\n", "<a>,b\n1,2\n", "{x},y\n1,2\n", "{\"a\":1},y\n1,2\n", "[a],b\n1,2\n", "PK,n\n1,2\n"} {
		require.EqualValues(t, 1, tabletest.MustRead(t, csv.New(csv.Options{}), text, provider.ReadOptions{}).NumRows(), text)
	}
	one := tabletest.MustRead(t, csv.New(csv.Options{Header: csv.HeaderAbsent}), "{\"error\": 1}\n", provider.ReadOptions{})
	require.EqualValues(t, 1, one.NumRows())
}
