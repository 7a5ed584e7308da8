// Package searches measures searches of log lines and of prose, by shards with indexes of words and by other engines.
package searches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	pretty "github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/bench/peers"
	"github.com/amudai/amudai-go/bench/report"
	"github.com/amudai/amudai-go/bench/zoo"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/shard"
	amudai "github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats" // opens shards
)

// search is a question that each engine asks in its own way, by its kind and words.
type search struct {
	title string
	kind  string
	words []string
	turns []string // that take turns as the words, of which there is one
	base  string   // the engine that the goal is about
	goal  float64  // our time over that of the base, at most
}

// The engines of peers/search.py.
const (
	tantivyName = "tantivy"
	ripgrepName = "ripgrep"
)

// The data sets.
const (
	logsSet  = "searchlogs"
	proseSet = "searchprose"
)

var searchPeers = []string{tantivyName, "SQLite FTS5", "Lance", ripgrepName}

// logSearches are about log lines with a number that few of them have.
func logSearches(rare []string) []search {
	const pair = "authentication failure"
	expressions := make([]string, len(rare))
	for i, word := range rare {
		expressions[i] = `\w+.*\D` + word
	}
	return []search{
		{"a rare word", "count", nil, rare, tantivyName, 1},
		{"the same, with the lines", "lines", nil, rare, tantivyName, 1},
		{"`sshd NOT failed`", "without", []string{"sshd", "failed"}, nil, tantivyName, 1},
		{"`NOT failed`", "not", []string{"failed"}, nil, tantivyName, 1},
		{"`user AND unknown AND sshd`", "and", []string{"user", "unknown", "sshd"}, nil, tantivyName, 1},
		{"`error OR refused`", "or", []string{"error", "refused"}, nil, tantivyName, 1},
		{"`auth*`", "prefix", []string{"auth"}, nil, tantivyName, 1},
		{"`\"" + pair + "\"`", "phrase", strings.Fields(pair), nil, tantivyName, 1},
		{"`ailure` within words", "contains", []string{"ailure"}, nil, ripgrepName, 0.5},
		{"`--regex '" + pair + `; .*rhost=\d+\.'` + "`", "regex", []string{pair + `; .*rhost=\d+\.`}, nil, ripgrepName, 0.5},
		{"a regular expression with a rare word", "regex", nil, expressions, ripgrepName, 0.05},
	}
}

// proseSearches are about prose: what words it has by their frequency.
func proseSearches(words []string) []search {
	top := func(title string, w ...string) search {
		return search{fmt.Sprintf("the best 10 of %s `%s`", title, strings.Join(w, " OR ")), "rank", w, nil, tantivyName, 1.5}
	}
	and := words[10:13]
	return []search{
		top("very frequent words", words[0], words[3], words[8]),
		top("frequent words", words[40], words[80], words[120]),
		top("a rare and two frequent words", words[10], words[60], words[2000]),
		{"`" + strings.Join(and, " AND ") + "`", "and", and, nil, tantivyName, 1},
		{"`" + words[0] + " NOT " + words[5] + "`", "without", []string{words[0], words[5]}, nil, tantivyName, 1},
	}
}

// Options say what to search, and what with.
type Options struct {
	Python  string // of the other engines
	Folder  string // where data and indexes of an earlier run are used again, and the folder search may have logs
	Corpus  string // the folder of shared test data, whose logs are searched without such a folder
	Rows    int64
	Rounds  int
	Sets    []string // the names of data sets; both if none is among them
	Kinds   string   // of searches, comma separated; "" for all
	Engines string   // other engines, comma separated; "" for all

	Logs func(d *suite.Dataset, folder string, rows int64) error // reads log lines
}

// Run measures searches, and prints tables.
func Run(ctx context.Context, o Options, w io.Writer) error {
	logs := func(d *suite.Dataset) error {
		folder := filepath.Join(o.Folder, "search")
		if _, err := os.Stat(folder); err != nil {
			folder = filepath.Join(o.Corpus, "logs")
		}
		return o.Logs(d, folder, o.Rows)
	}
	if err := searchIn(ctx, &o, logsSet, logs, func(d *suite.Dataset) []search { return logSearches(rareNumbers(d)) }, w); err != nil {
		return err
	}
	prose := func(d *suite.Dataset) error { return makeProse(d, &o, "prose_120") }
	return searchIn(ctx, &o, proseSet, prose, func(d *suite.Dataset) []search { return proseSearches(byFrequency(d)) }, w)
}

