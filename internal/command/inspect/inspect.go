// Package inspect shows the structure of a shard, down to its bytes, and the statistics
// and sizes of its columns.
package inspect

import (
	"context"
	"slices"
	"strings"
	"time"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
)

// shardInfo describes a shard. Its fields are those of --json.
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

// columnInfo describes a schema node in a stripe.
type columnInfo struct {
	ID        uint32  `json:"id"`
	Path      string  `json:"path"`
	Type      string  `json:"type"`
	Missing   bool    `json:"missing,omitempty"` // the stripe lacks the column: all rows are null
	Positions uint64  `json:"positions"`
	Nulls     *uint64 `json:"nulls,omitempty"`
	Constant  any     `json:"constant,omitempty"`
	distinct
	Bytes   int64        `json:"bytes"`
	Buffers []bufferInfo `json:"buffers,omitempty"` // from -vv

	depth      int
	name       string
	isConstant bool
	node       schema.Node
	field      *shardpb.FieldDescriptor
	values     distinctSet // of this stripe
}

// Options select parts of a shard, and the level of detail.
type Options struct {
	Verbose int // 0: an overview, 1: stripes and columns, 2: buffers, 3: blocks
	Hex     bool
	JSON    bool
	Stripes []int    // by number; empty: all
	Columns []string // by path, with their children; empty: all
}

// Shard prints the structure of a shard.
func Shard(ctx context.Context, out terminal.Screen, f *shardfile.File, o Options) error {
	return inspect(ctx, out, f, o, func(in *inspector) error {
		if o.Hex {
			return in.hex(ctx)
		}
		info, err := in.collect(ctx)
		if err != nil {
			return err
		}
		if o.JSON {
			return terminal.JSON(out.Out, info)
		}
		return in.text(info)
	})
}

// inspector reads a shard and prints its description.
type inspector struct {
	out    terminal.Screen
	file   *shardfile.File
	flags  Options
	schema *schema.Schema
}

// inspect calls show with an inspector of a shard.
func inspect(ctx context.Context, out terminal.Screen, f *shardfile.File, o Options, show func(*inspector) error) (err error) {
	in := inspector{out: out, flags: o, file: f}
	if in.schema, err = f.Schema(ctx); err != nil {
		return err
	}
	if err := in.findColumns(); err != nil {
		return err
	}
	return show(&in)
}

// findColumns replaces the paths of columns by those of their nodes. Paths may omit the items of lists.
func (in *inspector) findColumns() error {
	ids := map[uint32]bool{}
	for _, c := range in.flags.Columns {
		n, err := in.schema.Path(c)
		if err != nil {
			return err
		}
		ids[n.ID()] = true
	}
	in.flags.Columns = nil
	return walkSchema(in.schema, func(n schema.Node, path string, _ int) error {
		if ids[n.ID()] {
			in.flags.Columns = append(in.flags.Columns, path)
		}
		return nil
	})
}

func (in *inspector) collect(ctx context.Context) (*shardInfo, error) {
	s := in.file
	d := in.file.Directory()
	info := &shardInfo{
		Location: s.Location(), Rows: s.Rows(), Deleted: d.GetDeletedRecordCount(), RawBytes: d.GetRawDataSize(),
		Columns: in.schema.NumFields(), Nodes: in.schema.IDCount(), Stripes: s.NumStripes(), Layout: "single file",
	}
	if err := in.files(ctx, info); err != nil {
		return nil, err
	}
	if err := in.properties(ctx, info); err != nil {
		return nil, err
	}
	if in.flags.Verbose == 0 {
		return info, nil
	}
	for i := range s.NumStripes() {
		if len(in.flags.Stripes) > 0 && !slices.Contains(in.flags.Stripes, i) {
			continue
		}
		st, err := in.stripe(ctx, in.file.Stripe(i))
		if err != nil {
			return nil, err
		}
		info.StripeList = append(info.StripeList, st)
	}
	return info, nil
}

// files lists the artifacts of the shard with their sizes.
func (in *inspector) files(ctx context.Context, info *shardInfo) error {
	f := in.file
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
	if in.file.NumStripes() == 0 {
		return 0, nil
	}
	r, err := in.file.Stripe(0).Artifact(ctx, 0, &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{}})
	if err != nil {
		return 0, err
	}
	return r.Size(ctx)
}

func (in *inspector) properties(ctx context.Context, info *shardInfo) error {
	p, err := in.file.Properties(ctx)
	if err != nil {
		return err
	}
	if first := p.CreationMin.GetTicks(); first != 0 {
		info.Created = shardfile.Time(first).UTC().Format(time.RFC3339Nano)
		if last := p.CreationMax.GetTicks(); last != first && last != 0 {
			info.Created += " to " + shardfile.Time(last).UTC().Format(time.RFC3339Nano)
		}
	}
	standard := shardfile.PropertiesFromProto(p.StandardProperties)
	all := append(slices.Clone(standard), shardfile.PropertiesFromProto(p.CustomProperties)...)
	if len(all) > 0 {
		info.Properties = map[string]any{}
		for _, x := range all {
			info.Properties[x.Name] = plainValue(x.Value)
		}
	}
	info.Unknown = shardfile.UnknownFeatures(standard)
	indexes, err := in.file.Indexes(ctx)
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
	err := walkSchema(in.schema, func(n schema.Node, path string, depth int) error {
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

// wanted reports whether a path is one of the selected paths, or below one.
func (in *inspector) wanted(path string) bool {
	for _, c := range in.flags.Columns {
		if path == c || strings.HasPrefix(path, c+".") {
			return true
		}
	}
	return len(in.flags.Columns) == 0
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
	c.distinct = distinctOf(f)
	if err := c.values.add(ctx, st, n, f, d.GetEncodings()); err != nil {
		return c, err
	}
	if exact, ok := c.values.count(); ok {
		c.distinct = exact
	}
	for _, e := range d.GetEncodings() {
		for _, b := range e.GetNative().GetBuffers() {
			info, err := in.buffer(ctx, st, n, e.GetNative(), b)
			if err != nil {
				return c, err
			}
			c.Bytes += info.Bytes
			if in.flags.Verbose > 1 {
				c.Buffers = append(c.Buffers, info)
			}
		}
	}
	return c, nil
}
