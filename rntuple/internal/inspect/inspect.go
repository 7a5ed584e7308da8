// Package inspect describes how a ROOT file and the RNTuples in it are built.
package inspect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/read"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/rntuple/internal/wire"
	"github.com/amudai/amudai-go/table/provider"
)

// File describes a file, and of its ntuples the one at path, or all if path is empty; an attribute set with the ntuple that
// has it. An ntuple that cannot be read is listed with the reason.
func File(ctx context.Context, f *rootfile.File, path string, o provider.InspectOptions) (*provider.Outline, error) {
	out := &outline{file: f, o: o}
	targets := f.NTuples()
	if path != "" || o.Stats {
		one, _, err := read.Find(f, path)
		if err != nil {
			return nil, err
		}
		targets = []rootfile.Object{one}
	}
	if !o.Stats {
		out.container()
	}
	for _, object := range targets {
		if err := out.ntuple(ctx, object); err != nil {
			return nil, err
		}
	}
	if o.Hex {
		if err := out.hex(ctx, targets); err != nil {
			return nil, err
		}
	}
	return &out.Outline, ctx.Err()
}

// outline is a description in the making.
type outline struct {
	provider.Outline
	file   *rootfile.File
	o      provider.InspectOptions
	prefix string // of the names of facts and lists: those of one of several ntuples
}

func (o *outline) fact(name string, value any) {
	o.AddFact(o.prefix+name, value)
}

// text is a fact that is left out if it is empty.
func (o *outline) text(name, value string) {
	if value != "" {
		o.fact(name, value)
	}
}

// list begins a list, whose rows are added by the result.
func (o *outline) list(name string, columns ...string) func(cells ...any) {
	return o.AddList(o.prefix+name, columns...)
}

// container describes the ROOT file.
func (o *outline) container() {
	f, h := o.file, o.file.Header()
	o.fact("bytes", f.Size())
	o.fact("ROOT version", fmt.Sprintf("%d.%02d/%02d", h.Version/10000, h.Version/100%100, h.Version%100))
	if h.Wide {
		o.fact("file header", "64-bit form")
	}
	if h.UUID != [16]byte{} {
		u := h.UUID
		o.fact("UUID", fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]))
	}
	o.fact("compression", settings(h.Compression))
	objects := o.list("objects", "path", "class", "cycle", "offset", "bytes")
	for _, obj := range f.Objects() {
		objects(obj.Path(), obj.Key.Class, int64(obj.Key.Cycle), obj.Key.Offset, obj.Key.Size)
	}
}

func settings(n uint32) string {
	s := compress.Settings(n)
	if s.Algorithm() == compress.None {
		return "none"
	}
	return fmt.Sprintf("%v, level %d", s.Algorithm(), n%100)
}

// ntuple describes one ntuple.
func (o *outline) ntuple(ctx context.Context, object rootfile.Object) error {
	if len(o.file.NTuples()) > 1 && !o.o.Stats {
		o.prefix = object.Path() + ": "
	}
	defer func() { o.prefix = "" }()
	l, err := read.List(ctx, o.file, object)
	if err != nil {
		o.fact("RNTuple", object.Path())
		return o.unreadable(err)
	}
	if o.o.Stats {
		if l.Err != nil {
			return l.Err
		}
		return o.sizes(ctx, l.Table)
	}
	o.fact("RNTuple", object.Path())
	o.fact("format", l.Format)
	o.fact("written by", l.Releases)
	if l.Schema == nil {
		o.fact("not readable", l.Err.Error())
		return nil
	}
	o.text("description", l.Schema.Description)
	o.text("writer", l.Schema.Writer)
	o.fact("entries", int64(l.Footer.Entries()))
	o.fact("fields", len(l.Schema.Fields))
	o.fact("columns", len(l.Schema.Columns))
	o.fact("cluster groups", len(l.Footer.Groups))
	clusters := 0
	for _, g := range l.Footer.Groups {
		clusters += int(g.Clusters)
	}
	o.fact("clusters", clusters)
	for _, a := range l.Footer.Attributes {
		o.fact("attribute set", a.Name)
	}
	if l.Err != nil {
		o.fact("not readable", l.Err.Error())
	} else {
		for _, s := range l.Table.Skipped() {
			o.fact("left out", fmt.Sprintf("field %q: %s", s.Name, s.Reason))
		}
	}
	if o.o.Detail == 0 {
		return nil
	}
	if err := o.checkColumns(l.Schema); err != nil {
		return err
	}
	o.fields(l.Schema)
	if l.Err != nil {
		return nil
	}
	return o.parts(ctx, l.Table)
}

