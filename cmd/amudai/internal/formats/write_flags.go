package formats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
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
	Shard shard.WriterOptions

	parquet parquet.Options
	ntuple  rntuple.WriterOptions
	spans   blockpack.WriterOptions
	order   string
	index   []string
	packed  []string
	flags   *pflag.FlagSet
}

// Register adds the flags.
func (w *WriteFlags) Register(cmd *cobra.Command) {
	w.flags = cmd.Flags()
	f := cmd.Flags()
	f.StringVar(&w.To, "to", "", "format of the output (default: by its name)")
	w.RegisterCoding(cmd)
	usage.Parsed(cmd, &w.Shard.Layout, "layout", "single", "shard: single (one file) or two-level (one file per stripe beside the root)", Layout)
	f.Int64Var(&w.Shard.StripeRows, "stripe-rows", shard.DefaultStripeRows, "shard: rows of a stripe")
	RegisterSize(cmd, &w.Shard.StripeBytes, "stripe-bytes", "512MiB", "shard: maximum raw bytes of a stripe")
	f.IntVar(&w.Shard.BlockValues, "block-values", encoding.MostBlockValues, "shard: most values of a block, from 8192: fewer for reading single rows, above all over a network")
	f.BoolVar(&w.Shard.NullsApart, "nulls-apart", false, "shard: nulls of numbers in buffers of their own, so that filters of nulls read no values")
	f.BoolVar(&w.Shard.OffsetsApart, "offsets-apart", false, "shard: offsets of byte strings in buffers of their own, so that lengths read no values")
	usage.Parsed(cmd, &w.Shard.Alternative, "alternative", "", "shard: encode everything a second time, in another edition or profile, such as reference or 2026:minimal-size, for readers that support only that", alternativeOf)
	f.StringArrayVar(&w.packed, "pack-columns", nil, "shard: store the blocks of these columns (\"a,b,c\", or \"*\" for all others of flat types; a struct alone means its fields) side by side, for reading single rows of wide tables; may be repeated")
	usage.Choice(cmd, &w.Nanos, "nanos", "auto", "shard: nanosecond times as ticks (100 ns) or int64; auto chooses by the values of the file", nanos, nanos...)
	usage.Parsed(cmd, &w.Shard.CreationTime, "created", "", "shard: creation time, as 2006-01-02T15:04:05Z (default: now); with it, equal input gives equal bytes", func(s string) (time.Time, error) {
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			err = usage.Errorf("", "--created %q is not a time such as 2006-01-02T15:04:05Z", s)
		}
		return t, err
	})
	f.StringSliceVar(&w.index, "index", nil, "shard: index the words of these columns, by path, for search and filters")
	RegisterSize(cmd, &w.Shard.MemoryBytes, "memory", "64MiB", "shard: encoded data held in memory; the rest goes to temporary files")
	f.IntVar(&w.Shard.Parallelism, "parallel", 0, "shard: columns encoded at a time (default: one per CPU)")
	f.IntVar(&w.parquet.Level, "level", 0, "Parquet: level of zstd (default 3)")
	f.Int64Var(&w.parquet.RowGroupRows, "row-group-rows", 0, "Parquet: rows of a row group (default 1048576)")
	f.BoolVar(&w.ntuple.NoNulls, "no-nulls", false, "RNTuple: plain fields instead of std::optional for columns that may have nulls; a null is an error")
	f.StringVar(&w.ntuple.Name, "ntuple", "", "RNTuple: name in the file, or path in its directories, such as dir/Events (default: that of the input, or ntuple)")
	f.IntVar(&w.ntuple.Compression, "compression", rntuple.DefaultCompression, "RNTuple: ROOT's number, such as 505 for Zstandard of level 5, 0 for none")
	RegisterSize(cmd, &w.ntuple.ClusterBytes, "cluster-bytes", "16MiB", "RNTuple: about the compressed size of a cluster")
	f.IntVar(&w.spans.BlockSpans, "block-spans", blockpack.DefaultBlockSpans, "Blockpack: spans of a block: small ones suit the lookup of traces, large ones take less space")
	usage.Choice(cmd, &w.order, "span-order", orders[0], "Blockpack: spans of a block by service and attributes (similar), by trace, by start, or as they come (arrival)", orders, orders...)
	usage.Complete(cmd, "to", All().Names()...)
	usage.Complete(cmd, "layout", "single", "two-level")
}

