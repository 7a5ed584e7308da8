package command

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/csv"
)

// readFlags are the flags about reading inputs.
type readFlags struct {
	from, schema, delimiter, sampleBytes string
	columns, nulls                       []string
	sampleRows                           int
	noHeader, defaultTypes               bool
	table                                string
	noProjected                          bool
	decimals, ticks, dynamics            string
	flags                                *pflag.FlagSet
}

// flagFormats are the formats of flags that are not for all formats. convert also checks the flags of its output.
var flagFormats = map[string][]string{
	"sample":        {"csv", "tsv", "jsonl", "json"},
	"sample-bytes":  {"csv", "tsv", "jsonl", "json", "lines"},
	"delimiter":     {"csv", "tsv"},
	"no-header":     {"csv", "tsv"},
	"null":          {"csv", "tsv"},
	"decimals":      {shardName},
	"ticks":         {shardName},
	"dynamics":      {shardName},
	"default-types": {shardName},
	"strings":       {shardName},
	"table":         {ntupleName},
	"no-projected":  {ntupleName},

	"profile":        {shardName},
	"edition":        {shardName},
	"layout":         {shardName},
	"stripe-rows":    {shardName},
	"stripe-bytes":   {shardName},
	"nanos":          {shardName},
	"created":        {shardName},
	"memory":         {shardName},
	"parallel":       {shardName},
	"level":          {parquetName},
	"row-group-rows": {parquetName},
	"no-nulls":       {ntupleName},
}

// checkFlags returns an error for flags that do not apply to any of some formats. Flags of inputs are those that
// readFlags registers.
func checkFlags(flags *pflag.FlagSet, ofInputs bool, what string, formats ...table.Format) (err error) {
	if flags == nil { // not those of a command
		return nil
	}
	flags.Visit(func(f *pflag.Flag) {
		takers := flagFormats[f.Name]
		if err != nil || takers == nil || isInputFlag(f.Name) != ofInputs {
			return
		}
		for _, format := range formats {
			if slices.Contains(takers, format.Name) {
				return
			}
		}
		titles := make([]string, len(takers))
		for i, name := range takers {
			titles[i] = formatTitle(name)
		}
		err = usagef("leave it out", "--%s is only for %s; the format of %s is %s", f.Name, strings.Join(titles, ", "), what, formats[0].Title)
	})
	return err
}

func formatTitle(name string) string {
	f, _ := formats.ByName(name)
	return f.Title
}

// isInputFlag reports whether a flag is about inputs.
func isInputFlag(name string) bool {
	switch name {
	case "sample", "sample-bytes", "delimiter", "no-header", "null", "decimals", "ticks", "dynamics", "default-types", "strings",
		"table", "no-projected":
		return true
	}
	return false
}

func (r *readFlags) register(cmd *cobra.Command, withColumns bool) {
	r.flags = cmd.Flags()
	f := cmd.Flags()
	f.StringVar(&r.from, "from", "", "format of the input (default: by its name, else by its first bytes)")
	f.StringVar(&r.schema, "schema", "", `types of columns, "name:type,…" or @FILE; other columns have the input's type, inferred for CSV and JSON`)
	f.IntVar(&r.sampleRows, "sample", 0, "rows to infer types from (default 10000)")
	f.StringVar(&r.sampleBytes, "sample-bytes", "", "maximum bytes of this sample (default 8MiB)")
	f.StringVar(&r.delimiter, "delimiter", "", `CSV: the character between fields, "tab" for tabs`)
	f.BoolVar(&r.noHeader, "no-header", false, "CSV: the first record is data")
	f.StringArrayVar(&r.nulls, "null", nil, "CSV: a text that means null, in addition to an empty field (can be repeated)")
	f.StringVar(&r.table, "table", "", "RNTuple: its path in the file, as in FILE.root:PATH, for stdin and compressed files, too")
	f.BoolVar(&r.noProjected, "no-projected", false, "RNTuple: leave out projected fields, which show values of other fields again")
	complete(cmd, "from", formats.Names()...)
	r.registerShard(cmd, withColumns)
}

// registerShard adds the flags that are only for shards.
func (r *readFlags) registerShard(cmd *cobra.Command, withColumns bool) {
	r.flags = cmd.Flags()
	f := cmd.Flags()
	f.StringVar(&r.decimals, "decimals", "", "shard of another writer: decimals as text, raw, decimal128(p,s) or decimal256(p,s) (default decimal128(38,16))")
	f.StringVar(&r.ticks, "ticks", "auto", "shard of another writer: times as ns, us or raw ticks; auto chooses by their range")
	f.StringVar(&r.dynamics, "dynamics", "json", "shard of another writer: dynamic values as json, text or raw bytes")
	f.BoolVar(&r.defaultTypes, "default-types", false, "shard: ignore the Arrow types recorded in it")
	complete(cmd, "ticks", "auto", "ns", "us", "raw")
	complete(cmd, "dynamics", "json", "text", "raw")
	complete(cmd, "decimals", "text", "raw", "decimal128(38,16)", "decimal256(76,34)")
	if withColumns {
		f.StringSliceVar(&r.columns, "columns", nil, "only these columns, by path, in this order")
	}
}

