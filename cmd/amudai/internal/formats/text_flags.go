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
	sample, sampleBytes, encoding                      string
	delimiter, quote, escape, lineEnd, comment, ragged string
	decimal, thousands, dates, unnest, records         string
	nulls, yes, no, keep                               []string
	skip                                               int
	header, noHeader, trim                             bool
	flags                                              *pflag.FlagSet
}

func (t *textFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	t.flags = f
	f.StringVar(&t.sample, "sample", "", "rows to infer types from, or all, which reads the input twice (default 10000)")
	f.StringVar(&t.sampleBytes, "sample-bytes", "", "maximum bytes of this sample (default 8MiB)")
	f.StringVar(&t.encoding, "encoding", "", "CSV and JSON: encoding of the text, such as utf-16le, windows-1252 or iso-8859-2 (default: recognized)")
	f.StringVar(&t.delimiter, "delimiter", "", `CSV: the character between fields, "tab" for tabs (default: recognized)`)
	f.StringVar(&t.quote, "quote", "", `CSV: the character around fields, or none (default: recognized)`)
	f.StringVar(&t.escape, "escape", "", `CSV: how quotes are written within quotes: doubled, or backslash (default: recognized)`)
	f.StringVar(&t.lineEnd, "line-end", "", `CSV: lf, with or without a carriage return, or cr (default: recognized)`)
	f.StringVar(&t.comment, "comment", "", "CSV: the first character of lines to leave out, or none (default: recognized)")
	f.IntVar(&t.skip, "skip", 0, "CSV: lines to leave out before the header (default: recognized)")
	f.BoolVar(&t.header, "header", false, "CSV: the first record has the names of the columns (default: recognized)")
	f.BoolVar(&t.noHeader, "no-header", false, "CSV: the first record is data")
	f.StringVar(&t.ragged, "ragged", "", "CSV: records with too few or too many fields are an error, filled by null, or left out: drop (default error)")
	f.BoolVar(&t.trim, "trim", false, "CSV: remove spaces around fields")
	f.StringVar(&t.decimal, "decimal", "", `CSV: the character before fractions, such as "," (default ".")`)
	f.StringVar(&t.thousands, "thousands", "", `CSV: the character between groups of three digits, such as "." (default none)`)
	f.StringVar(&t.dates, "dates", "", "CSV: order of dates other than 2012-12-31: dmy, mdy, ymd, or none to keep them as text (default: where only one is possible)")
	f.StringArrayVar(&t.nulls, "null", nil, "CSV: a text that means null, in addition to an empty field, or auto for the usual spellings (can be repeated)")
	f.StringArrayVar(&t.yes, "true", nil, `CSV: a text that means true, such as yes (can be repeated)`)
	f.StringArrayVar(&t.no, "false", nil, `CSV: a text that means false, such as no (can be repeated)`)
	f.StringVar(&t.unnest, "unnest", "", `JSON: the path of an array in the records whose elements become the rows, such as features or data.items`)
	f.StringSliceVar(&t.keep, "keep", nil, `JSON: fields beside the path of --unnest that are repeated in its rows, such as id,customer`)
	f.StringVar(&t.records, "records", "", `JSON: rows are the values, the entries of one object, or arrays behind one of names: values, entries or arrays (default: recognized)`)
	usage.Complete(cmd, "encoding", charset.Names()...)
	usage.Complete(cmd, "quote", `"`, "'", "none")
	usage.Complete(cmd, "escape", "doubled", "backslash")
	usage.Complete(cmd, "line-end", "lf", "cr")
	usage.Complete(cmd, "ragged", "error", "null", "drop")
	usage.Complete(cmd, "dates", "dmy", "mdy", "ymd", "none")
	usage.Complete(cmd, "null", "auto")
	usage.Complete(cmd, "records", "values", "entries", "arrays")
}