var (
	nanos  = []string{"auto", "ticks", "int64"}
	orders = []string{"similar", "trace", "start", "arrival"} // as [blockpack.Order]
)

// RegisterCoding adds the flags about encoding.
func (w *WriteFlags) RegisterCoding(cmd *cobra.Command) {
	RegisterProfile(cmd, &w.Shard.Profile)
	usage.Parsed(cmd, &w.Shard.Edition, "edition", edition.E2026.String(), "shard: 2026, or reference for exchange with the Rust implementation", edition.Parse)
	usage.Complete(cmd, "edition", edition.E2026.String(), edition.Reference.String())
}

// ShardOptions are those of the flags for shards.
func (w *WriteFlags) ShardOptions() (shard.WriterOptions, error) {
	o := w.Shard
	if o.StripeRows <= 0 {
		return o, usage.Errorf("", "--stripe-rows %d: use a number above 0", o.StripeRows)
	}
	if n := o.BlockValues; n < encoding.LeastBlockValues || n > encoding.MostBlockValues || n&(n-1) != 0 {
		return o, usage.Errorf("", "--block-values %d: use 8192, 16384, 32768 or 65536", n)
	}
	if o.BlockValues == encoding.MostBlockValues {
		o.BlockValues = 0
	}
	if len(w.index) > 0 {
		o.Indexes = []shard.IndexDefinition{{Columns: w.index}}
	}
	for _, names := range w.packed {
		o.Packed = append(o.Packed, strings.Split(names, ","))
	}
	return o, nil
}

// WithOptions adds the options of the flags to a format other than shards.
func (w *WriteFlags) WithOptions(f provider.Format) provider.Format {
	n, s := w.ntuple, w.spans
	if n.Compression == 0 {
		n.Compression = rntuple.NoCompression
	}
	s.Order = blockpack.Order(max(slices.Index(orders, w.order), 0))
	return provider.Formats{f}.With(parquet.New(w.parquet), rntuple.New(rntuple.FormatOptions{Write: n}), blockpack.New(blockpack.FormatOptions{Write: s}))[0]
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

// alternativeOf parses an edition and perhaps a profile, after a colon.
func alternativeOf(s string) (*shard.Alternative, error) {
	name, profile, _ := strings.Cut(s, ":")
	e, err := edition.Parse(name)
	p, wrong := profileOf(cmp.Or(profile, encoding.Balanced.String()))
	if err != nil || wrong != nil {
		return nil, usage.Errorf("", "--alternative %q: use 2026 or reference, and perhaps a profile, as in 2026:minimal-size", s)
	}
	return &shard.Alternative{Edition: e, Profile: p}, nil
}

// RegisterProfile adds the flag of a profile of encodings.
func RegisterProfile(cmd *cobra.Command, p *encoding.Profile) {
	usage.Parsed(cmd, p, "profile", "balanced", "shard: plain, minimal-compression, balanced, high-compression or minimal-size", profileOf)
	usage.Complete(cmd, "profile", "plain", "minimal-compression", "balanced", "high-compression", "minimal-size")
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

// Create makes a sink of a format other than shards. "-" is stdout. Only force replaces an existing output.
func Create(ctx context.Context, stdout io.Writer, location string, f provider.Format, schema *arrow.Schema, force bool, o provider.WriteOptions) (provider.Sink, error) {
	out, err := files.Create(ctx, location, force, stdout)
	if err != nil {
		return nil, err
	}
	sink, err := f.Create(ctx, out, schema, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write %s: %w", f.Title, err), out.Abort(context.WithoutCancel(ctx)))
	}
	return sink, nil
}