// makeProse makes a column of the zoo, with the name "line".
func makeProse(d *suite.Dataset, o *Options, name string) error {
	column, ok := zoo.Find(name)
	if !ok {
		return fmt.Errorf("no column %s", name)
	}
	values, err := column.Make(zoo.Sources{Corpus: o.Corpus}, int(o.Rows))
	if err != nil {
		return err
	}
	defer values.Release()
	d.Schema = arrow.NewSchema([]arrow.Field{{Name: "line", Type: arrow.BinaryTypes.String}}, nil)
	for from := 0; from < values.Len(); from += suite.BatchRows {
		to := min(from+suite.BatchRows, values.Len())
		d.Batches = append(d.Batches, array.NewRecordBatch(d.Schema, []arrow.Array{array.NewSlice(values, int64(from), int64(to))}, int64(to-from)))
	}
	return nil
}

// eachLine calls f with the lines of a data set.
func eachLine(d *suite.Dataset, f func(line string)) {
	for _, b := range d.Batches {
		lines := b.Column(b.Schema().FieldIndices("line")[0]).(*array.String)
		for i := range lines.Len() {
			f(lines.Value(i))
		}
	}
}

// wordsOf calls f with the words of a line of ASCII.
func wordsOf(line string, f func(word string)) {
	for _, word := range strings.FieldsFunc(line, func(c rune) bool { return c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z' }) {
		f(strings.ToLower(word))
	}
}

// counts is how often each word is in a data set.
func counts(d *suite.Dataset) map[string]int {
	n := map[string]int{}
	eachLine(d, func(line string) { wordsOf(line, func(word string) { n[word]++ }) })
	return n
}

// maxRare words are asked for more than once each, so that most of what they need has been read.
const maxRare = 101

// rareNumbers are numbers of five digits that seven lines have.
func rareNumbers(d *suite.Dataset) (rare []string) {
	for word, n := range counts(d) {
		if n == 7 && len(word) == 5 && word >= "10000" && strings.Trim(word, "0123456789") == "" {
			rare = append(rare, word)
		}
	}
	slices.Sort(rare)
	return rare[:min(len(rare), maxRare)]
}

// byFrequency is the words of letters, the most frequent first.
func byFrequency(d *suite.Dataset) []string {
	n := counts(d)
	var words []string
	for word := range n {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
			words = append(words, word)
		}
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(n[b]-n[a], cmp.Compare(a, b)) })
	return words
}

// engine answers searches.
type engine interface {
	// build makes the index if it is not there, and returns the CPU seconds that this took, and the bytes of the index and of all.
	build(ctx context.Context) (seconds float64, index, all int64, err error)
	// ask returns the CPU seconds of a search, and its number of rows; false if the engine has no such searches.
	ask(ctx context.Context, s search) (seconds float64, rows int64, ok bool, err error)
	title() string
}

// searchPeer is an engine of peers/search.py.
type searchPeer struct {
	*peers.Peer
	input, path string
}

func (p searchPeer) title() string { return p.Title }

func (p searchPeer) build(context.Context) (float64, int64, int64, error) {
	a, err := p.Ask(peers.Question{Op: measure.OpWrite, Path: p.path, Input: p.input})
	return a.Seconds, a.Index, a.Size, err
}

func (p searchPeer) ask(_ context.Context, s search) (float64, int64, bool, error) {
	if !slices.Contains(p.Operations, s.kind) {
		return 0, 0, false, nil
	}
	q := peers.Question{Op: "search", Path: p.path, Kind: s.kind, Words: s.words}
	for range min(len(s.turns), turnsAsked) {
		q.Turns = append(q.Turns, []string{s.turn()})
	}
	a, err := p.Ask(q)
	return a.Seconds, a.Rows, true, err
}

// searchShard is a shard with an index.
type searchShard struct {
	name, path string
	data       *suite.Dataset
	properties []shard.Property
	shard      *shard.Shard
	ranked     *amudai.Table // for rankings
}

func (k *searchShard) title() string { return k.name }

