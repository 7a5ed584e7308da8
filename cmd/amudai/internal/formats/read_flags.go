package formats

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/text"
)

// ReadFlags are the flags about reading inputs, for [Opener.Use].
type ReadFlags struct {
	From    string        // the name of a format, or ""
	Columns []string      // nil: all
	Types   []arrow.Field // of columns that --schema does not name

	schema, schemaOf          string
	text                      textFlags
	defaultTypes              bool
	table                     string
	noProjected               bool
	decimals, ticks, dynamics string
	flags                     *pflag.FlagSet
}

// Register adds the flags.
func (r *ReadFlags) Register(cmd *cobra.Command, withColumns bool) {
	r.flags = cmd.Flags()
	f := cmd.Flags()
	f.StringVar(&r.From, "from", "", "format of the input (default: by its name, else by its first bytes)")
	f.StringVar(&r.schema, "schema", "", `types of columns, "name:type,…" or @FILE; other columns have the input's type, inferred for CSV and JSON`)
	f.StringVar(&r.schemaOf, "schema-of", "", "types of columns as in another table; --schema replaces some")
	r.text.register(cmd)
	f.StringVar(&r.table, "table", "", "RNTuple: its path in the file, as in FILE.root:PATH, for stdin and compressed files, too")
	f.BoolVar(&r.noProjected, "no-projected", false, "RNTuple: leave out projected fields, which show values of other fields again")
	usage.Complete(cmd, "from", All().Names()...)
	r.RegisterShard(cmd, withColumns)
}

// RegisterShard adds the flags that are only for shards.
func (r *ReadFlags) RegisterShard(cmd *cobra.Command, withColumns bool) {
	r.flags = cmd.Flags()
	f := cmd.Flags()
	f.StringVar(&r.decimals, "decimals", "", "shard of another writer: decimals as text, raw, decimal128(p,s) or decimal256(p,s) (default decimal128(38,16))")
	f.StringVar(&r.ticks, "ticks", "auto", "shard of another writer: times as ns, us or raw ticks; auto chooses by their range")
	f.StringVar(&r.dynamics, "dynamics", "json", "shard of another writer: dynamic values as json, text or raw bytes")
	f.BoolVar(&r.defaultTypes, "default-types", false, "shard: ignore the Arrow types recorded in it")
	usage.Complete(cmd, "ticks", "auto", "ns", "us", "raw")
	usage.Complete(cmd, "dynamics", "json", "text", "raw")
	usage.Complete(cmd, "decimals", "text", "raw", "decimal128(38,16)", "decimal256(76,34)")
	if withColumns {
		f.StringSliceVar(&r.Columns, "columns", nil, "only these columns, by path, in this order")
	}
}

// types parses the flags about the Arrow types of shards.
func (r *ReadFlags) types() (o arrowmap.ReadOptions, err error) {
	o.IgnoreAnnotations = r.defaultTypes
	if o.DateTimes, err = usage.OneOf("--ticks", r.ticks, []string{"auto", "ns", "us", "raw"},
		arrowmap.TicksAuto, arrowmap.TicksAsNanos, arrowmap.TicksAsMicro, arrowmap.TicksRaw); err != nil {
		return o, err
	}
	o.TimeSpans = o.DateTimes
	if o.Dynamics, err = usage.OneOf("--dynamics", r.dynamics, []string{"json", "text", "raw"},
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
			return o, usage.Errorf("", "--decimals %q: use text, raw, decimal128(p,s) or decimal256(p,s)", r.decimals)
		}
		if d.BitWidth() == 256 {
			o.Decimals = arrowmap.DecimalsAs256
		}
		o.DecimalPrecision, o.DecimalScale = d.GetPrecision(), d.GetScale()
	}
	return o, nil
}
