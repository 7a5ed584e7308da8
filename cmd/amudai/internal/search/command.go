package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/query"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
)

// searchFlags are the flags of search.
type searchFlags struct {
	what                                 Search
	context                              int64
	files, quiet, numbers, names, noName bool
	rank                                 bool
	boosts                               []string
	tokenizer                            string
	snippet                              int
	by                                   string
}

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command { return []func() *cobra.Command{group{a}.search} }

func (a group) search() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search QUERY IN...",
		Short: "Search shards, logs and folders for words, phrases and regular expressions",
		Long: `search prints the lines of shards, logs and other tables that match a query. The query comes first, as in grep;
inputs are files, folders with the files below them, glob patterns in quotes, URLs, and "-" for stdin. A shard is
searched by its indexes (amudai index add), or else by scanning; text, also with gzip or zstd, line by line.

  failed                  lines with the word "failed", in any case: not "failure"
  blk_*                   a word that begins so
  fialed~ fialde~2        a word with one edit, or up to two
  "connection reset"      this text, beginning and ending where words do
  failed 10.1.2.3         both, in any order; the same as failed AND 10.1.2.3
  (error OR warn) NOT test
  --regex 'took \d{4,}ms' a regular expression; -i ignores its case

A word is a run of letters and digits. Only AND, OR and NOT in upper case are operators; quotes make words of them.
NOT binds closer than AND, and AND closer than OR. In a table of several columns, each word may be in any of them.

The lines of CSV and JSON are searched as text, too, unless --in, --columns, --since or --until ask for columns.
Rows are counted from 1. The exit code is 0 if something was found, 1 if nothing, 2 after an error.`,
		Example: `  amudai search 'failed AND (10.1.2.3 OR blk_*)' logs/
  amudai search -C 2 --since 2026-11-01 timeout 'app-*.amudai.shard'
  amudai search --by "level,date(time)" 'failed OR refused' logs/
  amudai search --regex -i 'user=\w+' --json app.log.gz | jq .values.line`,
		Args: app.WantsFirst("the query, then one or more inputs", `the query comes first; "." is this folder, "-" stdin`, "there is nothing to search in"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runSearch(cmd.Context(), args[0], args[1:], f) },
	}
	f.register(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" {
			hint := "a query that begins with a dash follows --"
			if of, ok := grepFlags[unknown.GetSpecifiedName()]; ok {
				hint = of
			}
			return usage.Errorf(hint, "%w", err)
		}
		return cmd.Parent().FlagErrorFunc()(cmd, err)
	})
	return cmd
}

// grepFlags are hints about short flags of grep that are not those of search.
var grepFlags = map[string]string{
	"E": "--regex is for regular expressions", "P": "--regex is for regular expressions", "e": "the query is the first argument, without a flag",
	"F": "a query in double quotes, inside the quotes of the shell, is a text",
	"v": "NOT word finds lines without it, such as 'NOT debug'", "w": "words are whole words always",
	"r": "folders are searched with those below always", "R": "folders are searched with those below always",
	"m": "--limit N ends after N matches",
}

func (f *searchFlags) register(cmd *cobra.Command) {
	flags, w := cmd.Flags(), &f.what
	flags.BoolVar(&w.Regexp, "regex", false, "the query is one regular expression, in the syntax of Go")
	flags.BoolVarP(&w.IgnoreCase, "ignore-case", "i", false, "the regular expression ignores case, as words always do")
	flags.Int64VarP(&w.After, "after-context", "A", 0, "rows to print after each match")
	flags.Int64VarP(&w.Before, "before-context", "B", 0, "rows to print before each match")
	flags.Int64VarP(&f.context, "context", "C", 0, "rows to print before and after each match")
	flags.StringSliceVar(&w.In, "in", nil, `only search these columns, by path (default "line", or all columns of strings)`)
	flags.StringSliceVar(&w.Columns, "columns", nil, `print these columns, by path, separated by tabs (default "line", or all columns of strings)`)
	flags.BoolVarP(&w.Count, "count", "c", false, "print the number of matches of each input")
	flags.BoolVarP(&f.files, "files-with-matches", "l", false, "print the names of inputs with matches")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing, and end with the first match")
	flags.Int64Var(&w.Limit, "limit", 0, "end after this number of matches, in all inputs together")
	formats.RegisterTimes(cmd, &w.Since, &w.Until, "only rows from this time on: 2026-11-30, '2026-11-30 15:04:05', or 2h for two hours ago", "only rows before this time")
	flags.StringVar(&w.TimeColumn, "time", "", "the column of times, by path (default: the first one)")
	flags.BoolVarP(&f.numbers, "line-number", "n", false, "print the numbers of rows")
	flags.BoolVarP(&f.names, "with-filename", "H", false, "print names of inputs (default if there are several)")
	flags.BoolVar(&f.noName, "no-filename", false, "print no names of inputs")
	flags.BoolVar(&w.JSON, "json", false, "print a JSON object in a line for each row, or count")
	flags.StringVar(&f.by, "by", "", "print the number of matches for each group of all inputs together, such as \"level,date(time)\"; --limit is of groups")
	flags.BoolVar(&f.rank, "rank", false, "print the matches of all inputs together that match best, by BM25; --limit is 10 by default")
	flags.StringSliceVar(&f.boosts, "boost", nil, "factors of columns for --rank: title=3,body=1")
	usage.Choice(cmd, &f.tokenizer, "tokenizer", "", "words for --rank: "+strings.Join(wordTokenizers, ", ")+" (default that of the first index, else unicode-word)", wordTokenizers, wordTokenizers...)
	flags.IntVar(&f.snippet, "snippet", 0, "print about so many bytes of a line, where most of the query is")
	flags.IntVar(&w.Parallelism, "parallel", 0, "inputs searched at a time (default: one per CPU)")
}

