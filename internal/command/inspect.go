package command

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/shard"
)

// shardInfo is what inspect tells of a shard; its fields are those of --json.
type shardInfo struct {
	Location   string         `json:"location"`
	Bytes      int64          `json:"bytes"` // of all files
	Files      []fileInfo     `json:"files"`
	Rows       int64          `json:"rows"`
	Deleted    uint64         `json:"deleted_rows,omitempty"`
	RawBytes   uint64         `json:"raw_bytes,omitempty"`
	Columns    int            `json:"columns"`
	Nodes      uint32         `json:"schema_nodes"`
	Stripes    int            `json:"stripes"`
	Layout     string         `json:"layout"`
	Created    string         `json:"created,omitempty"`
	Properties map[string]any `json:"properties,omitempty"`
	Unknown    []string       `json:"unknown_features,omitempty"`
	Indexes    []string       `json:"indexes,omitempty"`

	StripeList []stripeInfo `json:"stripe_list,omitempty"` // from -v
}

type fileInfo struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

type stripeInfo struct {
	Index    int          `json:"index"`
	Position int64        `json:"position"`
	Rows     int64        `json:"rows"`
	RawBytes uint64       `json:"raw_bytes,omitempty"`
	Bytes    int64        `json:"bytes"`
	Columns  []columnInfo `json:"columns"`
}

// columnInfo is one schema node in one stripe.
type columnInfo struct {
	ID        uint32       `json:"id"`
	Path      string       `json:"path"`
	Type      string       `json:"type"`
	Missing   bool         `json:"missing,omitempty"` // the stripe lacks it: all null
	Positions uint64       `json:"positions"`
	Nulls     *uint64      `json:"nulls,omitempty"`
	Constant  any          `json:"constant,omitempty"`
	Distinct  *uint64      `json:"distinct,omitempty"`
	Bytes     int64        `json:"bytes"`
	Buffers   []bufferInfo `json:"buffers,omitempty"` // from -vv

	depth      int
	name       string
	isConstant bool
	node       schema.Node
	field      *shardpb.FieldDescriptor
}

type inspectFlags struct {
	verbose int
	hex     bool
	json    bool
	stripes []int
	columns []string
}

func (a *app) inspect() *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect SHARD",
		Short: "Show how a shard is built",
		Long: `inspect shows what a shard consists of: an overview; with -v its stripes and columns; with -vv
the buffers of each column with their encodings; with -vvv every block with its encoding tree.
--hex dumps the bytes with their meaning, --json prints everything for programs. --stripe and
--column limit it to parts.`,
		Example: `  amudai inspect -vv --column price lineitem.amudai.shard
  amudai inspect -vvv --json small.amudai.shard | jq .stripe_list[0]`,
		Args: wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runInspect(cmd.Context(), args[0], f) },
	}
	cmd.Flags().CountVarP(&f.verbose, "verbose", "v", "more: -v stripes and columns, -vv buffers, -vvv blocks")
	cmd.Flags().BoolVar(&f.hex, "hex", false, "dump the bytes with their meaning")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().IntSliceVar(&f.stripes, "stripe", nil, "only these stripes, from 0")
	cmd.Flags().StringSliceVar(&f.columns, "column", nil, "only these columns and what is inside them, by path")
	return cmd
}

func (a *app) runInspect(ctx context.Context, location string, f inspectFlags) error {
	s, err := openShard(ctx, location, a.types)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, i := range f.stripes {
		if i < 0 || i >= s.NumStripes() {
			return usagef("", "--stripe %d: the shard has %s", i, plural(s.NumStripes(), "stripe"))
		}
	}
	for _, c := range f.columns {
		if _, err := s.Schema().Path(c); err != nil {
			return withHint(err, "amudai schema --stored lists the columns")
		}
	}
	in := inspector{app: a, shard: s, flags: f}
	if f.hex {
		return in.hex(ctx)
	}
	info, err := in.collect(ctx)
	if err != nil {
		return err
	}
	if f.json {
		e := json.NewEncoder(a.Stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(info)
	}
	return in.text(info)
}

// inspector collects what inspect shows.
type inspector struct {
	*app
	shard *shard.Shard
	flags inspectFlags
}

func (in *inspector) collect(ctx context.Context) (*shardInfo, error) {
	s := in.shard
	d := s.File().Directory()
	info := &shardInfo{
		Location: s.Location(), Rows: s.NumRows(), Deleted: d.GetDeletedRecordCount(), RawBytes: d.GetRawDataSize(),
		Columns: s.Schema().NumFields(), Nodes: s.Schema().IDCount(), Stripes: s.NumStripes(), Layout: "single file",
	}
	if err := in.files(ctx, info); err != nil {
		return nil, err
	}
	if err := in.properties(ctx, info); err != nil {
		return nil, err
	}
	if in.flags.verbose == 0 {
		return info, nil
	}
	for i := range s.NumStripes() {
		if len(in.flags.stripes) > 0 && !slices.Contains(in.flags.stripes, i) {
			continue
		}
		st, err := in.stripe(ctx, s.Stripe(i))
		if err != nil {
			return nil, err
		}
		info.StripeList = append(info.StripeList, st)
	}
	return info, nil
}

// files lists the artifacts of the shard with their sizes.
func (in *inspector) files(ctx context.Context, info *shardInfo) error {
	f := in.shard.File()
	info.Files = []fileInfo{{Name: f.Root().Name(), Bytes: f.Size()}}
	info.Bytes = f.Size()
	urls, err := f.URLs(ctx)
	if err != nil {
		return err
	}
	if len(urls) > 0 {
		info.Layout = "two-level"
	}
	for _, u := range urls {
		n, err := in.artifactSize(ctx, u)
		if err != nil {
			return err
		}
		info.Files = append(info.Files, fileInfo{Name: u, Bytes: n})
		info.Bytes += n
	}
	return nil
}

// artifactSize opens another artifact of the shard by its reference.
func (in *inspector) artifactSize(ctx context.Context, url string) (int64, error) {
	if in.shard.NumStripes() == 0 {
		return 0, nil
	}
	r, err := in.shard.Stripe(0).Artifact(ctx, 0, &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{}})
	if err != nil {
		return 0, err
	}
	return r.Size(ctx)
}