// unreadable notes why bytes cannot be parsed. Other errors, those of reading them, are returned.
func (o *outline) unreadable(err error) error {
	if !fault.Is(err) {
		return err
	}
	o.fact("not readable", err.Error())
	return nil
}

// parts lists clusters, columns and pages.
func (o *outline) parts(ctx context.Context, t *read.Table) error {
	if err := t.Load(ctx); err != nil {
		return o.unreadable(err)
	}
	clusters := o.list("clusters", "cluster", "first entry", "entries", "columns", "pages", "bytes")
	for i := range t.Clusters() {
		if !o.hasGroup(i) {
			continue
		}
		c := &t.Clusters()[i]
		pages, bytes := 0, uint64(0)
		for id := range c.Columns {
			pages += len(c.Pages(uint32(id)))
			bytes += storedBytes(c.Pages(uint32(id)))
		}
		clusters(i, c.FirstEntry, c.Entries, len(c.Columns), pages, bytes)
	}
	if o.o.Detail > 1 {
		o.columns(t)
	}
	if o.o.Detail > 2 {
		o.pages(t)
	}
	return nil
}

func storedBytes(pages []envelope.Page) (n uint64) {
	for _, p := range pages {
		n += p.Size
	}
	return n
}

func (o *outline) hasGroup(i int) bool { return len(o.o.Groups) == 0 || slices.Contains(o.o.Groups, i) }

// hasField tells whether a field is one that was asked for, or inside one.
func (o *outline) hasField(s *envelope.Schema, id uint32) bool {
	path := s.Path(id)
	for _, p := range o.o.Columns {
		if path == p || strings.HasPrefix(path, p+".") {
			return true
		}
	}
	return len(o.o.Columns) == 0
}

// checkColumns checks that there are fields of the names that were asked for.
func (o *outline) checkColumns(s *envelope.Schema) error {
	for _, p := range o.o.Columns {
		if !slices.ContainsFunc(s.Fields, func(f envelope.Field) bool { return f.Name == p[strings.LastIndex(p, ".")+1:] }) {
			return fmt.Errorf("%w: %q", schema.ErrNoField, p)
		}
	}
	return nil
}

// eachField calls do with those of some fields, and of the ones in them, that were asked for.
func (o *outline) eachField(s *envelope.Schema, fields []uint32, do func(id uint32)) {
	for _, id := range fields {
		if o.hasField(s, id) {
			do(id)
		}
		o.eachField(s, s.Children(id), do)
	}
}

// fields lists the fields, each behind the one that it is in.
func (o *outline) fields(s *envelope.Schema) {
	fields := o.list("fields", "field", "path", "type", "role", "columns", "remark")
	o.eachField(s, s.Top(), func(id uint32) {
		f := &s.Fields[id]
		fields(id, s.Path(id), f.TypeName, f.Role.String(), columnsText(s, id), remark(s, f))
	})
}

// eachColumn calls do with those columns of clusters that were asked for.
func (o *outline) eachColumn(t *read.Table, do func(cluster int, c *envelope.Cluster, id uint32, desc *envelope.Column)) {
	s := t.Schema()
	for i := range t.Clusters() {
		c := &t.Clusters()[i]
		for id := range c.Columns {
			if desc := &s.Columns[id]; o.hasGroup(i) && o.hasField(s, desc.Field) {
				do(i, c, uint32(id), desc)
			}
		}
	}
}

// columnsText names the columns of a field and their types.
func columnsText(s *envelope.Schema, id uint32) string {
	var parts []string
	for _, c := range s.ColumnsOf(id) {
		parts = append(parts, fmt.Sprintf("%d %s", c, typeText(&s.Columns[c])))
	}
	for _, a := range s.AliasesOf(id) {
		parts = append(parts, fmt.Sprintf("→ %d", s.Aliases[a].Column))
	}
	return strings.Join(parts, ", ")
}

func typeText(c *envelope.Column) string {
	if low, high := c.Type.Bits(); low != high {
		return fmt.Sprintf("%v, %d bits", c.Type, c.Bits)
	}
	return c.Type.String()
}

func remark(s *envelope.Schema, f *envelope.Field) string {
	var parts []string
	if f.Flags&envelope.FieldRepetitive != 0 {
		parts = append(parts, fmt.Sprintf("%d items", f.ArraySize))
	}
	if f.Projected() && int64(f.Source) < int64(len(s.Fields)) {
		parts = append(parts, "shows "+s.Path(f.Source))
	}
	if f.Flags&envelope.FieldSoA != 0 {
		parts = append(parts, "structure of arrays")
	}
	if f.TypeAlias != "" {
		parts = append(parts, "alias "+f.TypeAlias)
	}
	if f.TypeVersion != 0 && f.TypeVersion != math.MaxUint32 { // that is a class without a version
		parts = append(parts, fmt.Sprintf("version %d", f.TypeVersion))
	}
	if f.Description != "" {
		parts = append(parts, f.Description)
	}
	return strings.Join(parts, "; ")
}

