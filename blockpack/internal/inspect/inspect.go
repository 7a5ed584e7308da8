// Package inspect describes how a Blockpack file is built.
package inspect

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// File describes a file. A block that cannot be read is listed with the reason.
func File(ctx context.Context, r storage.Reader, o provider.InspectOptions) (*provider.Outline, error) {
	f, err := layout.Open(ctx, r, 0)
	if err != nil {
		return nil, err
	}
	out := &outline{file: f, meta: f.Metadata, o: o}
	if o.Hex {
		return &out.Outline, out.bytes(ctx)
	}
	if !o.Stats {
		if err := out.overview(ctx); err != nil {
			return nil, err
		}
	}
	if o.Detail > 0 || o.Stats {
		if err := out.blocks(ctx); err != nil {
			return nil, err
		}
	}
	if o.Detail > 1 && !o.Stats {
		out.ranges()
	}
	return &out.Outline, ctx.Err()
}

// outline is a description in the making.
type outline struct {
	provider.Outline
	file    *layout.File
	o       provider.InspectOptions
	meta    *layout.Metadata
	decoder column.Decoder
}

func (o *outline) hasBlock(i int) bool { return len(o.o.Groups) == 0 || slices.Contains(o.o.Groups, i) }

func (o *outline) hasColumn(name string) bool {
	return len(o.o.Columns) == 0 || slices.Contains(o.o.Columns, name)
}

// overview is what the metadata say of the whole file.
func (o *outline) overview(ctx context.Context) error {
	m := o.meta
	o.AddFact("bytes", o.file.Size)
	o.AddFact("format", fmt.Sprintf("version %d, footer %d", o.file.Header.Version, layout.FooterVersion))
	if m.Variant != (layout.Variant{}) {
		o.AddFact("variant", m.Variant.String())
	}
	if mark := m.Ranges.Mark(); mark != "" {
		o.AddFact("written by", mark)
	}
	spans, lo, hi := int64(0), uint64(0), uint64(0)
	for _, b := range m.Blocks {
		spans += int64(b.Spans)
		if b.MaxStart > 0 {
			if lo == 0 || b.MinStart < lo {
				lo = b.MinStart
			}
			hi = max(hi, b.MaxStart)
		}
	}
	o.AddFact("blocks", len(m.Blocks))
	o.AddFact("spans", spans)
	o.AddFact("traces", m.Traces.Len())
	if hi > 0 {
		o.AddFact("starts", instant(lo)+" to "+instant(hi))
	}
	if !m.Traces.HasRows() {
		o.AddFact("trace index", "without rows")
	}
	if !m.TracesComplete {
		o.AddFact("trace index", "cannot refer to all rows")
	}
	return o.sections(ctx)
}

// instant is a time in nanoseconds since 1970 as text.
func instant(ns uint64) string {
	if ns >= 1<<63 {
		return fmt.Sprintf("%d ns", ns)
	}
	return time.Unix(0, int64(ns)).UTC().Format(time.RFC3339Nano)
}

// sections lists what the file consists of.
func (o *outline) sections(ctx context.Context) error {
	regions, err := o.file.Regions(ctx, func(int) bool { return false })
	if err != nil {
		return err
	}
	sections := o.AddList("sections", "section", "offset", "bytes", "share")
	add := func(name string, offset, size int64) {
		sections(name, offset, size, provider.ShareOf(size, o.file.Size))
	}
	blocks, end := int64(0), -1
	for i, r := range regions {
		if r.Kind == layout.RegionBlock {
			blocks += r.Size
			end = i
		}
	}
	for i, r := range regions {
		if r.Kind != layout.RegionBlock {
			add(r.Name, r.Offset, r.Size)
		} else if i == end {
			add("blocks", o.meta.Blocks[regions[slices.IndexFunc(regions, isBlock)].Block].Offset, blocks)
		}
	}
	return nil
}

func isBlock(r layout.Region) bool { return r.Kind == layout.RegionBlock }

// total is what the blocks say of a column.
type total struct {
	column.Key
	blocks int
	rows   int64
	values int64
	bytes  int64
	kinds  []column.Kind
}

// blocks lists columns, blocks, and the columns of blocks.
func (o *outline) blocks(ctx context.Context) error {
	columns := func(...any) {}
	blocks := func(...any) {}
	if !o.o.Stats {
		blocks = o.AddList("blocks", "block", "offset", "bytes", "spans", "columns", "first start", "last start", "min trace id", "max trace id", "remark")
	}
	if o.o.Detail > 1 && !o.o.Stats {
		columns = o.AddList("columns", "block", "column", "type", "offset", "bytes", "kind", "values", "min", "max", "remark")
	}
	totals := map[column.Key]*total{}
	for i := range o.meta.Blocks {
		if !o.hasBlock(i) {
			continue
		}
		b := &o.meta.Blocks[i]
		h, remark, err := o.head(ctx, i)
		if err != nil {
			return err
		}
		blocks(i, b.Offset, b.Length, b.Spans, count(h), instant(b.MinStart), instant(b.MaxStart), hex.EncodeToString(b.MinTrace[:]), hex.EncodeToString(b.MaxTrace[:]), remark)
		if h == nil {
			continue
		}
		for k := range h.Columns {
			if err := o.column(ctx, i, h, k, totals, columns); err != nil {
				return err
			}
		}
	}
	for _, name := range o.o.Columns {
		if !slices.ContainsFunc(totalsOf(totals), func(t *total) bool { return t.Name == name }) {
			return fmt.Errorf("%w: %q", schema.ErrNoField, name)
		}
	}
	o.fields(totalsOf(totals))
	return nil
}