func (in *inspector) properties(ctx context.Context, info *shardInfo) error {
	p, err := in.shard.Properties(ctx)
	if err != nil {
		return err
	}
	if !p.CreatedMin.IsZero() {
		info.Created = p.CreatedMin.UTC().Format(time.RFC3339Nano)
		if !p.CreatedMax.Equal(p.CreatedMin) {
			info.Created += " to " + p.CreatedMax.UTC().Format(time.RFC3339Nano)
		}
	}
	all := append(slices.Clone(p.Standard), p.Custom...)
	if len(all) > 0 {
		info.Properties = map[string]any{}
		for _, x := range all {
			info.Properties[x.Name] = plainValue(x.Value)
		}
	}
	if info.Unknown, err = in.shard.UnknownFeatures(ctx); err != nil {
		return err
	}
	indexes, err := in.shard.File().Indexes(ctx)
	if err != nil {
		return err
	}
	for _, d := range indexes.GetIndexDescriptors() {
		info.Indexes = append(info.Indexes, d.GetIndexType())
	}
	return nil
}

// stripe collects the columns of one stripe.
func (in *inspector) stripe(ctx context.Context, st *shardfile.Stripe) (stripeInfo, error) {
	info := stripeInfo{Index: st.Index(), Position: st.Position(), Rows: st.Rows(), RawBytes: st.Directory().GetRawDataSize()}
	err := walkSchema(in.shard.Schema(), func(n schema.Node, path string, depth int) error {
		if !in.wanted(path) {
			return nil
		}
		c, err := in.column(ctx, st, n, path)
		if err != nil {
			return err
		}
		c.depth, c.name = depth, displayName(n)
		info.Bytes += c.Bytes
		info.Columns = append(info.Columns, c)
		return nil
	})
	return info, err
}

// wanted tells whether a path is one that was asked for, or inside one.
func (in *inspector) wanted(path string) bool {
	for _, c := range in.flags.columns {
		if path == c || strings.HasPrefix(path, c+".") {
			return true
		}
	}
	return len(in.flags.columns) == 0
}

func (in *inspector) column(ctx context.Context, st *shardfile.Stripe, n schema.Node, path string) (columnInfo, error) {
	c := columnInfo{ID: n.ID(), Path: path, Type: storedType(n), node: n}
	label, err := n.Label()
	if err != nil {
		return c, err
	}
	if label != "" && label != "Arrow" {
		c.Type += " (" + label + ")"
	}
	d, err := st.Descriptor(ctx, n.ID())
	if err != nil {
		return c, err
	}
	if d == nil {
		c.Missing, c.Positions = true, uint64(st.Rows())
		return c, nil
	}
	f := d.GetField()
	c.field = f
	c.Positions, c.Nulls = f.GetPositionCount(), f.NullCount
	if f.GetConstantValue() != nil {
		c.isConstant, c.Constant = true, storedValue(f.GetConstantValue(), n)
	}
	if card := f.GetCardinality(); card != nil {
		c.Distinct = card.Count
	}
	for _, e := range d.GetEncodings() {
		for _, b := range e.GetNative().GetBuffers() {
			info, err := in.buffer(ctx, st, n, e.GetNative(), b)
			if err != nil {
				return c, err
			}
			c.Bytes += info.Bytes
			if in.flags.verbose > 1 {
				c.Buffers = append(c.Buffers, info)
			}
		}
	}
	return c, nil
}