func (k *searchShard) build(ctx context.Context) (seconds float64, index, all int64, err error) {
	before := measure.CPU()
	if _, err := os.Stat(k.path); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
			return 0, 0, 0, err
		}
		if err := k.data.Write(ctx, suite.Shard{}, k.path, 1); err != nil {
			return 0, 0, 0, err
		}
		d := shard.IndexDefinition{Columns: []string{"line"}, Properties: k.properties}
		if err := shard.AddIndex(ctx, k.path, shard.EditOptions{}, d); err != nil {
			return 0, 0, 0, errors.Join(err, os.Remove(k.path))
		}
	}
	seconds = measure.CPU() - before
	files, err := os.ReadDir(filepath.Dir(k.path))
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return 0, 0, 0, err
		}
		all += info.Size()
	}
	if err != nil {
		return 0, 0, 0, err
	}
	if k.shard, err = shard.Open(ctx, k.path, shard.OpenOptions{}); err != nil {
		return 0, 0, 0, err
	}
	indexes, err := k.shard.Indexes(ctx)
	for _, x := range indexes {
		index += x.Size
	}
	if err == nil {
		k.ranked, err = amudai.Open(ctx, k.path)
	}
	return seconds, index, all, err
}

func (k *searchShard) ask(ctx context.Context, s search) (seconds float64, rows int64, ok bool, err error) {
	ask := k.scan
	if s.kind == "rank" {
		ask = k.rank
	}
	seconds, err = measure.Time(func() (err error) {
		rows, err = ask(ctx, s)
		return err
	})
	return seconds, rows, true, err
}

// asked is how many questions there were.
var asked int

// turnsAsked is how often a question is asked for a measurement, each time with another word.
const turnsAsked = 20

// turn is the next word.
func (s *search) turn() string {
	asked++
	return s.turns[asked%len(s.turns)]
}

// spelt is a text in another case each time, as an open shard remembers the rows that a filter has found, and first times are measured.
func spelt(text string) string {
	b := []byte(text)
	for i, left := 0, asked; i < len(b) && left > 0; i++ {
		if 'a' <= b[i] && b[i] <= 'z' {
			b[i] -= byte(left&1) * ('a' - 'A')
			left >>= 1
		}
	}
	return string(b)
}

// condition is a search as a condition on rows.
func (s *search) condition() filter.Expr {
	if s.turns != nil {
		s.words = []string{s.turn()}
	} else {
		asked++
	}
	line, words := filter.Col("line"), make([]filter.Expr, len(s.words))
	for i, word := range s.words {
		words[i] = filter.Has(line, spelt(word))
	}
	switch s.kind {
	case "without":
		return filter.And(words[0], filter.Not(words[1]))
	case "not":
		return filter.Not(words[0])
	case "and":
		return filter.And(words...)
	case "prefix":
		return filter.HasPrefix(line, spelt(s.words[0]))
	case "phrase":
		return filter.Has(line, spelt(strings.Join(s.words, " ")))
	case "contains", "regex": // another expression that means the same
		return filter.Matches(line, s.words[0]+strings.Repeat("(?:)", asked%1000))
	}
	return filter.Or(words...)
}

// scan counts rows, or reads the lines.
func (k *searchShard) scan(ctx context.Context, s search) (rows int64, err error) {
	if s.kind != "lines" {
		return k.shard.Count(ctx, s.condition())
	}
	for b, err := range k.shard.Scan(ctx, shard.ScanOptions{Filter: s.condition(), Columns: []string{"line"}}) {
		if err != nil {
			return 0, err
		}
		rows += b.NumRows()
	}
	return rows, nil
}

// rank finds the best rows.
func (k *searchShard) rank(ctx context.Context, s search) (rows int64, err error) {
	o := amudai.SearchOptions{Query: strings.Join(s.words, " OR "), Columns: []string{}, Rank: &amudai.RankOptions{}, Limit: 10}
	for found, err := range k.ranked.Search(ctx, o) {
		if err != nil {
			return 0, err
		}
		rows += found.NumMatches()
	}
	return rows, nil
}

