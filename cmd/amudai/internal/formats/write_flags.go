package formats

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// WriteFlags are the flags about writing the output.
type WriteFlags struct {
	To    string // the name of a format, or ""
	Nanos string // auto, ticks or int64

	profile, edition, layout, stripeBytes, memory, created string
	stripeRows, rowGroupRows                               int64
	level, parallel, blockValues                           int
	noNulls                                                bool
	index                                                  []string
	flags                                                  *pflag.FlagSet
}

// Register adds the flags.
func (w *WriteFlags) Register(cmd *cobra.Command) {
	w.flags = cmd.Flags()
	f := cmd.Flags()
	f.StringVar(&w.To, "to", "", "format of the output (default: by its name)")
	w.RegisterCoding(cmd)
	f.StringVar(&w.layout, "layout", "single", "shard: single (one file) or two-level (one file per stripe beside the root)")
	f.Int64Var(&w.stripeRows, "stripe-rows", shard.DefaultStripeRows, "shard: rows of a stripe")
	f.StringVar(&w.stripeBytes, "stripe-bytes", "512MiB", "shard: maximum raw bytes of a stripe")
	f.IntVar(&w.blockValues, "block-values", encoding.MostBlockValues, "shard: most values of a block, from 8192: fewer for reading single rows, above all over a network")
	f.StringVar(&w.Nanos, "nanos", "auto", "shard: nanosecond times as ticks (100 ns) or int64; auto chooses by the values of the file")
	f.StringVar(&w.created, "created", "", "shard: creation time, as 2006-01-02T15:04:05Z (default: now); with it, equal input gives equal bytes")
	f.StringSliceVar(&w.index, "index", nil, "shard: index the words of these columns, by path, for search and filters")
	f.StringVar(&w.memory, "memory", "64MiB", "shard: encoded data held in memory; the rest goes to temporary files")
	f.IntVar(&w.parallel, "parallel", 0, "shard: columns encoded at a time (default: one per CPU)")
	f.IntVar(&w.level, "level", 0, "Parquet: level of zstd (default 3)")
	f.Int64Var(&w.rowGroupRows, "row-group-rows", 0, "Parquet: rows of a row group (default 1048576)")
	f.BoolVar(&w.noNulls, "no-nulls", false, "RNTuple: plain fields instead of std::optional for columns that may have nulls; a null is an error")
	usage.Complete(cmd, "to", All().Names()...)
	usage.Complete(cmd, "layout", "single", "two-level")
	usage.Complete(cmd, "nanos", "auto", "ticks", "int64")
}

// RegisterCoding adds the flags about encoding.
func (w *WriteFlags) RegisterCoding(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.profile, "profile", "balanced", "shard: plain, minimal-compression, balanced, high-compression or minimal-size")
	f.StringVar(&w.edition, "edition", edition.E2026.String(), "shard: 2026, or reference for exchange with the Rust implementation")
	usage.Complete(cmd, "profile", "plain", "minimal-compression", "balanced", "high-compression", "minimal-size")
	usage.Complete(cmd, "edition", edition.E2026.String(), edition.Reference.String())
}

// Coding parses the flags of RegisterCoding.
func (w *WriteFlags) Coding() (o shard.WriterOptions, err error) {
	if o.Profile, err = profileOf(w.profile); err != nil {
		return o, err
	}
	if o.Edition, err = edition.Parse(w.edition); err != nil {
		return o, usage.Errorf("", "--edition: %w", err)
	}
	return o, nil
}

// ShardOptions parses the flags for shards.
func (w *WriteFlags) ShardOptions() (o shard.WriterOptions, err error) {
	if o, err = w.Coding(); err != nil {
		return o, err
	}
	o.Parallelism, o.StripeRows = w.parallel, w.stripeRows
	if o.Layout, err = Layout(w.layout); err != nil {
		return o, err
	}
	if w.stripeRows <= 0 {
		return o, usage.Errorf("", "--stripe-rows %d: use a number above 0", w.stripeRows)
	}
	if o.StripeBytes, err = Size("stripe-bytes", w.stripeBytes, "512MiB"); err != nil {
		return o, err
	}
	if n := w.blockValues; n < encoding.LeastBlockValues || n > encoding.MostBlockValues || n&(n-1) != 0 {
		return o, usage.Errorf("", "--block-values %d: use 8192, 16384, 32768 or 65536", n)
	}
	if w.blockValues != encoding.MostBlockValues {
		o.BlockValues = w.blockValues
	}
	if o.MemoryBytes, err = Size("memory", w.memory, "64MiB"); err != nil {
		return o, err
	}
	if len(w.index) > 0 {
		o.Indexes = []shard.IndexDefinition{{Columns: w.index}}
	}
	if w.created != "" {
		if o.CreationTime, err = time.Parse(time.RFC3339Nano, w.created); err != nil {
			return o, usage.Errorf("", "--created %q is not a time such as 2006-01-02T15:04:05Z", w.created)
		}
	}
	if w.Nanos != "auto" && w.Nanos != "ticks" && w.Nanos != "int64" {
		return o, usage.Errorf("", "--nanos %q: use auto, ticks or int64", w.Nanos)
	}
	return o, nil
}

// WithOptions adds the options of the flags to a format other than shards.
func (w *WriteFlags) WithOptions(f provider.Format) provider.Format {
	switch f.Name {
	case Parquet:
		return parquet.New(parquet.Options{Level: w.level, RowGroupRows: w.rowGroupRows})
	case NTuple:
		return rntuple.New(rntuple.FormatOptions{Write: rntuple.WriterOptions{NoNulls: w.noNulls}})
	}
	return f
}

// LimitsStripes reports whether a flag says how long stripes become.
func (w *WriteFlags) LimitsStripes() bool {
	return w.flags.Changed("stripe-rows") || w.flags.Changed("stripe-bytes")
}

// Layout finds a layout by its name.
func Layout(name string) (shard.Layout, error) {
	switch name {
	case "single", "single-file":
		return shard.SingleFile, nil
	case "two-level":
		return shard.TwoLevel, nil
	}
	return 0, usage.Errorf("", "--layout %q: use single or two-level", name)
}

// profileOf parses the name of a profile, without regard to case and dashes.
func profileOf(name string) (encoding.Profile, error) {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	for p := encoding.Profile(0); p <= encoding.MinimalSize; p++ {
		if strings.ToLower(p.String()) == plain {
			return p, nil
		}
	}
	return 0, usage.Errorf("", "--profile %q: use plain, minimal-compression, balanced, high-compression or minimal-size", name)
}
