// Package inspect describes how a shard is built, down to its bytes, and the stored sizes and statistics of its columns.
package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/readahead"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// File describes a shard. Damage within a buffer is part of the description; damage of the metadata is an error.
func File(ctx context.Context, f *shardfile.File, o provider.InspectOptions) (*provider.Outline, error) {
	in, err := newInspector(ctx, f, o)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Hex:
		err = in.bytes(ctx)
	case o.Stats:
		err = in.sizes(ctx)
	default:
		if err = in.overview(ctx); err == nil && o.Detail > 0 && !o.Nodes {
			err = in.lists(ctx)
		}
	}
	if o.Nodes {
		in.Nodes = in.stripeNodes()
	}
	return &in.Outline, err
}

// inspector describes a shard.
type inspector struct {
	provider.Outline // in the making
	file             *shardfile.File
	o                provider.InspectOptions
	schema           *schema.Schema
	nodes            []node            // that are selected
	total            int64             // bytes of all files
	names            map[string]string // of the files by their URLs, if there are several
}

func newInspector(ctx context.Context, f *shardfile.File, o provider.InspectOptions) (*inspector, error) {
	for _, i := range o.Groups {
		if i < 0 || i >= f.NumStripes() {
			return nil, fmt.Errorf("there is no stripe %d: the shard has %d stripes, from 0", i, f.NumStripes())
		}
	}
	in := &inspector{file: f, o: o}
	var err error
	if in.schema, err = f.Schema(ctx); err != nil {
		return nil, err
	}
	if err := in.findColumns(); err != nil {
		return nil, err
	}
	if err := in.files(ctx); err != nil {
		return nil, err
	}
	return in, nil
}

// findColumns finds the nodes of the schema that are selected, and those below them. Paths may omit the items of lists.
func (in *inspector) findColumns() error {
	ids := map[uint32]bool{}
	for _, c := range in.o.Columns {
		n, err := in.schema.Path(c)
		if err != nil {
			return err
		}
		ids[n.ID()] = true
	}
	var columns []string
	return in.schema.Walk(func(path string, n schema.Node) error {
		if ids[n.ID()] {
			columns = append(columns, path)
		}
		within := func(c string) bool { return path == c || strings.HasPrefix(path, c+".") }
		if len(ids) == 0 || slices.ContainsFunc(columns, within) {
			in.nodes = append(in.nodes, node{n, path})
		}
		return nil
	})
}

// node is a node of the schema with its path.
type node struct {
	schema.Node
	path string
}

// readAhead plans the reads of parts of the selected columns.
func (in *inspector) readAhead(ctx context.Context, parts blocks.Parts) (*readahead.Ahead, error) {
	ids := make([]uint32, len(in.nodes))
	for i := range ids {
		ids[i] = in.nodes[i].ID()
	}
	return readahead.New(ctx, in.file, in.stripes(), ids, len(ids), func(ctx context.Context, dst []storage.ByteRange, st *shardfile.Stripe, i int) ([]storage.ByteRange, error) {
		n := in.nodes[i]
		return blocks.RangesToOpen(ctx, dst, st, arrowmap.Column{ID: n.ID(), Parent: n.ParentID()}, parts, math.MaxInt64)
	})
}

// stripes are those that are selected.
func (in *inspector) stripes() (list []*shardfile.Stripe) {
	for i := range in.file.NumStripes() {
		if len(in.o.Groups) == 0 || slices.Contains(in.o.Groups, i) {
			list = append(list, in.file.Stripe(i))
		}
	}
	return list
}