// complete registers the values of a flag for shell completion.
func complete(cmd *cobra.Command, flag string, values ...string) {
	// It fails only for an unknown flag, or if it is called twice for a flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// types parses the flags about the Arrow types of shards.
func (r *readFlags) types() (o arrowmap.ReadOptions, err error) {
	o.IgnoreAnnotations = r.defaultTypes
	if o.DateTimes, err = pick("--ticks", r.ticks, []string{"auto", "ns", "us", "raw"},
		arrowmap.TicksAuto, arrowmap.TicksAsNanos, arrowmap.TicksAsMicro, arrowmap.TicksRaw); err != nil {
		return o, err
	}
	o.TimeSpans = o.DateTimes
	if o.Dynamics, err = pick("--dynamics", r.dynamics, []string{"json", "text", "raw"},
		arrowmap.DynamicsAsJSON, arrowmap.DynamicsAsText, arrowmap.DynamicsRaw); err != nil {
		return o, err
	}
	switch r.decimals {
	case "":
	case "text":
		o.Decimals = arrowmap.DecimalsAsText
	case "raw":
		o.Decimals = arrowmap.DecimalsRaw
	default:
		t, err := text.ParseType(r.decimals)
		d, ok := t.(arrow.DecimalType)
		if err != nil || !ok || d.BitWidth() < 128 {
			return o, usagef("", "--decimals %q: use text, raw, decimal128(p,s) or decimal256(p,s)", r.decimals)
		}
		if d.BitWidth() == 256 {
			o.Decimals = arrowmap.DecimalsAs256
		}
		o.DecimalPrecision, o.DecimalScale = d.GetPrecision(), d.GetScale()
	}
	return o, nil
}

// pick returns the value of a name.
func pick[T any](flag, name string, names []string, values ...T) (T, error) {
	i := slices.Index(names, name)
	if i < 0 {
		var none T
		return none, usagef("", "%s %q: use %s", flag, name, strings.Join(names, ", "))
	}
	return values[i], nil
}

// options parses the flags.
func (r *readFlags) options(a *app) (table.ReadOptions, error) {
	o := table.ReadOptions{Columns: r.columns, Notice: a.notice, Warning: a.notice}
	sample := table.TextOptions{SampleRows: r.sampleRows}
	var err error
	if a.types, err = r.types(); err != nil {
		return o, err
	}
	delimiter, err := delimiterOf(r.delimiter)
	if err != nil {
		return o, err
	}
	if r.sampleRows < 0 {
		return o, usagef("", "--sample %d is negative", r.sampleRows)
	}
	if r.sampleBytes != "" {
		if sample.SampleBytes, err = terminal.ParseSize(r.sampleBytes); err != nil {
			return o, usagef("", "--sample-bytes: %w", err)
		}
	}
	a.inputFlags = r.flags
	a.formats = formatsFor(csv.Options{Text: sample, Delimiter: delimiter, NoHeader: r.noHeader, Nulls: r.nulls}, sample, rntuple.Options{NoProjected: r.noProjected})
	a.table = r.table
	fields := r.schema
	if name, ok := strings.CutPrefix(fields, "@"); ok {
		b, err := os.ReadFile(name)
		if err != nil {
			return o, files.Missing(name, err)
		}
		fields = string(b)
	}
	if o.Schema, err = text.ParseSchema(fields); err != nil {
		return o, usagef("amudai infer-schema prints one to start from", "--%w", err)
	}
	return o, nil
}

func delimiterOf(s string) (byte, error) {
	switch {
	case s == "":
		return 0, nil
	case s == "tab" || s == `\t`:
		return '\t', nil
	case len(s) == 1:
		return s[0], nil
	}
	return 0, usagef("--delimiter ';' or --delimiter tab", "--delimiter %q is not one ASCII character", s)
}

// writeFlags are the flags about writing the output.
type writeFlags struct {
	to, profile, edition, layout, stripeBytes, nanos, memory, created string
	stripeRows, rowGroupRows                                          int64
	level, parallel                                                   int
	force, quiet, noNulls                                             bool
}

func (w *writeFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.to, "to", "", "format of the output (default: by its name)")
	f.BoolVarP(&w.force, "force", "f", false, "replace an existing output")
	f.BoolVarP(&w.quiet, "quiet", "q", false, "no progress, no summary, and no notes except warnings that data may be misread")
	w.registerCoding(cmd)
	f.StringVar(&w.layout, "layout", "single", "shard: single (one file) or two-level (one file per stripe beside the root)")
	f.Int64Var(&w.stripeRows, "stripe-rows", shard.DefaultStripeRows, "shard: rows of a stripe")
	f.StringVar(&w.stripeBytes, "stripe-bytes", "512MiB", "shard: maximum raw bytes of a stripe")
	f.StringVar(&w.nanos, "nanos", "auto", "shard: nanosecond times as ticks (100 ns) or int64; auto chooses by the values of the file")
	f.StringVar(&w.created, "created", "", "shard: creation time, as 2006-01-02T15:04:05Z (default: now); with it, equal input gives equal bytes")
	f.StringVar(&w.memory, "memory", "64MiB", "shard: encoded data held in memory; the rest goes to temporary files")
	f.IntVar(&w.parallel, "parallel", 0, "shard: columns encoded at a time (default: one per CPU)")
	f.IntVar(&w.level, "level", 0, "Parquet: level of zstd (default 3)")
	f.Int64Var(&w.rowGroupRows, "row-group-rows", 0, "Parquet: rows of a row group (default 1048576)")
	f.BoolVar(&w.noNulls, "no-nulls", false, "RNTuple: plain fields instead of std::optional for columns that may have nulls; a null is an error")
	complete(cmd, "to", formats.Names()...)
	complete(cmd, "layout", "single", "two-level")
	complete(cmd, "nanos", "auto", "ticks", "int64")
}

