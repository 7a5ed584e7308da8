package inspect

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

func (a group) index() *cobra.Command {
	return app.Group("index", "Add, list, rebuild and drop the indexes of a shard",
		`index changes and shows the indexes of a shard. Filters and search use an index by themselves. Adding or dropping
one writes none of the data again: a new root file replaces the old one in one step, and an interrupted command
leaves the old one.`, a.indexAdd(), a.indexList(), a.indexRebuild(), a.indexDrop())
}

// indexFlags are the flags about indexes.
type indexFlags struct {
	atOnce                                  bool // nothing is built, so that there is no progress
	columns, key                            []string
	kind, tokenizer, layout                 string
	memory                                  int64
	casePreserving, all, perStripe, phrases bool
	scores                                  bool
	coarseRows                              int64
	parallel                                int
}

// registerBuild adds the flags of commands that build indexes.
func (f *indexFlags) registerBuild(cmd *cobra.Command) {
	formats.RegisterSize(cmd, &f.memory, "memory", "64MiB", "memory for building; the rest goes to temporary files")
	cmd.Flags().IntVar(&f.parallel, "parallel", 0, "parts of the shard that are read at a time (default: one per CPU)")
}

func (a group) indexAdd() *cobra.Command {
	var f indexFlags
	cmd := &cobra.Command{
		Use:   "add SHARD (--columns COLUMN,... | --key COLUMN,...)",
		Short: "Build an index of columns, and attach it",
		Long: `add builds an index of one or more columns, and attaches it to the shard. The shard then consists of several files in its
folder.

Without --type it is of the words of strings, for search and filters such as has(line, 'failed'). With --type hash it finds rows by values of any type, for
filters with = and in; one of a struct has all columns in it. With --key it does so by the values of all its columns together.
With --type range it has bounds of the strings of every few rows, for filters about order, beginnings and equality in columns that are
sorted or clustered.

Tokenizers: unicode-log cuts words as filters and search do, and keeps addresses such as 10.1.2.3 as words, too; unicode-word
only cuts words; trivial takes a whole value as a word. Words ignore case unless --case-preserving. For search --rank only,
with --scores: unicode-folded also ignores accents and widths, and cuts Chinese, Japanese and Korean into pairs of characters;
english and german do so, too, and keep the stems of words: "running" is found by "runs".
An index with --coarse N tells only groups of N rows apart, and is smaller; the rows are then checked.

With --layout reference the reference implementation can use it, too; it is larger and slower.`,
		Example: `  amudai index add logs.amudai.shard --columns line
  amudai index add logs.amudai.shard --columns host --tokenizer trivial
  amudai index add orders.amudai.shard --type hash --columns order_id,customer
  amudai index add orders.amudai.shard --key customer,day`,
		Args: app.Wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.addIndex(cmd.Context(), args[0], f) },
	}
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "columns to index, by path")
	cmd.Flags().StringSliceVar(&f.key, "key", nil, "columns whose values together find rows")
	usage.Choice(cmd, &f.kind, "type", indexTypes[0], "what finds rows: "+strings.Join(indexTypes, ", "), indexTypes, indexTypes...)
	usage.Choice(cmd, &f.tokenizer, "tokenizer", "", "words of the index: "+strings.Join(tokenizers, ", ")+" (default "+tokenizers[0]+", with --scores "+tokenizers[1]+")", tokenizers, tokenizers...)
	cmd.Flags().BoolVar(&f.casePreserving, "case-preserving", false, "tell upper and lower case apart")
	cmd.Flags().Int64Var(&f.coarseRows, "coarse", 0, "rows that the index does not tell apart (default: each row by itself)")
	cmd.Flags().BoolVar(&f.perStripe, "per-stripe", false, "an index of each stripe instead of one of the shard, which a copied stripe keeps")
	cmd.Flags().BoolVar(&f.phrases, "phrases", false, "also index pairs of words that follow each other: larger, and phrases are found without looking at the rows")
	cmd.Flags().BoolVar(&f.scores, "scores", false, "also index how often rows have words, for search --rank; words are cut by unicode-word by default")
	usage.Choice(cmd, &f.layout, "layout", layouts[0], "who can use it: "+strings.Join(layouts, ", "), layouts, layouts...)
	f.registerBuild(cmd)
	return cmd
}

// layouts are those of this implementation, and those that the reference can read.
var layouts = []string{"amudai-go", "reference"}

var indexTypes = []string{"words", "hash", "range"}

var tokenizers = []string{"unicode-log", "unicode-word", "trivial", "unicode-folded", "english", "german"}