// overview are the facts of the whole shard, and its files.
func (in *inspector) overview(ctx context.Context) error {
	d := in.file.Directory()
	bytes := in.total
	in.AddFact("bytes", bytes)
	if raw := d.GetRawDataSize(); raw > 0 {
		in.AddFact("raw bytes", raw)
		in.AddFact("share of raw", provider.ShareOf(uint64(bytes), raw))
	}
	rows := in.file.Rows()
	in.AddFact("rows", rows)
	in.AddFact("stripes", in.file.NumStripes())
	if rows > 0 {
		in.AddFact("bytes per row", float64(bytes)/float64(rows))
	}
	if n := d.GetDeletedRecordCount(); n > 0 {
		in.AddFact("deleted rows", n)
	}
	if all, err := in.file.Shards(ctx); err != nil {
		return err
	} else if len(all) > 1 {
		in.AddFact("shards", len(all))
	}
	in.AddFact("columns", in.schema.NumFields())
	if n := in.schema.IDCount(); int(n) != in.schema.NumFields() {
		in.AddFact("schema nodes", n)
	}
	if h, err := root.HistoryOf(ctx, in.file); err != nil {
		return err
	} else if len(h.Before) > 0 {
		in.AddFact("version", h.Now.Number)
		in.AddFact("earlier versions", len(h.Before))
	}
	layout := "two-level"
	if len(in.Lists[0].Rows) == 1 {
		layout, in.Lists = "single file", nil
	}
	in.AddFact("layout", layout)
	if err := in.properties(ctx); err != nil {
		return err
	}
	indexes, err := in.file.Indexes(ctx)
	if err != nil {
		return err
	}
	for _, d := range indexes.GetIndexDescriptors() {
		in.AddFact("index", d.GetIndexType())
	}
	return nil
}

// files lists the artifacts of the shard, and adds up their sizes. Those that do not exist have none.
func (in *inspector) files(ctx context.Context) error {
	add, first := in.AddList("files", "name", "bytes"), in.file.Root()
	add(first.Name(), in.file.Size())
	in.total = in.file.Size()
	urls, err := in.file.URLs(ctx)
	if err != nil {
		return err
	}
	if len(urls) > 0 {
		in.names = map[string]string{shardfile.URLOf(first): first.Name()}
	}
	if outside := in.file.Outside(ctx); len(outside) > 0 {
		in.AddFact("other folders", strings.Join(outside, ","))
	}
	for _, u := range urls {
		full, err := in.file.URL(ctx, u)
		if err != nil {
			return err
		}
		in.names[full] = u
		size := int64(0)
		r, err := in.file.Artifact(ctx, u)
		if err == nil {
			size, err = r.Size(ctx)
		}
		switch {
		case err == nil:
			add(u, size)
		case errors.Is(err, fs.ErrNotExist):
			add(u, nil)
		default:
			return err
		}
		in.total += size
	}
	return nil
}

// properties adds the properties of the shard.
func (in *inspector) properties(ctx context.Context) error {
	p, err := in.file.Properties(ctx)
	if err != nil {
		return err
	}
	standard := shardfile.PropertiesFromProto(p.StandardProperties)
	all := map[string]any{}
	for _, x := range append(slices.Clone(standard), shardfile.PropertiesFromProto(p.CustomProperties)...) {
		all[x.Name] = PlainValue(x.Value)
	}
	switch name := all[shardfile.PropertyEdition]; name {
	case edition.E2026.String():
		in.AddFact("edition", name.(string)+": the Rust implementation cannot read it (--edition reference)")
	case edition.Reference.String():
		in.AddFact("edition", name.(string)+": all implementations read it")
	}
	if first := p.CreationMin.GetTicks(); first != 0 {
		created := shardfile.Time(first).UTC().Format(time.RFC3339Nano)
		if last := p.CreationMax.GetTicks(); last != first && last != 0 {
			created += " to " + shardfile.Time(last).UTC().Format(time.RFC3339Nano)
		}
		in.AddFact("created", created)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name != shardfile.PropertyEdition && name != shardfile.PropertyHistory && name != shardfile.PropertyChecksumTree && name != shardfile.PropertyDescriptors { // that is for readers only
			in.AddFact("property "+name, fmt.Sprint(all[name]))
		}
	}
	for _, u := range shardfile.UnknownFeatures(standard) {
		in.AddFact("unknown", u)
	}
	return nil
}

