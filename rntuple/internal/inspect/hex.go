package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/read"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// hex lists the bytes of the file in their order: records, envelopes, pages. If only some fields or clusters were
// asked for, it lists their pages.
func (o *outline) hex(ctx context.Context, targets []rootfile.Object) error {
	o.Facts, o.Lists = nil, nil
	if len(o.o.Columns) == 0 && len(o.o.Groups) == 0 {
		o.records(ctx)
	}
	for _, object := range targets {
		l, err := read.List(ctx, o.file, object)
		if err != nil {
			if err := o.unreadable(err); err != nil {
				return err
			}
			continue
		}
		if l.Err == nil {
			if err := o.ntupleBytes(ctx, l.Table); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(o.Bytes, func(a, b provider.Region) int { return cmp.Compare(a.Offset, b.Offset) })
	return nil
}

// region adds bytes of the file, whose parts are those that parse gives.
func (o *outline) region(offset, size int64, name string, parse func(b []byte) []provider.Part) {
	o.Bytes = append(o.Bytes, provider.Region{Offset: offset, Size: size, Name: name, Dump: func(ctx context.Context) (d provider.Dump, err error) {
		if err := storage.CheckRange(offset, size, o.file.Size()); err != nil {
			return d, err
		}
		d.Data, err = storage.ReadRange(ctx, o.file.Reader(), offset, size)
		if err == nil && parse != nil {
			d.Parts = parse(d.Data)
		}
		return d, err
	}})
}

// records adds what is in the container: the file header, and every record that a walk meets. Of those that hold
// pages and envelopes, only the key. The walk may end early, because freed space need not be marked.
func (o *outline) records(ctx context.Context) {
	h := o.file.Header()
	o.region(0, h.Size(), "file header", func(b []byte) []provider.Part { return listed(b, rootfile.ListHeader) })
	at := h.Begin
	for r, err := range o.file.Records(ctx) {
		if err != nil {
			o.fact("no records from", at)
			return
		}
		switch {
		case r.Free > 0:
			o.Bytes = append(o.Bytes, provider.Region{Offset: at, Size: r.Free, Name: "free space"})
		case r.Key.Class == "RBlob":
			o.region(at, r.Key.HeaderSize, "key RBlob", func(b []byte) []provider.Part { return listed(b, rootfile.ListKey) })
		default:
			o.region(at, r.Key.Size, "record of "+r.Key.String(), func(b []byte) []provider.Part { return o.recordParts(b, r.Key) })
		}
		at += r.Key.Size + r.Free
	}
}

// ntupleBytes adds the envelopes and pages of an ntuple.
func (o *outline) ntupleBytes(ctx context.Context, t *read.Table) error {
	if err := t.Load(ctx); err != nil {
		return o.unreadable(err)
	}
	name := fmt.Sprintf(" of ntuple %q", t.Path())
	if len(o.o.Columns) == 0 && len(o.o.Groups) == 0 {
		a := t.Anchor()
		o.envelope(t, a.Header, envelope.KindHeader, "header"+name)
		o.envelope(t, a.Footer, envelope.KindFooter, "footer"+name)
		for i, g := range t.Footer().Groups {
			o.envelope(t, g.PageList, envelope.KindPageList, fmt.Sprintf("page list %d%s", i, name))
		}
	}
	s := t.Schema()
	seen := map[uint64]bool{}
	o.eachColumn(t, func(cluster int, c *envelope.Cluster, id uint32, desc *envelope.Column) {
		for k, p := range c.Pages(id) {
			if seen[p.Offset] || p.Check(o.file.Size(), t.Anchor().MaxKeySize) != nil {
				continue // several pages may have the same bytes
			}
			seen[p.Offset] = true
			page := read.PageRange{Page: p, Bits: desc.Bits}
			title := fmt.Sprintf("page %d of column %d (%s, %v) in cluster %d%s: %d elements", k, id, s.Path(desc.Field), desc.Type, cluster, name, p.Elements)
			o.region(int64(p.Offset), int64(min(page.Stored(), uint64(o.file.Size())-p.Offset)), title, func(b []byte) []provider.Part { return pageParts(b, page) })
		}
	})
	return nil
}

// envelope adds an envelope, unpacked if it is packed.
func (o *outline) envelope(t *read.Table, l envelope.Link, kind envelope.Kind, name string) {
	o.Bytes = append(o.Bytes, provider.Region{Offset: int64(l.Offset), Size: int64(l.Size), Name: name, Dump: func(ctx context.Context) (d provider.Dump, err error) {
		if d.Data, err = t.Envelope(ctx, l); err != nil {
			return d, err
		}
		d.Packed = l.Size != l.Length
		parts, err := envelope.Trace(d.Data, kind, t.Schema())
		for _, p := range parts {
			d.Parts = append(d.Parts, provider.Part(p))
		}
		return d, err
	}})
}

// pageParts are the chunks of a page and its checksum.
func pageParts(b []byte, p read.PageRange) (parts []provider.Part) {
	content := b[:min(p.Size, uint64(len(b)))]
	rest, at := content, 0
	if raw := p.RawBytes(); uint64(len(content)) != raw {
		for len(rest) > 0 {
			c, next, err := compress.NextChunk(rest)
			if err != nil {
				break
			}
			n := len(rest) - len(next)
			parts = append(parts, provider.Part{Offset: at, Size: n, Text: fmt.Sprintf("%v, unpacks to %d bytes", c.Algorithm, c.Size)})
			rest, at = next, at+n
		}
	}
	if at < len(content) {
		parts = append(parts, provider.Part{Offset: at, Size: len(content) - at, Text: "elements, not compressed"})
	}
	if len(content) < len(b) {
		parts = append(parts, provider.Part{Offset: len(content), Size: len(b) - len(content), Text: "XXH3"})
	}
	return parts
}
