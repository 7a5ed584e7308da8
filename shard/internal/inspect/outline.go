package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/table/provider"
)

// Outline describes a shard as facts and lists, without its bytes.
func Outline(ctx context.Context, f *shardfile.File, po provider.InspectOptions) (*provider.Outline, error) {
	for _, i := range po.Groups {
		if i < 0 || i >= f.NumStripes() {
			return nil, fmt.Errorf("there is no stripe %d: the shard has %d, from 0", i, f.NumStripes())
		}
	}
	o := Options{Detail: po.Detail, Stripes: po.Groups, Columns: po.Columns}
	out := &outline{}
	if po.Stats {
		list, err := Summaries(ctx, f, o)
		out.sizes(list)
		return &out.Outline, err
	}
	info, err := Shard(ctx, f, o)
	if err != nil {
		return nil, err
	}
	out.overview(info)
	if po.Detail > 0 {
		nodes, err := Nodes(ctx, f)
		if err != nil {
			return nil, err
		}
		out.fields(nodes)
		out.stripes(info)
	}
	if po.Detail > 1 {
		out.buffers(info)
	}
	if po.Detail > 2 {
		out.blocks(info)
	}
	return &out.Outline, nil
}

// outline is a description in the making.
type outline struct{ provider.Outline }

func (o *outline) overview(info *Structure) {
	o.AddFact("bytes", info.Bytes)
	if info.RawBytes > 0 {
		o.AddFact("raw bytes", info.RawBytes)
	}
	o.AddFact("rows", info.Rows)
	o.AddFact("stripes", info.Stripes)
	if info.Deleted > 0 {
		o.AddFact("deleted rows", info.Deleted)
	}
	o.AddFact("columns", info.Columns)
	o.AddFact("schema nodes", info.Nodes)
	o.AddFact("layout", info.Layout)
	if info.Created != "" {
		o.AddFact("created", info.Created)
	}
	for _, name := range slices.Sorted(maps.Keys(info.Properties)) {
		o.AddFact("property "+name, fmt.Sprint(info.Properties[name]))
	}
	for _, u := range info.Unknown {
		o.AddFact("unknown", u)
	}
	for _, i := range info.Indexes {
		o.AddFact("index", i)
	}
	files := o.AddList("files", "name", "bytes")
	for _, f := range info.Files {
		files(f.Name, f.Bytes)
	}
}

// fields lists the stored schema.
func (o *outline) fields(nodes []Node) {
	add := o.AddList("fields", "id", "column", "stored type", "extended type")
	for _, n := range nodes {
		add(n.ID, strings.Repeat("  ", n.Depth)+n.Name, n.Type, n.Extended)
	}
}

// stripes lists stripes, and their columns.
func (o *outline) stripes(info *Structure) {
	add := o.AddList("stripes", "stripe", "first row", "rows", "bytes", "raw bytes")
	for _, s := range info.StripeList {
		add(s.Index, s.Position, s.Rows, s.Bytes, s.RawBytes)
	}
	add = o.AddList("columns", "stripe", "id", "column", "type", "positions", "nulls", "distinct", "min", "max", "bytes", "stored")
	for _, s := range info.StripeList {
		for _, c := range s.Columns {
			stored := "values"
			switch {
			case c.Missing:
				stored = "nothing: all null"
			case c.IsConstant:
				stored = "one value of all rows"
			}
			add(s.Index, c.ID, c.Path, c.Type, c.Positions, known(c.Nulls), distinct(c.Distinct), c.Min, c.Max, c.Bytes, stored)
		}
	}
}

func (o *outline) buffers(info *Structure) {
	add := o.AddList("buffers", "stripe", "column", "buffer", "offset", "bytes", "map bytes", "blocks", "checksums", "encodings", "file", "error")
	eachBuffer(info, func(stripe int, column string, b *Buffer) {
		add(stripe, column, b.Kind, b.Start, b.Bytes, b.MapBytes, b.Blocks, b.Checksums, encodings(b.Encodings), b.File, b.Error)
	})
}

func (o *outline) blocks(info *Structure) {
	add := o.AddList("blocks", "stripe", "column", "buffer", "block", "first", "values", "offset", "bytes", "presence", "tree", "error")
	eachBuffer(info, func(stripe int, column string, b *Buffer) {
		for _, k := range b.List {
			add(stripe, column, b.Kind, k.Index, k.First, k.Values, k.Offset, k.Bytes, k.Presence, k.Tree, k.Error)
		}
	})
}

func eachBuffer(info *Structure, do func(stripe int, column string, b *Buffer)) {
	for _, s := range info.StripeList {
		for i := range s.Columns {
			for k := range s.Columns[i].Buffers {
				do(s.Index, s.Columns[i].Path, &s.Columns[i].Buffers[k])
			}
		}
	}
}

// sizes lists the columns of all stripes together.
func (o *outline) sizes(list []*Summary) {
	add := o.AddList("columns", "column", "type", "positions", "nulls", "distinct", "min", "max", "bytes", "raw bytes", "encodings")
	for _, c := range list {
		add(c.Path, c.Type, c.Positions, known(c.Nulls), distinct(c.Distinct), c.MinText, c.MaxText, c.Bytes, c.RawBytes, encodings(c.Encodings))
	}
}

// encodings names encodings, and the bytes of each.
func encodings(list []Share) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = fmt.Sprintf("%s %d", e.Encoding, e.Bytes)
	}
	return strings.Join(parts, ", ")
}

// known is a number, or nil if it is not.
func known(n *uint64) any {
	if n == nil {
		return nil
	}
	return *n
}

// distinct is a number of distinct values, with a mark if it is an estimate.
func distinct(d Distinct) any {
	if d.Distinct != nil && d.Estimate {
		return fmt.Sprintf("≈%d", *d.Distinct)
	}
	return known(d.Distinct)
}