// lists are those of the stored schema, of stripes and their columns, then of their buffers and blocks as options say.
func (in *inspector) lists(ctx context.Context) error {
	fields := in.AddList("fields", "id", "column", "stored type", "extended type")
	for _, n := range in.nodes {
		label, err := extendedType(n.Node)
		if err != nil {
			return err
		}
		fields(n.ID(), strings.Repeat("  ", len(schema.SplitPath(n.path))-1)+displayName(n.Node), storedType(n.Node), label)
	}
	stripes := in.AddList("stripes", "stripe", "first row", "rows", "deleted", "bytes", "raw bytes", "files")
	columns := in.AddList("columns", append([]string{"stripe", "column"}, columnFacts...)...)
	buffers, encodings, list, parts := func(...any) {}, func(...any) {}, func(...any) {}, blocks.ToOpen
	if in.o.Detail > 1 {
		parts = blocks.Whole
		buffers = in.AddList("buffers", append([]string{"stripe", "column", "buffer"}, bufferFacts...)...)
		encodings = in.AddList("encodings", "stripe", "column", "buffer", "encoding", "blocks", "values", "bytes", "bits per value")
	}
	if in.o.Detail > 2 {
		list = in.AddList("blocks", append([]string{"stripe", "column", "buffer", "block"}, blockFacts...)...)
	}
	var properties func(...any)
	described := map[string]bool{}
	ahead, err := in.readAhead(ctx, parts)
	if err != nil {
		return err
	}
	defer in.file.Hold(nil)
	for i, st := range in.stripes() {
		bytes, files := int64(0), []share(nil)
		for k, n := range in.nodes {
			c, err := in.aheadColumn(ctx, ahead, i, k)
			if err != nil {
				return err
			}
			path := n.path
			columns(append([]any{st.Index(), path}, c.cells(in.total)...)...)
			for _, p := range shardfile.PropertiesFromProto(c.stored.GetField().GetCustomProperties()) {
				if described[path] {
					break
				}
				if properties == nil {
					properties = in.AddList("properties", "column", "property", "value")
				}
				properties(path, p.Name, PlainValue(p.Value))
			}
			described[path] = described[path] || c.stored != nil
			bytes += c.bytes
			for _, s := range c.files {
				files = addShare(files, s)
			}
			for _, b := range c.buffers {
				buffers(append([]any{st.Index(), path, b.kind}, b.cells()...)...)
				for _, e := range b.encodings {
					encodings(st.Index(), path, b.kind, e.encoding, e.blocks, e.values, e.bytes, bitsPerValue(e.bytes, uint64(e.values)))
				}
				for _, k := range b.list {
					list(append([]any{st.Index(), path, b.kind, k.index}, k.cells()...)...)
				}
			}
		}
		sortShares(files)
		stripes(st.Index(), st.Position(), st.Rows(), deletedOf(st), bytes, st.Directory().GetRawDataSize(), filesCell(files))
	}
	return nil
}

// bitsPerValue is nil without values.
func bitsPerValue(bytes int64, values uint64) any {
	if values == 0 {
		return nil
	}
	return 8 * float64(bytes) / float64(values)
}

// known is a number, or nil if it is not.
func known(n *uint64) any {
	if n == nil {
		return nil
	}
	return *n
}

// deletedOf is the number of deleted rows of a stripe, nil if there are none.
func deletedOf(st *shardfile.Stripe) any {
	if n := st.Directory().GetDeletedRecordCount(); n > 0 {
		return n
	}
	return nil
}

// filesCell are files with the bytes in them, or nil for a shard in one file.
func filesCell(files []share) any {
	var list []provider.Fact
	for _, s := range files {
		list = append(list, provider.Fact{Name: s.encoding, Value: s.bytes})
	}
	if list == nil {
		return nil
	}
	return list
}

// Magic begins the header of each file of a shard.
var Magic = []byte("amud")

// OrOther describes a file that cannot be opened because it is no shard.
func OrOther(in provider.Input, err error) error {
	if err == nil || in.At == nil {
		return err
	}
	head := make([]byte, 8)
	n, rerr := in.At.ReadAt(head, 0)
	switch {
	case rerr != nil && rerr != io.EOF, bytes.HasPrefix(head, Magic):
		return err
	case n == 0:
		return fmt.Errorf("%s is empty", in.Name)
	}
	return fmt.Errorf("%s is not an Amudai shard: it starts with %q", in.Name, head[:n])
}
