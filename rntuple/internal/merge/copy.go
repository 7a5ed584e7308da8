package merge

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/read"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/rntuple/internal/write"
)

// copier is what copying takes.
type copier struct {
	settings compress.Settings // 0: as pages are
	encoders map[compress.Settings]*compress.Encoder
	decoder  compress.Decoder
	raw      []byte
	values   []byte
	page     []byte
	packed   []byte

	out     *write.Copy
	columns []target
}

// target is a column of the result.
type target struct {
	elements int64 // of the clusters so far
	stored   bool  // some of them
	repeat   int64 // elements of an entry, if it is in no collection
	within   int64 // the column that counts its elements if it is in a collection, or -1
}

// Begin begins the result, after all ntuples were added.
func (m *Merger) Begin(ctx context.Context, out *rootfile.Writer, o write.Options) (err error) {
	if m.old == nil {
		m.s.Writer = o.Program
	}
	m.columns = make([]target, len(m.s.Columns))
	for i := range m.columns {
		if m.columns[i], err = m.target(uint32(i)); err != nil {
			return err
		}
	}
	if m.old != nil {
		m.stored()
		m.out, err = write.Continue(out, m.s, m.old.Anchor().Header, m.old.Footer(), o)
		return err
	}
	m.out, err = write.NewCopy(ctx, out, m.s, o)
	return err
}

// stored counts what the clusters of the ntuple have that is continued.
func (m *Merger) stored() {
	for c := range m.old.Schema().Columns {
		out := &m.columns[c]
		if out.within < 0 {
			out.elements = m.old.NumRows() * out.repeat
		}
		for i := range m.old.Clusters() {
			cl := &m.old.Clusters()[i]
			if !cl.Has(uint32(c)) {
				continue
			}
			out.elements = cl.Columns[c].FirstElement
			for _, page := range cl.Pages(uint32(c)) {
				out.elements += int64(page.Elements)
				out.stored = out.stored || page.Elements > 0
			}
		}
	}
}

func (m *Merger) target(id uint32) (target, error) {
	at := m.s.Columns[id].Field
	if first := m.s.ColumnsOf(at)[0]; first != id { // the characters of texts
		return target{within: int64(first)}, nil
	}
	c := target{repeat: 1, within: -1}
	for {
		f := &m.s.Fields[at]
		if f.Flags&envelope.FieldRepetitive != 0 {
			if f.ArraySize > math.MaxInt32 || c.repeat*int64(f.ArraySize) > math.MaxInt32 {
				return c, fault.Limitf("field %q has more than 2^31 values in an entry", m.s.Path(at))
			}
			c.repeat *= int64(f.ArraySize)
		}
		if f.Parent == at {
			return c, nil
		}
		at = f.Parent
		if r := m.s.Fields[at].Role; r == envelope.RoleCollection || r == envelope.RoleVariant {
			own := m.s.ColumnsOf(at)
			if len(own) == 0 {
				return c, fault.Corruptf("field %q has no column of its own", m.s.Path(at))
			}
			return target{within: int64(own[0])}, nil
		}
	}
}

// Copy copies the clusters of an ntuple. After each it tells the number of its entries.
func (m *Merger) Copy(ctx context.Context, t *read.Table, done func(entries int64)) error {
	if err := t.Load(ctx); err != nil {
		return err
	}
	x, err := m.match(t.Schema())
	if err != nil {
		return t.Located(err)
	}
	for i := range t.Clusters() {
		if err := m.cluster(ctx, t, x, i); err != nil {
			return err
		}
		done(int64(t.Clusters()[i].Entries))
	}
	return nil
}

// part is what a cluster has of a column.
type part struct {
	id       uint32 // in the ntuple
	has      bool
	have     int64 // elements
	zeros    int64 // in front of them
	settings uint32
}

func (m *Merger) cluster(ctx context.Context, t *read.Table, x *mapping, i int) error {
	cl := &t.Clusters()[i]
	parts, err := m.parts(cl, x)
	if err != nil {
		return t.Located(fault.In(err, fmt.Sprintf("cluster %d", i), -1))
	}
	var ids []uint32
	var to []int
	first, settings := make([]int64, len(parts)), make([]uint32, len(parts))
	for c := range parts {
		p := &parts[c]
		out := &m.columns[c]
		deferred, err := m.begin(ctx, c, p)
		if err != nil {
			return err
		}
		first[c], settings[c] = out.elements+deferred, p.settings
		out.elements += p.zeros + p.have
		if p.has {
			ids, to = append(ids, p.id), append(to, c)
		}
	}
	type place struct {
		offset, size uint64
		column       int
	}
	known := map[place]*envelope.Page{}
	err = t.CopyPages(ctx, i, ids, func(k int, p read.PageRange, packed []byte) error {
		if p.Elements == 0 {
			return nil
		}
		// Pages that share bytes go on doing so.
		from, out := &x.from.Columns[ids[k]], &m.s.Columns[to[k]]
		key := place{p.Offset, p.Size, -1}
		same := alike(from, out) && compress.Settings(parts[to[k]].settings) == compress.Settings(cl.Columns[ids[k]].Compression)
		if !same {
			key.column = to[k]
		}
		if page := known[key]; page != nil && page.Elements == p.Elements {
			m.out.Again(to[k], page)
			return nil
		}
		raw := int(p.RawBytes())
		m.Copied++
		if !same {
			m.Copied, m.Encoded = m.Copied-1, m.Encoded+1
			var err error
			if packed, raw, err = m.encode(p, packed, from, out, parts[to[k]].settings); err != nil {
				return err
			}
		}
		page, err := m.out.Page(ctx, to[k], p.Elements, raw, packed)
		known[key] = page
		return err
	})
	if err != nil {
		return err
	}
	return m.out.EndCluster(ctx, cl.Entries, first, settings)
}