func count(h *layout.BlockHead) any {
	if h == nil {
		return nil
	}
	return len(h.Columns)
}

// head reads the head of a block; nil with the reason if there is none.
func (o *outline) head(ctx context.Context, i int) (h *layout.BlockHead, remark string, err error) {
	if !o.meta.Blocks[i].HasSpans() {
		return nil, fmt.Sprintf("of kind %d", o.meta.Blocks[i].Kind), nil
	}
	if h, err = o.file.BlockHead(ctx, i); fault.Is(err) {
		return nil, err.Error(), nil
	}
	if err == nil && h.Traces > 0 {
		remark = fmt.Sprintf("trace table of %d bytes", h.TraceTableLength)
	}
	return h, remark, err
}

// column adds column k of a block.
func (o *outline) column(ctx context.Context, i int, h *layout.BlockHead, k int, totals map[column.Key]*total, row func(...any)) error {
	c := &h.Columns[k]
	if !o.hasColumn(c.Name) {
		return nil
	}
	t := totals[c.Key()]
	if t == nil {
		t = &total{Key: c.Key()}
		totals[t.Key] = t
	}
	t.blocks++
	t.rows += int64(h.Spans)
	t.bytes += c.Length
	if o.o.Detail < 2 && !o.o.Stats {
		return nil
	}
	if c.Length == 0 {
		row(i, c.Name, c.Type.String(), nil, nil, nil, nil, nil, nil, "in the trace table")
		return nil
	}
	data, err := o.file.ReadBlock(ctx, i, c.Offset, c.Length)
	if err != nil {
		return err
	}
	r, err := o.decoder.Open(data, c.Name, c.Type, h.Spans, column.DecodeOptions{})
	if err != nil {
		row(i, c.Name, c.Type.String(), c.Offset, c.Length, nil, nil, nil, nil, err.Error())
		return nil
	}
	t.values += int64(r.PresentCount())
	if !slices.Contains(t.kinds, r.Kind()) {
		t.kinds = append(t.kinds, r.Kind())
	}
	lo, hi, remark, err := o.stats(ctx, i, c)
	row(i, c.Name, c.Type.String(), c.Offset, c.Length, r.Kind().String(), r.PresentCount(), lo, hi, remark)
	return err
}

// stats are the bounds that a block has of a column.
func (o *outline) stats(ctx context.Context, i int, c *layout.BlockColumn) (lo, hi any, remark string, err error) {
	if c.StatsLength == 0 {
		return nil, nil, "", nil
	}
	data, err := o.file.ReadBlock(ctx, i, c.StatsOffset, c.StatsLength)
	if err != nil {
		return nil, nil, "", err
	}
	s, serr := layout.ParseColumnStats(data, c.Type)
	if serr != nil {
		return nil, nil, serr.Error(), nil
	}
	if s.Known {
		return s.Min.String(), s.Max.String(), "", nil
	}
	return nil, nil, "", nil
}

func totalsOf(totals map[column.Key]*total) []*total {
	return slices.SortedFunc(maps.Values(totals), func(a, b *total) int { return a.Compare(b.Key) })
}

// fields lists columns by name and type.
func (o *outline) fields(totals []*total) {
	if o.o.Stats {
		all := int64(0)
		for _, t := range totals {
			all += t.bytes
		}
		fields := o.AddList("fields", "field", "type", "blocks", "rows", "values", "bytes", "bits per value", "share", "kinds")
		for _, t := range totals {
			fields(t.Name, t.Type.String(), t.blocks, t.rows, t.values, t.bytes, 8*float64(t.bytes)/float64(max(t.values, 1)), provider.ShareOf(t.bytes, all), kindsText(t.kinds))
		}
		return
	}
	fields := o.AddList("fields", "field", "type", "blocks", "bytes")
	for _, t := range totals {
		fields(t.Name, t.Type.String(), t.blocks, t.bytes)
	}
	// The fields come first.
	last := len(o.Lists) - 1
	at := slices.IndexFunc(o.Lists, func(l provider.List) bool { return l.Name == "blocks" })
	o.Lists = slices.Insert(o.Lists[:last:last], at, o.Lists[last])
}

func kindsText(kinds []column.Kind) string {
	slices.Sort(kinds)
	var names []string
	for _, k := range kinds {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}

// ranges lists the columns of the range index, and its keys.
func (o *outline) ranges() {
	ranges := o.AddList("ranges", "column", "type", "min", "max", "boundaries", "typed boundaries", "keys", "bytes", "remark")
	keys := func(...any) {}
	if o.o.Detail > 2 {
		keys = o.AddList("keys", "column", "key", "blocks", "block ids")
	}
	for c := range o.meta.Ranges.All() {
		if !o.hasColumn(c.Name) {
			continue
		}
		boundaries, typed, bytes := c.Sizes()
		entries, err := c.Entries()
		remark := ""
		if err != nil {
			remark = err.Error()
		}
		lo, hi := c.Stored()
		ranges(c.Name, c.Type.String(), lo.String(), hi.String(), boundaries, typed, c.Keys, bytes, remark)
		if err != nil || o.o.Detail < 3 {
			continue
		}
		for key, ids := range entries {
			keys(c.Name, key.String(), len(ids), idText(ids))
		}
	}
}

// idText shows the first block ids.
func idText(ids []uint32) string {
	const most = 16
	text := strings.Trim(fmt.Sprint(ids[:min(len(ids), most)]), "[]")
	if len(ids) > most {
		text += " …"
	}
	return text
}