// wordTokenizers are those of words (docs/format.md §15.1).
var wordTokenizers = []string{"unicode-word", "unicode-log", "unicode-folded", "english", "german"}

// resolve checks flags, and prepares the search.
func (f *searchFlags) resolve(text string) (q *query.Query, err error) {
	w := &f.what
	if f.context < 0 || w.After < 0 || w.Before < 0 || w.Limit < 0 || w.Parallelism < 0 {
		return nil, usage.Errorf("", "-A, -B, -C, --limit and --parallel need a number above 0")
	}
	w.After, w.Before = max(w.After, f.context), max(w.Before, f.context)
	if f.by != "" && (w.After > 0 || w.Before > 0 || w.Count || f.files || f.quiet || f.numbers || f.snippet > 0 || w.Columns != nil) {
		return nil, usage.Errorf("", "--by prints groups of matches: -A, -B, -C, -c, -l, -n, -q, --columns and --snippet are not for it")
	}
	if err := f.resolveRank(); err != nil {
		return nil, err
	}
	if w.Count || f.files || f.quiet {
		w.After, w.Before = 0, 0
	}
	w.Query = text
	if q, err = query.New(text, w.Regexp, w.IgnoreCase); err != nil {
		err = usage.Errorf("amudai search --help shows queries", "%w", err)
	}
	return q, err
}

// resolveRank checks the flags about ranking.
func (f *searchFlags) resolveRank() error {
	w := &f.what
	switch {
	case f.snippet < 0:
		return usage.Errorf("", "--snippet needs a number above 0")
	case !f.rank && len(f.boosts) > 0:
		return usage.Errorf("", "--boost is for --rank")
	case !f.rank && f.tokenizer != "":
		return usage.Errorf("", "--tokenizer is for --rank")
	case !f.rank:
		return nil
	case w.Regexp:
		return usage.Errorf("", "--rank is for words, not for a regular expression")
	case w.After > 0 || w.Before > 0 || w.Count || f.files || f.quiet:
		return usage.Errorf("", "--rank prints single matches: -A, -B, -C, -c, -l and -q are not for it")
	}
	w.Rank = &table.RankOptions{Boosts: map[string]float64{}, Tokenizer: f.tokenizer}
	for _, text := range f.boosts {
		path, factor, _ := strings.Cut(text, "=")
		boost, err := strconv.ParseFloat(factor, 64)
		if err != nil {
			return usage.Errorf("", "--boost %s: a column and a number are expected, as in title=3", text)
		}
		w.Rank.Boosts[path] = boost
	}
	return nil
}

func (a group) runSearch(ctx context.Context, text string, locations []string, f searchFlags) error {
	q, err := f.resolve(text)
	if err != nil {
		return err
	}
	all := inputs.Expand(ctx, locations, formats.All())
	w := f.what
	if f.files || f.quiet {
		w.Count, w.Limit = true, 1
	}
	w.Opener = func() *formats.Opener { return a.Opener.Silent(a.Stdin) }
	p := Printer{
		Screen: a.Out, Highlighter: q.Highlighter(), Numbers: f.numbers, JSON: w.JSON,
		Names: f.names || !f.noName && (len(all) > 1 || len(all) == 1 && all[0].Found),
		Count: f.what.Count, Files: f.files, Quiet: f.quiet,
		Context: w.Before > 0 || w.After > 0, After: w.After, Limit: f.what.Limit, Snippet: f.snippet,
	}
	p.Warn = a.Warn
	code := app.ExitUsage // of a search that is not complete
	p.Fail = func(err error) {
		if ctx.Err() != nil {
			return
		}
		if _, noQuery := os.Stat(text); noQuery == nil && errors.Is(err, fs.ErrNotExist) {
			err = usage.WithHint(err, "the query comes first, then the inputs")
		}
		if a.PrintError(err); errors.Is(err, storage.ErrChanged) {
			code = app.ExitChanged
		}
	}
	if f.by != "" || w.Rank != nil {
		if f.by != "" {
			err = a.groups(ctx, &w, all, &p, f.by)
		} else {
			err = w.Ranked(ctx, all, &p)
		}
		if err != nil && ctx.Err() == nil {
			p.Failed = true
			p.Fail(err)
			err = nil
		}
	} else {
		err = w.Run(ctx, all, p.Print)
	}
	switch {
	case err != nil && !errors.Is(err, ErrEnough):
		return err
	case p.Failed && !(f.quiet && p.Matches > 0):
		return app.Printed{Code: code, Text: "the search is not complete"}
	case p.Matches == 0:
		return app.Printed{Code: app.ExitFailure, Text: "nothing found"}
	}
	return nil
}

// groups prints groups of matches.
func (a group) groups(ctx context.Context, w *Search, all []inputs.Input, p *Printer, by string) error {
	format := ""
	if w.JSON {
		format = "jsonl"
	}
	create, _, err := a.Printer(&app.PrintFlags{}, format)
	if err != nil {
		return err
	}
	return w.Groups(ctx, all, p, by, create)
}
