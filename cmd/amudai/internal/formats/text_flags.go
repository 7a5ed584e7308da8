package formats

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/text/charset"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text"
)

// textFlags are the flags about inputs that are text.
type textFlags struct {
	csv                    text.CSVOptions
	json                   text.JSONOptions
	sampleBytes            int64
	nulls                  []string
	skip                   int
	header, noHeader, trim bool
	flags                  *pflag.FlagSet
}

func (t *textFlags) register(cmd *cobra.Command) {
	f, csv, json := cmd.Flags(), &t.csv, &t.json
	t.flags = f
	usage.Parsed(cmd, &csv.Text, "sample", "", "rows to infer types from, or all, which reads the input twice (default 10000)", sampleOf)
	usage.Parsed(cmd, &t.sampleBytes, "sample-bytes", "", "maximum bytes of this sample (default 8MiB)", terminal.ParseSize)
	usage.Parsed(cmd, &csv.Encoding, "encoding", "", "CSV and JSON: encoding of the text, such as utf-16le, windows-1252 or iso-8859-2 (default: recognized)", func(s string) (string, error) {
		_, err := charset.Find(s)
		return s, err
	})
	for _, c := range []struct {
		flag  string
		to    *byte
		words map[string]byte
		help  string
	}{
		{"delimiter", &csv.Delimiter, map[string]byte{"tab": '\t', `\t`: '\t'}, `the character between fields, "tab" for tabs (default: recognized)`},
		{"quote", &csv.Quote, map[string]byte{"none": text.None}, `the character around fields, or none (default: recognized)`},
		{"escape", &csv.Escape, map[string]byte{"doubled": text.None, "backslash": '\\'}, `how quotes are written within quotes: doubled, or backslash (default: recognized)`},
		{"line-end", &csv.LineEnd, map[string]byte{"lf": '\n', "cr": '\r', "crlf": '\n'}, `lf, with or without a carriage return, or cr (default: recognized)`},
		{"comment", &csv.Comment, map[string]byte{"none": text.None}, "the first character of lines to leave out, or none (default: recognized)"},
		{"decimal", &csv.Decimal, nil, `the character before fractions, such as "," (default ".")`},
		{"thousands", &csv.Thousands, map[string]byte{"space": ' '}, `the character between groups of three digits, such as "." (default none)`},
	} {
		usage.Parsed(cmd, c.to, c.flag, "", "CSV: "+c.help, func(s string) (byte, error) { return charOf(c.flag, s, c.words) })
	}
	f.IntVar(&t.skip, "skip", 0, "CSV: lines to leave out before the header (default: recognized)")
	f.BoolVar(&t.header, "header", false, "CSV: the first record has the names of the columns (default: recognized)")
	f.BoolVar(&t.noHeader, "no-header", false, "CSV: the first record is data")
	usage.Choice(cmd, &csv.Ragged, "ragged", "", "CSV: records with too few or too many fields are an error, filled by null, or left out: drop (default error)",
		[]string{"error", "null", "drop"}, text.RaggedError, text.RaggedNull, text.RaggedDrop)
	f.BoolVar(&t.trim, "trim", false, "CSV: remove spaces around fields")
	orders := []string{"dmy", "mdy", "ymd", "none"}
	usage.Parsed(cmd, &csv.Dates, "dates", "", "CSV: order of dates other than 2012-12-31: dmy, mdy, ymd, or none to keep them as text (default: where only one is possible)", func(s string) (text.DateOrder, error) {
		return usage.OneOf("--dates", strings.ToLower(s), orders, text.DMY, text.MDY, text.YMD, text.DatesNone)
	})
	f.StringArrayVar(&t.nulls, "null", nil, "CSV: a text that means null, in addition to an empty field, or auto for the usual spellings (can be repeated)")
	f.StringArrayVar(&csv.True, "true", nil, `CSV: a text that means true, such as yes (can be repeated)`)
	f.StringArrayVar(&csv.False, "false", nil, `CSV: a text that means false, such as no (can be repeated)`)
	f.StringVar(&json.Unnest, "unnest", "", `JSON: the path of an array in the records whose elements become the rows, such as features or data.items`)
	f.StringSliceVar(&json.Keep, "keep", nil, `JSON: fields beside the path of --unnest that are repeated in its rows, such as id,customer`)
	usage.Choice(cmd, &json.Records, "records", "", `JSON: rows are the values, the entries of one object, or arrays behind one of names: values, entries or arrays (default: recognized)`,
		[]string{"values", "entries", "arrays"}, text.RecordsValues, text.RecordsEntries, text.RecordsArrays)
	usage.Complete(cmd, "encoding", charset.Names()...)
	usage.Complete(cmd, "quote", `"`, "'", "none")
	usage.Complete(cmd, "escape", "doubled", "backslash")
	usage.Complete(cmd, "line-end", "lf", "cr")
	usage.Complete(cmd, "dates", orders...)
	usage.Complete(cmd, "null", "auto")
}

// sampleOf is the sample that a number of rows, or the word all, asks for.
func sampleOf(s string) (o provider.TextOptions, err error) {
	if o.AllRows = s == "all"; o.AllRows {
		return o, nil
	}
	if o.SampleRows, err = strconv.Atoi(s); err != nil || o.SampleRows < 1 {
		return o, usage.Errorf("", "--sample %q: use a number of rows, or all", s)
	}
	return o, nil
}

// options are the options of CSV and JSON.
func (t *textFlags) options(allRows bool) (csv text.CSVOptions, json text.JSONOptions, err error) {
	csv, json = t.csv, t.json
	csv.Text.SampleBytes, csv.Text.AllRows = t.sampleBytes, csv.Text.AllRows || allRows
	json.Text, json.Encoding = csv.Text, csv.Encoding
	for _, n := range t.nulls {
		if n == "auto" {
			csv.AutoNulls = true
		} else {
			csv.Nulls = append(csv.Nulls, n)
		}
	}
	given := func(name string) bool { return t.flags != nil && t.flags.Changed(name) }
	switch {
	case t.noHeader || given("header") && !t.header:
		csv.Header = text.HeaderAbsent
	case t.header || given("no-header"):
		csv.Header = text.HeaderPresent
	}
	if given("skip") {
		if csv.Skip = t.skip; t.skip == 0 {
			csv.Skip = -1
		}
	}
	if given("trim") {
		if csv.Trim = text.TrimNone; t.trim {
			csv.Trim = text.TrimSpaces
		}
	}
	switch {
	case t.header && t.noHeader:
		err = usage.Errorf("", "--header and --no-header contradict each other")
	case t.skip < 0:
		err = usage.Errorf("", "--skip %d is negative", t.skip)
	case len(json.Keep) > 0 && json.Unnest == "":
		err = usage.Errorf("name the array with --unnest", "--keep repeats fields beside the path of --unnest")
	}
	return csv, json, err
}

// charOf is the character of a flag.
func charOf(flag, s string, words map[string]byte) (byte, error) {
	if c, ok := words[s]; ok || s == "" {
		return c, nil
	}
	if len(s) == 1 && s[0] < 0x80 && flag != "line-end" {
		return s[0], nil
	}
	if flag == "line-end" {
		return 0, usage.Errorf("--line-end lf or --line-end cr", "--line-end %q is not known", s)
	}
	if flag == "delimiter" {
		return 0, usage.Errorf("--delimiter ';' or --delimiter tab", "--delimiter %q is not one ASCII character", s)
	}
	hint := ""
	if words["none"] != 0 {
		hint = "--" + flag + " none, if there is none"
	}
	return 0, usage.Errorf(hint, "--%s %q is not one ASCII character", flag, s)
}