// parts are what a cluster has of the columns of the result.
func (m *Merger) parts(cl *envelope.Cluster, x *mapping) ([]part, error) {
	parts := make([]part, len(m.columns))
	usual := uint32(m.settings) // of the columns that it lacks
	for c := range parts {
		p := &parts[c]
		if c < len(x.columns) {
			for _, id := range x.columns[c] {
				if !p.has && cl.Has(id) {
					p.has, p.id, p.settings = true, id, cl.Columns[id].Compression
				}
			}
		}
		for _, page := range cl.Pages(p.id) {
			if p.has {
				p.have += int64(page.Elements)
			}
		}
		if usual == 0 {
			usual = p.settings
		}
	}
	for c := range parts {
		p, out := &parts[c], &m.columns[c]
		if !p.has || m.settings != 0 {
			p.settings = cmp.Or(uint32(m.settings), usual)
		}
		due := int64(cl.Entries) * out.repeat
		if out.within >= 0 {
			if due = p.have; !p.has && parts[out.within].have > 0 {
				return nil, fault.Corruptf("no pages of a column of field %q, which has values", m.s.Path(m.s.Columns[c].Field))
			}
		}
		late := !p.has || x.from.Columns[p.id].Flags&envelope.ColumnDeferred != 0
		if p.zeros = due - p.have; p.zeros < 0 || p.zeros > 0 && !late {
			return nil, fault.Corruptf("%d elements of field %q where %d are due", p.have, m.s.Path(m.s.Columns[c].Field), due)
		}
	}
	return parts, nil
}

const zeroPage = 64 << 10 // elements

// begin writes the zeros in front of what a cluster has of a column. Those of a late column that was not stored before are deferred, which need no pages.
func (m *Merger) begin(ctx context.Context, c int, p *part) (deferred int64, err error) {
	out, desc := &m.columns[c], &m.s.Columns[c]
	if late := c >= m.s.Header.Columns; late && !out.stored {
		if desc.FirstElement = out.elements + p.zeros; desc.FirstElement > 0 {
			desc.Flags |= envelope.ColumnDeferred
		}
		out.stored = p.have > 0
		return p.zeros, nil
	}
	var whole *envelope.Page
	for left := p.zeros; left > 0; {
		n := uint32(min(left, zeroPage))
		left -= int64(n)
		if whole != nil && whole.Elements == n {
			m.out.Again(c, whole)
			continue
		}
		if desc.Type == column.Real32Quant {
			return 0, fault.Unsupportedf("field %q has no zeros for the entries of ntuples that lack it: %v from %v to %v", m.s.Path(desc.Field), desc.Type, desc.Min, desc.Max)
		}
		m.raw = make([]byte, column.PageSize(n, desc.Bits))
		packed, err := m.pack(m.raw, p.settings)
		if err != nil {
			return 0, err
		}
		if whole, err = m.out.Page(ctx, c, n, len(m.raw), packed); err != nil {
			return 0, err
		}
		m.Encoded++
	}
	return 0, nil
}

func (m *Merger) pack(content []byte, settings uint32) (packed []byte, err error) {
	s := compress.Settings(settings)
	e := m.encoders[s]
	if e == nil {
		if e, err = compress.NewEncoder(s); err != nil {
			return nil, err
		}
		m.encoders[s] = e
	}
	m.packed, err = e.Append(m.packed[:0], content)
	return m.packed, err
}

// encode packs a page anew, perhaps in another encoding.
func (m *Merger) encode(p read.PageRange, packed []byte, from, to *envelope.Column, settings uint32) ([]byte, int, error) {
	scratch.Slice(&m.raw, int(p.RawBytes()))
	if err := m.decoder.Decode(m.raw, packed); err != nil {
		return nil, 0, err
	}
	if !alike(from, to) {
		kind := kindOf(to)
		in, err := column.NewCodec(from.Type, from.Bits, from.Min, from.Max, kind)
		if err != nil {
			return nil, 0, err
		}
		out, err := column.NewCodec(to.Type, to.Bits, to.Min, to.Max, kind)
		if err != nil {
			return nil, 0, err
		}
		n := int(p.Elements)
		scratch.Slice(&m.values, kind.Size(n))
		if err := in.Decode(m.values, 0, m.raw, n); err != nil {
			return nil, 0, err
		}
		if m.page, err = out.Append(m.page[:0], m.values, 0, n); err != nil {
			return nil, 0, err
		}
		packed, err := m.pack(m.page, settings)
		return packed, len(m.page), err
	}
	packed, err := m.pack(m.raw, settings)
	return packed, len(m.raw), err
}

// End writes the rest of the result but the file that it is in.
func (m *Merger) End(ctx context.Context) error { return m.out.End(ctx) }