// definition is the index that the flags describe.
func (f *indexFlags) definition() (d shard.IndexDefinition, err error) {
	if (len(f.columns) == 0) == (len(f.key) == 0) {
		return d, usage.Errorf("amudai schema lists the columns", "say which columns to index: --columns or --key")
	}
	if len(f.key) > 0 || f.kind != indexTypes[0] {
		return f.valueIndex()
	}
	if f.coarseRows < 0 {
		return d, usage.Errorf("", "--coarse %d: use a number of rows", f.coarseRows)
	}
	d = shard.IndexDefinition{Type: shard.TermIndex, Columns: f.columns, PerStripe: f.perStripe}
	if f.reference() {
		if d.Type = shard.InvertedIndex; f.phrases || f.scores || f.coarseRows > 1 {
			return d, usage.Errorf("", "--phrases, --scores and --coarse are not for indexes of the reference")
		}
	}
	for _, p := range []struct {
		given bool
		name  string
		value any
	}{
		{f.tokenizer != "", "tokenizers", slices.Repeat([]any{f.tokenizer}, len(f.columns))}, {f.casePreserving, "collation", "unicode-case-preserving"},
		{f.phrases, "phrases", true}, {f.scores, "scores", true}, {f.coarseRows > 1, "coarse", f.coarseRows},
	} {
		if p.given {
			d.Properties = append(d.Properties, shard.Property{Name: p.name, Value: p.value})
		}
	}
	return d, nil
}

func (f *indexFlags) reference() bool { return f.layout == layouts[1] }

// valueIndex is an index of whole values.
func (f *indexFlags) valueIndex() (d shard.IndexDefinition, err error) {
	switch {
	case f.tokenizer != "" || f.casePreserving || f.coarseRows != 0 || f.phrases || f.scores:
		return d, usage.Errorf("", "--tokenizer, --case-preserving, --phrases, --scores and --coarse are for indexes of words")
	case f.kind != "range":
		d = shard.IndexDefinition{Type: shard.HashIndex, Columns: slices.Concat(f.columns, f.key), Together: len(f.key) > 1, PerStripe: f.perStripe}
		if f.reference() {
			d.Type = shard.HashmapIndex
		}
		return d, nil
	case f.reference():
		return d, usage.Errorf("", "the reference has no indexes of the type range")
	case len(f.key) > 0:
		return d, usage.Errorf("", "--key is for indexes of the type hash")
	}
	return shard.IndexDefinition{Type: shard.RangeIndex, Columns: f.columns, PerStripe: f.perStripe}, nil
}

// edit changes indexes by the flags of registerBuild, and returns their progress, which has ended.
func (a group) edit(f *indexFlags, change func(shard.EditOptions) error) (*terminal.Progress, error) {
	if f.parallel < 0 {
		return nil, usage.Errorf("", "--parallel needs a number above 0")
	}
	bars := a.Bars()
	if f.atOnce {
		bars = nil
	}
	p, last := terminal.Start(bars, "rows"), int64(0)
	err := change(shard.EditOptions{MemoryBytes: f.memory, Parallelism: f.parallel, Open: shard.OpenOptions{Policy: a.Policy}, Progress: func(done, total int64) {
		if done < last {
			last = 0 // the next index
		}
		p.Add(done-last, total, true)
		last = done
	}})
	return p, errors.Join(err, p.End())
}

func (a group) addIndex(ctx context.Context, location string, f indexFlags) error {
	d, err := f.definition()
	if err != nil {
		return err
	}
	list, err := a.indexesOf(ctx, location, false)
	if err != nil {
		return err
	}
	for _, x := range list {
		if (x.Stripe >= 0) == d.PerStripe && x.Type == d.Type && x.Together == d.Together && slices.Equal(x.Columns, d.Columns) {
			return usage.WithHint(fmt.Errorf("%s has an index of %s already", location, strings.Join(d.Columns, ", ")),
				"amudai index rebuild makes it anew, amudai index drop removes it")
		}
	}
	if err := files.CheckShard(location); err != nil {
		return err
	}
	p, err := a.edit(&f, func(o shard.EditOptions) error { return shard.AddIndex(ctx, location, o, d) })
	if err != nil {
		return err
	}
	return a.indexSummary(ctx, location, p.Rate())
}

// indexesOf lists the indexes of a shard.
func (a group) indexesOf(ctx context.Context, location string, check bool) (list []shard.Index, err error) {
	s, err := a.Opener.Shard(ctx, location, shard.OpenOptions{})
	if err != nil {
		return nil, err
	}
	if check {
		list, err = s.CheckIndexes(ctx)
	} else {
		list, err = s.Indexes(ctx)
	}
	return list, errors.Join(err, s.Close())
}