// columns lists the columns of each cluster.
func (o *outline) columns(t *read.Table) {
	s := t.Schema()
	columns := o.list("columns", "cluster", "column", "field", "type", "first element", "elements", "pages", "bytes", "raw bytes", "compression")
	o.eachColumn(t, func(cluster int, c *envelope.Cluster, id uint32, desc *envelope.Column) {
		if c.Columns[id].Suppressed() {
			columns(cluster, id, s.Path(desc.Field), typeText(desc), nil, nil, nil, nil, nil, "suppressed")
			return
		}
		pages := c.Pages(id)
		elements, raw := elementsOf(pages, desc.Bits)
		columns(cluster, id, s.Path(desc.Field), typeText(desc), c.Columns[id].FirstElement, elements, len(pages), storedBytes(pages), raw, settings(c.Columns[id].Compression))
	})
}

func elementsOf(pages []envelope.Page, bits uint16) (elements, raw uint64) {
	for _, p := range pages {
		elements += uint64(p.Elements)
		raw += column.PageSize(p.Elements, bits)
	}
	return elements, raw
}

// pages lists the pages of each column of each cluster.
func (o *outline) pages(t *read.Table) {
	pages := o.list("pages", "cluster", "column", "page", "offset", "bytes", "raw bytes", "elements", "checksum")
	o.eachColumn(t, func(cluster int, c *envelope.Cluster, id uint32, desc *envelope.Column) {
		for k, p := range c.Pages(id) {
			pages(cluster, id, k, p.Offset, p.Size, column.PageSize(p.Elements, desc.Bits), p.Elements, p.Checksum)
		}
	})
}

// sizes lists what each field takes, with the fields in it. Bytes that several pages share are counted
// for each.
func (o *outline) sizes(ctx context.Context, t *read.Table) error {
	if err := t.Load(ctx); err != nil {
		return err
	}
	s := t.Schema()
	if err := o.checkColumns(s); err != nil {
		return err
	}
	type size struct {
		elements, stored, raw uint64
		pages                 int
	}
	own := make([]size, len(s.Fields))
	total := uint64(0)
	for i := range t.Clusters() {
		c := &t.Clusters()[i]
		for id := range c.Columns {
			pages := c.Pages(uint32(id))
			elements, raw := elementsOf(pages, s.Columns[id].Bits)
			f := &own[s.Columns[id].Field]
			f.elements, f.raw, f.stored, f.pages = f.elements+elements, f.raw+raw, f.stored+storedBytes(pages), f.pages+len(pages)
			total += storedBytes(pages)
		}
	}
	fields := o.list("fields", "field", "type", "columns", "elements", "pages", "bytes", "raw bytes", "bits per element", "share")
	o.eachField(s, s.Top(), func(id uint32) {
		z, cells := own[id], []any{s.Path(id), s.Fields[id].TypeName, columnsText(s, id), nil, nil, nil, nil, nil, nil}
		if z.pages > 0 {
			cells = append(cells[:3], z.elements, z.pages, z.stored, z.raw,
				8*float64(z.stored)/float64(max(z.elements, 1)), provider.ShareOf(z.stored, total))
		}
		fields(cells...)
	})
	return nil
}

// listed are the parts of bytes of the container. What follows them is content.
func listed(b []byte, list func(c *wire.Coder)) (parts []provider.Part) {
	c := rootfile.Lister(b)
	list(c)
	for _, p := range c.Parts.List {
		parts = append(parts, provider.Part(p))
	}
	if c.Left() > 0 {
		parts = append(parts, provider.Part{Offset: c.Pos, Size: c.Left(), Text: "content"})
	}
	return parts
}

// recordParts are the key of a record, and its content as far as it has a meaning here.
func (o *outline) recordParts(b []byte, k rootfile.Key) []provider.Part {
	return listed(b, func(c *wire.Coder) {
		o.file.ListRecord(c, k)
		if k.Class != rootfile.ClassNTuple || int64(len(b)) != k.HeaderSize+k.ObjectSize {
			return
		}
		var a envelope.Anchor
		envelope.CodeAnchor(c, &a)
		const checksum = 8
		if n := c.Left() - checksum; n > 0 {
			c.Skip("of a newer version", n)
		}
		c.Skip("XXH3", checksum)
	})
}