// options are the options of all formats of text.
func (t *textFlags) options() (o provider.TextOptions, err error) {
	switch t.sample {
	case "":
	case "all":
		o.AllRows = true
	default:
		if o.SampleRows, err = strconv.Atoi(t.sample); err != nil || o.SampleRows < 1 {
			return o, usage.Errorf("", "--sample %q: use a number of rows, or all", t.sample)
		}
	}
	if t.sampleBytes != "" {
		if o.SampleBytes, err = terminal.ParseSize(t.sampleBytes); err != nil {
			return o, usage.Errorf("", "--sample-bytes: %w", err)
		}
	}
	if t.encoding != "" {
		if _, err := charset.Find(t.encoding); err != nil {
			return o, usage.Errorf("", "--encoding: %w", err)
		}
	}
	return o, nil
}

// csv parses the flags of CSV.
func (t *textFlags) csv() (o text.CSVOptions, err error) {
	if o.Text, err = t.options(); err != nil {
		return o, err
	}
	o.Encoding, o.True, o.False = t.encoding, t.yes, t.no
	for _, n := range t.nulls {
		if n == "auto" {
			o.AutoNulls = true
		} else {
			o.Nulls = append(o.Nulls, n)
		}
	}
	for _, c := range []struct {
		flag, value string
		to          *byte
		words       map[string]byte
	}{
		{"delimiter", t.delimiter, &o.Delimiter, map[string]byte{"tab": '\t', `\t`: '\t'}},
		{"quote", t.quote, &o.Quote, map[string]byte{"none": text.None}},
		{"escape", t.escape, &o.Escape, map[string]byte{"doubled": text.None, "backslash": '\\'}},
		{"line-end", t.lineEnd, &o.LineEnd, map[string]byte{"lf": '\n', "cr": '\r', "crlf": '\n'}},
		{"comment", t.comment, &o.Comment, map[string]byte{"none": text.None}},
		{"decimal", t.decimal, &o.Decimal, nil},
		{"thousands", t.thousands, &o.Thousands, map[string]byte{"space": ' '}},
	} {
		if *c.to, err = charOf(c.flag, c.value, c.words); err != nil {
			return o, err
		}
	}
	if t.header && t.noHeader {
		return o, usage.Errorf("", "--header and --no-header contradict each other")
	}
	given := func(name string) bool { return t.flags != nil && t.flags.Changed(name) }
	switch {
	case t.noHeader || given("header") && !t.header:
		o.Header = text.HeaderAbsent
	case t.header || given("no-header"):
		o.Header = text.HeaderPresent
	}
	if given("skip") {
		if o.Skip = t.skip; t.skip < 0 {
			return o, usage.Errorf("", "--skip %d is negative", t.skip)
		} else if t.skip == 0 {
			o.Skip = -1
		}
	}
	if given("trim") {
		if o.Trim = text.TrimNone; t.trim {
			o.Trim = text.TrimSpaces
		}
	}
	if t.ragged != "" {
		if o.Ragged, err = usage.OneOf("--ragged", t.ragged, []string{"error", "null", "drop"}, text.RaggedError, text.RaggedNull, text.RaggedDrop); err != nil {
			return o, err
		}
	}
	if t.dates != "" {
		o.Dates, err = usage.OneOf("--dates", strings.ToLower(t.dates), []string{"dmy", "mdy", "ymd", "none"}, text.DMY, text.MDY, text.YMD, text.DatesNone)
	}
	return o, err
}

// json parses the flags of JSON.
func (t *textFlags) json() (o text.JSONOptions, err error) {
	if o.Text, err = t.options(); err != nil {
		return o, err
	}
	o.Encoding, o.Unnest, o.Keep = t.encoding, t.unnest, t.keep
	if len(t.keep) > 0 && t.unnest == "" {
		return o, usage.Errorf("name the array with --unnest", "--keep repeats fields beside the path of --unnest")
	}
	if t.records != "" {
		o.Records, err = usage.OneOf("--records", t.records, []string{"values", "entries", "arrays"}, text.RecordsValues, text.RecordsEntries, text.RecordsArrays)
	}
	return o, err
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