// indexSummary prints the result for people.
func (a group) indexSummary(ctx context.Context, location, did string) error {
	if !a.Summarizes() {
		return nil
	}
	list, err := a.indexesOf(ctx, location, false)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, x := range list {
		size += x.Size
	}
	return a.Errs.Printf("%s; %s: %s, %s\n", did, storage.Redact(location), terminal.Plural(len(list), "index"), terminal.Size(size))
}

func (a group) indexList() *cobra.Command {
	json := false
	cmd := &cobra.Command{
		Use:   "list SHARD",
		Short: "List the indexes of a shard",
		Long: `list prints the columns, type, size, share of the files of the shard, terms or values, postings, state and properties of each index. A
posting is one row, or group of rows of a coarse index, in the list of one term. An index is ready, of a type that this version does not know
(it is kept), damaged or unusable: scans go on without it, and index rebuild makes it anew. list reads all of each index; only verify
compares indexes with the rows.`,
		Args: app.Wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.indexesOf(cmd.Context(), args[0], true)
			if err != nil {
				return err
			}
			return Tell(cmd.Context(), a.Opener, args[0], provider.InspectOptions{}, func(out *provider.Outline) error {
				total, _ := out.Fact("bytes").(int64)
				return printIndexes(a.Out, total, list, json)
			})
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print JSON")
	return cmd
}

func (a group) indexRebuild() *cobra.Command {
	var f indexFlags
	cmd := &cobra.Command{
		Use:   "rebuild SHARD",
		Short: "Build indexes anew, for example damaged ones",
		Long: `rebuild builds the indexes of the shard and its stripes anew, with the same columns and properties. With --columns, only those of which
all columns are named.`,
		Args: app.Wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeIndexes(cmd.Context(), args[0], f, shard.RebuildIndex, "rebuilt")
		},
	}
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "only the indexes of these columns (default: all)")
	f.registerBuild(cmd)
	return cmd
}

func (a group) indexDrop() *cobra.Command {
	f := indexFlags{atOnce: true}
	cmd := &cobra.Command{
		Use:   "drop SHARD (--columns COLUMN,... | --all)",
		Short: "Detach indexes from a shard",
		Long: `drop detaches the indexes of which all columns are named by --columns, or all indexes of the shard and its stripes. Their files (*.amudai.index)
stay in the folder, because readers may have them open, and shards of the same content use the same files. A note names
them.`,
		Args: app.Wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.all == (len(f.columns) > 0) {
				return usage.Errorf("amudai index list shows the indexes", "say which indexes to drop: --columns or --all")
			}
			return a.changeIndexes(cmd.Context(), args[0], f, shard.DropIndex, "dropped")
		},
	}
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "the indexes of these columns")
	cmd.Flags().BoolVar(&f.all, "all", false, "all indexes")
	return cmd
}

// changeIndexes drops or rebuilds the indexes that the flags choose.
func (a group) changeIndexes(ctx context.Context, location string, f indexFlags,
	change func(context.Context, string, shard.EditOptions, func(shard.Index) bool) (int, error), did string,
) error {
	chosen := func(x shard.Index) bool {
		other := func(column string) bool { return !slices.Contains(f.columns, column) }
		return len(f.columns) == 0 || len(x.Columns) > 0 && !slices.ContainsFunc(x.Columns, other)
	}
	if err := files.CheckShard(location); err != nil {
		return err
	}
	list, err := a.indexesOf(ctx, location, false)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, chosen) {
		err := fmt.Errorf("%s has no index", location)
		if len(f.columns) > 0 {
			err = fmt.Errorf("%s has no index of %s alone", location, strings.Join(f.columns, ", "))
		}
		return usage.WithHint(err, "amudai index list shows the indexes")
	}
	n := 0
	if _, err := a.edit(&f, func(o shard.EditOptions) (err error) {
		n, err = change(ctx, location, o, chosen)
		return err
	}); err != nil {
		return err
	}
	if err := a.noteUnused(ctx, location, list); err != nil {
		return err
	}
	return a.indexSummary(ctx, location, terminal.Count(n)+" "+did)
}

// noteUnused names the files of earlier indexes that the shard does not use any more.
func (a group) noteUnused(ctx context.Context, location string, before []shard.Index) error {
	list, err := a.indexesOf(ctx, location, false)
	if err != nil {
		return err
	}
	var used, unused []string
	for _, x := range list {
		used = append(used, x.Files...)
	}
	for _, x := range before {
		for _, url := range x.Files {
			if name := path.Base(url); !slices.Contains(used, url) && !slices.Contains(unused, name) {
				unused = append(unused, name)
			}
		}
	}
	if len(unused) > 0 {
		a.Noticef("%s does not use %s any more; delete what no other shard uses", location, strings.Join(unused, ", "))
	}
	return nil
}
