// Package inspect describes how a shard is built, down to its bytes, and the stored sizes and statistics of its columns.
package inspect

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// Structure describes a shard. The names of its fields in JSON are those of amudai inspect --json.
type Structure struct {
	Location   string         `json:"location"`
	Bytes      int64          `json:"bytes"` // of all files
	Files      []File         `json:"files"`
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

	StripeList []Stripe `json:"stripe_list,omitempty"` // from level 1 of detail
}

// File is an artifact of a shard.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Stripe describes a stripe.
type Stripe struct {
	Index    int      `json:"index"`
	Position int64    `json:"position"`
	Rows     int64    `json:"rows"`
	RawBytes uint64   `json:"raw_bytes,omitempty"`
	Bytes    int64    `json:"bytes"`
	Columns  []Column `json:"columns"`
}

// Column describes a schema node in a stripe.
type Column struct {
	ID        uint32  `json:"id"`
	Path      string  `json:"path"`
	Type      string  `json:"type"`
	Missing   bool    `json:"missing,omitempty"` // the stripe lacks the column: all rows are null
	Positions uint64  `json:"positions"`
	Nulls     *uint64 `json:"nulls,omitempty"`
	Constant  any     `json:"constant,omitempty"`
	Distinct
	Bytes   int64    `json:"bytes"`
	Buffers []Buffer `json:"buffers,omitempty"` // from level 2 of detail

	Depth      int    `json:"-"` // of the node in the schema, from 0
	Name       string `json:"-"` // of the node, "(item)" for that of lists
	IsConstant bool   `json:"-"`
	Min, Max   string `json:"-"` // bounds of the values as text, "" if there are none

	node   schema.Node
	values distinctSet // of this stripe
}

// Options select parts of a shard, and the level of detail.
type Options struct {
	Detail  int      // 0: an overview, 1: stripes and columns, 2: buffers, 3: blocks
	Stripes []int    // by number; empty: all
	Columns []string // by path, with their children; empty: all
}

// Shard describes a shard. Damage within a buffer is part of the description; damage of the metadata is an error.
func Shard(ctx context.Context, f *shardfile.File, o Options) (*Structure, error) {
	in, err := newInspector(ctx, f, o)
	if err != nil {
		return nil, err
	}
	return in.collect(ctx)
}

// inspector reads a shard, and describes it.
type inspector struct {
	file   *shardfile.File
	flags  Options
	schema *schema.Schema
}

func newInspector(ctx context.Context, f *shardfile.File, o Options) (*inspector, error) {
	in := &inspector{flags: o, file: f}
	var err error
	if in.schema, err = f.Schema(ctx); err != nil {
		return nil, err
	}
	return in, in.findColumns()
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

func (in *inspector) collect(ctx context.Context) (*Structure, error) {
	s := in.file
	d := in.file.Directory()
	info := &Structure{
		Location: storage.Redact(s.Location()), Rows: s.Rows(), Deleted: d.GetDeletedRecordCount(), RawBytes: d.GetRawDataSize(),
		Columns: in.schema.NumFields(), Nodes: in.schema.IDCount(), Stripes: s.NumStripes(), Layout: "single file",
	}
	if err := in.files(ctx, info); err != nil {
		return nil, err
	}
	if err := in.properties(ctx, info); err != nil {
		return nil, err
	}
	if in.flags.Detail == 0 {
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
func (in *inspector) files(ctx context.Context, info *Structure) error {
	f := in.file
	info.Files = []File{{Name: f.Root().Name(), Bytes: f.Size()}}
	info.Bytes = f.Size()
	urls, err := f.URLs(ctx)
	if err != nil {
		return err
	}
	if len(urls) > 0 {
		info.Layout = "two-level"
	}
	for _, u := range urls {
		n, err := artifactSize(ctx, f, u)
		if err != nil {
			return err
		}
		info.Files = append(info.Files, File{Name: u, Bytes: n})
		info.Bytes += n
	}
	return nil
}

// StoredBytes is the size of all files of a shard that exist.
func StoredBytes(ctx context.Context, f *shardfile.File) (int64, error) {
	total := f.Size()
	urls, err := f.URLs(ctx)
	if err != nil {
		return 0, err
	}
	for _, u := range urls {
		n, err := artifactSize(ctx, f, u)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// artifactSize is the size of another artifact of a shard by its reference.
func artifactSize(ctx context.Context, f *shardfile.File, url string) (int64, error) {
	if f.NumStripes() == 0 {
		return 0, nil
	}
	r, err := f.Stripe(0).Artifact(ctx, 0, &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{}})
	if err != nil {
		return 0, err
	}
	return r.Size(ctx)
}

func (in *inspector) properties(ctx context.Context, info *Structure) error {
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
			if x.Name != shardfile.PropertyChecksumTree { // for readers only
				info.Properties[x.Name] = PlainValue(x.Value)
			}
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
func (in *inspector) stripe(ctx context.Context, st *shardfile.Stripe) (Stripe, error) {
	info := Stripe{Index: st.Index(), Position: st.Position(), Rows: st.Rows(), RawBytes: st.Directory().GetRawDataSize()}
	err := walkSchema(in.schema, func(n schema.Node, path string, depth int) error {
		if !in.wanted(path) {
			return nil
		}
		c, err := in.column(ctx, st, n, path)
		if err != nil {
			return err
		}
		c.Depth, c.Name = depth, displayName(n)
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

// column describes a node without its name and depth.
func (in *inspector) column(ctx context.Context, st *shardfile.Stripe, n schema.Node, path string) (Column, error) {
	c := Column{ID: n.ID(), Path: path, Type: storedType(n), node: n}
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
	c.Min, c.Max = boundsText(f, n)
	c.Positions, c.Nulls = f.GetPositionCount(), f.NullCount
	if f.GetConstantValue() != nil {
		c.IsConstant, c.Constant = true, storedValue(f.GetConstantValue(), n)
	}
	c.Distinct = distinctOf(f)
	if err := c.values.add(ctx, st, n, f, d.GetEncodings()); err != nil {
		return c, err
	}
	if exact, ok := c.values.count(); ok {
		c.Distinct = exact
	}
	for _, e := range d.GetEncodings() {
		for _, b := range e.GetNative().GetBuffers() {
			info, err := in.buffer(ctx, st, n, e.GetNative(), b)
			if err != nil {
				return c, err
			}
			c.Bytes += info.Bytes
			if in.flags.Detail > 1 {
				c.Buffers = append(c.Buffers, info)
			}
		}
	}
	return c, nil
}
