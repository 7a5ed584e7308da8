package formats

import (
	"strconv"
	"time"

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

	schema, schemaOf string
	text             textFlags
	defaultTypes     bool
	table            string
	beside           []string
	noProjected      bool
	decimals         arrowmap.ReadOptions
	ticks            arrowmap.TickType
	dynamics         arrowmap.DynamicType
	at               At
	flags            *pflag.FlagSet
}

// At is a version of a shard: a number, or a time up to which it is the newest. The zero value is the present one.
type At struct {
	Version int64
	Time    time.Time
}

// ParseAt parses the number of a version, or a time: 2026-11-27, 2026-11-27T15:04 or 2026-11-27T15:04:05Z, in UTC without a zone.
func ParseAt(text string) (at At, err error) {
	if at.Version, err = strconv.ParseInt(text, 10, 64); err == nil && at.Version > 0 {
		return at, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", time.DateOnly} {
		if at.Time, err = time.Parse(layout, text); err == nil {
			return At{Time: at.Time}, nil
		}
	}
	return at, usage.Errorf("amudai log lists the versions of a shard", "--at %q: use the number of a version, or a time such as 2026-11-27T15:04:05Z", text)
}

// Register adds the flags.
func (r *ReadFlags) Register(cmd *cobra.Command, withColumns bool) {
	r.flags = cmd.Flags()
	f := cmd.Flags()
	f.StringVar(&r.From, "from", "", "format of the input (default: by its name, else by its first bytes)")
	f.StringVar(&r.schema, "schema", "", `types of columns, "name:type,…" or @FILE; other columns have the input's type, inferred for CSV and JSON`)
	f.StringVar(&r.schemaOf, "schema-of", "", "types of columns as in another table; --schema replaces some")
	r.text.register(cmd)
	f.StringArrayVar(&r.beside, "beside", nil, "columns of another table, `IN`, of as many rows stand beside these, row by row, as those of friends in ROOT; may be repeated")
	f.StringVar(&r.table, "table", "", "RNTuple and shard: its path or number in the file, as in FILE.root:PATH and FILE.shard:0, for stdin and compressed files, too")
	f.BoolVar(&r.noProjected, "no-projected", false, "RNTuple: leave out projected fields, which show values of other fields again")
	usage.Complete(cmd, "from", All().Names()...)
	r.RegisterShard(cmd, withColumns)
}

// RegisterShard adds the flags that are only for shards.
func (r *ReadFlags) RegisterShard(cmd *cobra.Command, withColumns bool) {
	r.flags = cmd.Flags()
	f := cmd.Flags()
	usage.Parsed(cmd, &r.decimals, "decimals", "", "shard of another writer: decimals as text, raw, decimal128(p,s) or decimal256(p,s) (default decimal128(38,16))", decimalsOf)
	usage.Choice(cmd, &r.ticks, "ticks", "auto", "shard of another writer: times as ns, us or raw ticks; auto chooses by their range",
		[]string{"auto", "ns", "us", "raw"}, arrowmap.TicksAuto, arrowmap.TicksAsNanos, arrowmap.TicksAsMicro, arrowmap.TicksRaw)
	usage.Choice(cmd, &r.dynamics, "dynamics", "json", "shard of another writer: dynamic values as json, text or raw bytes",
		[]string{"json", "text", "raw"}, arrowmap.DynamicsAsJSON, arrowmap.DynamicsAsText, arrowmap.DynamicsRaw)
	usage.Parsed(cmd, &r.at, "at", "", "shard: an earlier version that it keeps, by its number or a time (see amudai log)", ParseAt)
	f.BoolVar(&r.defaultTypes, "default-types", false, "shard: ignore the Arrow types recorded in it")
	usage.Complete(cmd, "decimals", "text", "raw", "decimal128(38,16)", "decimal256(76,34)")
	if withColumns {
		f.StringSliceVar(&r.Columns, "columns", nil, "only these columns, by path, in this order")
	}
}

// Newest ignores the flag --at.
func (r *ReadFlags) Newest() { r.at = At{} }

// types are the Arrow types of shards.
func (r *ReadFlags) types() arrowmap.ReadOptions {
	o := r.decimals
	o.DateTimes, o.TimeSpans, o.Dynamics, o.IgnoreAnnotations = r.ticks, r.ticks, r.dynamics, r.defaultTypes
	return o
}

// decimalsOf are the options for a way to read decimals.
func decimalsOf(name string) (o arrowmap.ReadOptions, err error) {
	switch name {
	case "text":
		o.Decimals = arrowmap.DecimalsAsText
	case "raw":
		o.Decimals = arrowmap.DecimalsRaw
	default:
		t, err := text.ParseType(name)
		d, ok := t.(arrow.DecimalType)
		if err != nil || !ok || d.BitWidth() < 128 {
			return o, usage.Errorf("", "--decimals %q: use text, raw, decimal128(p,s) or decimal256(p,s)", name)
		}
		if d.BitWidth() == 256 {
			o.Decimals = arrowmap.DecimalsAs256
		}
		o.DecimalPrecision, o.DecimalScale = d.GetPrecision(), d.GetScale()
	}
	return o, nil
}