// registerCoding adds the flags about encoding.
func (w *writeFlags) registerCoding(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.profile, "profile", "balanced", "shard: plain, minimal-compression, balanced, high-compression or minimal-size")
	f.StringVar(&w.edition, "edition", edition.E2026.String(), "shard: 2026, or reference for exchange with the Rust implementation")
	complete(cmd, "profile", "plain", "minimal-compression", "balanced", "high-compression", "minimal-size")
	complete(cmd, "edition", edition.E2026.String(), edition.Reference.String())
}

// coding parses the flags of registerCoding.
func (w *writeFlags) coding() (o shard.WriterOptions, err error) {
	o.Program = "amudai " + Version
	if o.Profile, err = profileOf(w.profile); err != nil {
		return o, err
	}
	if o.Edition, err = edition.Parse(w.edition); err != nil {
		return o, usagef("", "--edition: %w", err)
	}
	return o, nil
}

// shardOptions parses the flags for shards.
func (w *writeFlags) shardOptions() (o shard.WriterOptions, err error) {
	if o, err = w.coding(); err != nil {
		return o, err
	}
	o.Overwrite, o.Parallelism, o.StripeRows = w.force, w.parallel, w.stripeRows
	if o.Layout, err = layoutOf(w.layout); err != nil {
		return o, err
	}
	if w.stripeRows <= 0 {
		return o, usagef("", "--stripe-rows %d: use a number above 0", w.stripeRows)
	}
	if o.StripeBytes, err = terminal.ParseSize(w.stripeBytes); err != nil || o.StripeBytes == 0 {
		return o, usagef("", "--stripe-bytes: %q is not a size such as 512MiB", w.stripeBytes)
	}
	if o.MemoryBytes, err = terminal.ParseSize(w.memory); err != nil || o.MemoryBytes == 0 {
		return o, usagef("", "--memory: %q is not a size such as 64MiB", w.memory)
	}
	if w.created != "" {
		if o.CreationTime, err = time.Parse(time.RFC3339Nano, w.created); err != nil {
			return o, usagef("", "--created %q is not a time such as 2006-01-02T15:04:05Z", w.created)
		}
	}
	if w.nanos != "auto" && w.nanos != "ticks" && w.nanos != "int64" {
		return o, usagef("", "--nanos %q: use auto, ticks or int64", w.nanos)
	}
	return o, nil
}

func layoutOf(name string) (shard.Layout, error) {
	switch name {
	case "single", "single-file":
		return shard.SingleFile, nil
	case "two-level":
		return shard.TwoLevel, nil
	}
	return 0, usagef("", "--layout %q: use single or two-level", name)
}

// profileOf parses the name of a profile, without regard to case and dashes.
func profileOf(name string) (encoding.Profile, error) {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	for p := encoding.Profile(0); p <= encoding.MinimalSize; p++ {
		if strings.ToLower(p.String()) == plain {
			return p, nil
		}
	}
	return 0, usagef("", "--profile %q: use plain, minimal-compression, balanced, high-compression or minimal-size", name)
}