// searchIn asks searches of a data set.
func searchIn(ctx context.Context, o *Options, name string, fill func(*suite.Dataset) error, searches func(*suite.Dataset) []search, w io.Writer) error {
	if slices.Contains(o.Sets, logsSet) != slices.Contains(o.Sets, proseSet) && !slices.Contains(o.Sets, name) {
		return nil
	}
	d, path := &suite.Dataset{Name: name}, filepath.Join(o.Folder, name)
	if d.Map(path+".arrow") != nil {
		if err := errors.Join(fill(d), d.Save(path+".arrow"), d.Map(path+".arrow")); err != nil {
			return err
		}
	}
	var size int64
	eachLine(d, func(line string) { size += int64(len(line)) + 1 })
	list := searches(d)
	first := &searchShard{name: "amudai", path: filepath.Join(path+"-plain", "a.amudai.shard"), data: d}
	engines := []engine{first}
	if name == proseSet {
		first.properties = []shard.Property{{Name: "scores", Value: true}}
	}
	for _, name := range searchPeers {
		if o.Engines != "" && !strings.Contains(o.Engines, name) {
			continue
		}
		p, err := peers.Start(ctx, o.Python, o.Folder, peers.Search, name)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is left out: %v\n", name, err)
			continue
		}
		defer p.Stop()
		engines = append(engines, searchPeer{p, path + ".arrow", path + "." + strings.ReplaceAll(name, " ", "")})
	}
	fmt.Fprintf(w, "\n%s: %d rows, %d MB of text, the least CPU time on one core\n", name, d.Rows, size>>20)
	if err := measureSizes(ctx, engines, size, w); err != nil {
		return err
	}
	return measureSearches(ctx, o, list, engines, w)
}

// measureSizes builds all indexes, and prints their sizes.
func measureSizes(ctx context.Context, engines []engine, size int64, w io.Writer) error {
	t := report.Table(pretty.Row{"", "index / text", "all / text", "built in"})
	for _, e := range engines {
		seconds, index, all, err := e.build(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", e.title(), err)
		}
		t.AppendRow(pretty.Row{e.title(), fmt.Sprintf("%.3f", float64(index)/float64(size)), fmt.Sprintf("%.3f", float64(all)/float64(size)), fmt.Sprintf("%.1f s", seconds)})
	}
	_, err := fmt.Fprintf(w, "\n%s\n", t.RenderMarkdown())
	return err
}

// searchFigures are those of a question, by engine.
type searchFigures struct {
	search
	seconds []float64 // 0 if it is not answered
	rows    []int64
	ratio   float64 // to the base; 0 without
}

// measureSearches asks all engines each question, one after the other, and prints their figures: the worst first.
func measureSearches(ctx context.Context, o *Options, list []search, engines []engine, w io.Writer) error {
	header := pretty.Row{"", "rows"}
	for _, e := range engines {
		header = append(header, e.title())
	}
	var all []*searchFigures
	for _, s := range list {
		if o.Kinds != "" && !slices.Contains(strings.Split(o.Kinds, ","), s.kind) {
			continue
		}
		f := &searchFigures{search: s, seconds: make([]float64, len(engines)), rows: make([]int64, len(engines))}
		for range o.Rounds {
			if err := f.round(ctx, engines); err != nil {
				return err
			}
		}
		for i, e := range engines {
			if e.title() == s.base && f.seconds[i] > 0 {
				f.ratio = f.seconds[0] / f.seconds[i]
			}
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b *searchFigures) int { return cmp.Compare(b.ratio/b.goal, a.ratio/a.goal) })
	t := report.Table(append(header, "ratio", "to", "goal"))
	for _, f := range all {
		row := pretty.Row{f.title, f.rows[0]}
		for i := range engines {
			row = append(row, f.cell(i))
		}
		t.AppendRow(append(row, fmt.Sprintf("%.2f", f.ratio), f.base, f.goal))
	}
	_, err := fmt.Fprintf(w, "\nmilliseconds:\n\n%s\n", t.RenderMarkdown())
	return err
}

func (f *searchFigures) round(ctx context.Context, engines []engine) error {
	for i, e := range engines {
		seconds, rows, ok, err := e.ask(ctx, f.search)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", e.title(), f.title, err)
		}
		if ok && (f.seconds[i] == 0 || seconds < f.seconds[i]) {
			f.seconds[i], f.rows[i] = seconds, rows
		}
	}
	return nil
}

// cell is the time of an engine, with its number of rows if that is another than ours.
func (f *searchFigures) cell(i int) string {
	switch {
	case f.seconds[i] == 0:
		return ""
	case f.rows[i] != f.rows[0]:
		return fmt.Sprintf("%.3g (%d)", 1000*f.seconds[i], f.rows[i])
	}
	return fmt.Sprintf("%.3g", 1000*f.seconds[i])
}
