// Package write makes an RNTuple of Arrow arrays: fields and columns of an Arrow schema, pages and clusters of
// batches, and the envelopes that describe them. They go into a [rootfile.Writer].
//
//	batch ─ a node per field ─ a col per column ─ pages ─ spool of the column ─ blobs of the file
//	                                                      until the cluster ends
//
// Fields at the top are encoded at the same time, on as many goroutines as the options allow. The bytes depend neither
// on that nor on how rows come in batches: rows are looked at in steps that begin with the cluster.
package write

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
)

// Writer writes one RNTuple. It belongs to one goroutine, and ends with Close, also after Finish.
type Writer struct {
	o        Options
	out      *rootfile.Writer
	s        *envelope.Schema
	fields   []*field
	cols     []*col
	shadows  []shadow
	encoders chan *encoder // one for each goroutine
	header   envelope.Link

	first     int64 // entries of the finished clusters
	rows      int64 // of the cluster
	nextCheck int64 // rows of the cluster after which its size is looked at
	clusters  []envelope.Cluster
	pages     int // of clusters
	groups    []envelope.ClusterGroup

	attributes []envelope.AttributeSet // that an ntuple had which is continued

	group   []byte           // pages that become a blob
	pending []*envelope.Page // with offsets in group
	unpack  int64            // unpacked bytes of group
}

const (
	firstCheck = 256     // rows
	blobBytes  = 4 << 20 // pages next to each other are a blob of about so many bytes
	// groupPages bounds the page lists that are held in memory.
	groupPages = 1 << 20
	// mostRaw is how many times as large as ClusterBytes a cluster may be before it is packed.
	mostRaw = 10
	// stageBytes bounds the elements that all columns stage, unless pages would become tiny.
	stageBytes = 64 << 20
	leastPage  = 8 << 10
)

// New begins an ntuple. Its name is the path in the directories of the file.
func New(ctx context.Context, out *rootfile.Writer, top []arrow.Field, o Options) (*Writer, error) {
	o.used = map[string]bool{}
	name := o.Name[strings.LastIndexByte(o.Name, '/')+1:]
	w, err := newWriter(out, &envelope.Schema{Name: name, Description: o.Description, Writer: o.Program}, o)
	if err != nil {
		return nil, err
	}
	if err := w.add(top); err != nil {
		return nil, err
	}
	if err := w.o.checkUsed(); err != nil {
		return nil, err
	}
	w.s.Header = w.s.Counts()
	if w.o.streamed && o.StreamerInfo != "" { // goes into the footer, as ROOT's does, which is known at the end
		w.s.Extra = append(w.s.Extra, envelope.ExtraType{Content: envelope.ExtraStreamerInfo, Data: o.StreamerInfo})
	}
	return w, w.begun(ctx)
}

func newWriter(out *rootfile.Writer, s *envelope.Schema, o Options) (*Writer, error) {
	n := max(o.Parallelism, 1)
	w := &Writer{o: o, out: out, s: s, encoders: make(chan *encoder, n)}
	for range n {
		e, err := newEncoder(o.Compression)
		if err != nil {
			return nil, err
		}
		w.encoders <- e
	}
	return w, nil
}

// begun writes the header.
func (w *Writer) begun(ctx context.Context) error {
	env, err := envelope.AppendHeader(nil, w.s)
	if err == nil {
		w.header, err = w.envelope(ctx, env)
	}
	return err
}

// add adds fields at the top.
func (w *Writer) add(top []arrow.Field) error {
	w.o.entries = w.first
	b, err := build(w.s, w.cols, top, &w.o)
	if err != nil {
		return err
	}
	w.o.Projections = nil // they are made
	added := b.cols[len(w.cols):]
	w.fields, w.cols, w.shadows = append(w.fields, b.fields...), b.cols, append(w.shadows, b.shadows...)
	pageBytes := min(w.o.PageBytes, max(stageBytes/max(len(w.cols), 1), leastPage))
	for _, c := range added {
		w.ready(c, pageBytes)
	}
	for _, s := range b.shadows {
		w.ready(s.c, pageBytes)
	}
	w.begin()
	return nil
}

// ready gives a column the length of its pages.
func (w *Writer) ready(c *col, pageBytes int) {
	bits := int(c.bits)
	c.length = max(min(8*pageBytes/bits, math.MaxInt32)&^63, 64)
	c.open(w.o.Budget, w.o.TempDir)
}

// begin begins a cluster.
func (w *Writer) begin() {
	w.rows, w.nextCheck = 0, firstCheck
	if w.o.ClusterRows > 0 {
		w.nextCheck = w.o.ClusterRows
	}
}

// Rows is the number of entries so far.
func (w *Writer) Rows() int64 { return w.first + w.rows }

// Extend adds fields at the top. Entries that were written have zeros there: empty collections, and no optional
// values. The cluster ends.
func (w *Writer) Extend(ctx context.Context, top []arrow.Field) error {
	if err := w.Cut(ctx); err != nil {
		return err
	}
	return w.add(top)
}

// Write appends so many rows of arrays, one for each field at the top. The arrays were checked. After an error only
// Close is useful.
func (w *Writer) Write(ctx context.Context, columns []arrow.Array, rows int) error {
	for from := 0; from < rows; {
		n := int(min(int64(rows-from), w.nextCheck-w.rows))
		some := spans{{from, from + n}}
		err := w.each(ctx, len(w.fields), func(e *encoder, i int) error { return w.fields[i].put(e, columns[i], some) })
		if err != nil {
			return err
		}
		w.rows += int64(n)
		from += n
		if w.rows == w.nextCheck {
			if err := w.checkSize(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// each calls f for the numbers below n, on as many goroutines as there are encoders.
func (w *Writer) each(ctx context.Context, n int, f func(e *encoder, i int) error) error {
	return parallel.Each(ctx, n, cap(w.encoders), func(_ context.Context, i int) error {
		e := <-w.encoders
		defer func() { w.encoders <- e }()
		return f(e, i)
	})
}

// checkSize ends the cluster if it is large enough, or says when to check again.
func (w *Writer) checkSize(ctx context.Context) error {
	if w.o.ClusterRows > 0 {
		return w.Cut(ctx)
	}
	size, raw := int64(0), int64(0)
	for _, c := range w.cols {
		staged := int64(c.size(c.n))
		raw += c.raw + staged
		size += c.packed
		if c.raw > 0 {
			staged = int64(float64(staged) * (float64(c.packed) / float64(c.raw)))
		}
		size += staged
	}
	size = max(size, raw/mostRaw)
	if size >= w.o.ClusterBytes {
		return w.Cut(ctx)
	}
	left := float64(w.o.ClusterBytes-size) * float64(w.rows) / float64(max(size, 1))
	w.nextCheck += int64(max(min(left, float64(w.rows)), 1))
	return nil
}

// Cut ends the cluster, unless it has no entries.
func (w *Writer) Cut(ctx context.Context) error {
	if w.rows == 0 {
		return nil
	}
	all := w.cols
	for _, s := range w.shadows {
		all = append(all[:len(all):len(all)], s.c)
	}
	if err := w.each(ctx, len(all), func(e *encoder, i int) error { return all[i].flush(e) }); err != nil {
		return err
	}
	for _, s := range w.shadows {
		if err := s.compare(w.s); err != nil {
			return err
		}
	}
	cluster := envelope.Cluster{FirstEntry: uint64(w.first), Entries: uint64(w.rows)}
	pages, err := w.place(ctx)
	if err != nil {
		return err
	}
	for i, c := range w.cols {
		cluster.AddColumn(c.first, w.settings(), pages[i])
		w.pages += len(pages[i])
	}
	for _, c := range all {
		if err := c.next(w.o.Budget, w.o.TempDir); err != nil {
			return err
		}
	}
	for _, f := range w.fields {
		f.reset()
	}
	w.begin()
	return w.ended(ctx, cluster)
}

// ended adds a cluster whose pages are written.
func (w *Writer) ended(ctx context.Context, cluster envelope.Cluster) error {
	w.clusters = append(w.clusters, cluster)
	w.first += int64(cluster.Entries)
	if w.pages >= groupPages {
		return w.endGroup(ctx)
	}
	return nil
}

// settings are the compression settings, of which all that compress nothing are 0.
func (w *Writer) settings() uint32 {
	if w.o.Compression.Algorithm() == compress.None {
		return 0
	}
	return uint32(w.o.Compression)
}

// content is what makes pages equal.
type content struct {
	checksum  uint64
	size, raw int
}

// stored is where a page is.
type stored struct {
	c  *col
	p  page
	at *envelope.Page
}

// place writes the pages of the cluster, equal ones once, and says where they are.
func (w *Writer) place(ctx context.Context) ([][]envelope.Page, error) {
	known := map[content]stored{}
	all := make([][]envelope.Page, len(w.cols))
	type duplicate struct{ page, of *envelope.Page }
	var duplicates []duplicate
	var other []byte
	for i, c := range w.cols {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all[i] = make([]envelope.Page, len(c.pages))
		for k, p := range c.pages {
			out := &all[i][k]
			out.Elements, out.Checksum, out.Size = uint32(p.elements), !w.o.NoChecksums, uint64(p.size)
			b, err := w.room(ctx, p.size)
			if err == nil {
				b, err = c.read(p, b)
			}
			if err != nil {
				return nil, err
			}
			key := content{p.checksum, p.size, p.raw}
			if same, ok := known[key]; ok && !w.o.NoSharedPages {
				if other, err = same.c.read(same.p, other); err != nil {
					return nil, err
				}
				if bytes.Equal(b, other) {
					duplicates = append(duplicates, duplicate{out, same.at})
					continue
				}
			}
			known[key] = stored{c, p, out}
			w.addPage(out, p.checksum, p.raw)
		}
	}
	if err := w.flushBlob(ctx); err != nil {
		return nil, err
	}
	for _, t := range duplicates {
		t.page.Offset = t.of.Offset
	}
	return all, nil
}

// room is memory for a page of so many bytes behind those of the next blob.
func (w *Writer) room(ctx context.Context, size int) ([]byte, error) {
	most := uint64(blobBytes)
	if w.o.MaxKeySize > 0 {
		most = min(most, w.o.MaxKeySize)
	}
	if len(w.group) > 0 && uint64(len(w.group)+size+checksumBytes) > most {
		if err := w.flushBlob(ctx); err != nil {
			return nil, err
		}
	}
	n := len(w.group)
	w.group = slices.Grow(w.group, size+checksumBytes)
	return w.group[n:n:cap(w.group)], nil
}

const checksumBytes = 8

// addPage adds the page that is in the room behind those of the next blob.
func (w *Writer) addPage(out *envelope.Page, checksum uint64, raw int) {
	out.Offset = uint64(len(w.group))
	w.pending = append(w.pending, out)
	w.group = w.group[:len(w.group)+int(out.Size)]
	if !w.o.NoChecksums {
		w.group = binary.LittleEndian.AppendUint64(w.group, checksum)
	}
	w.unpack += int64(raw)
}

func (w *Writer) flushBlob(ctx context.Context) error {
	if len(w.pending) == 0 {
		return nil
	}
	at, err := w.out.Blob(ctx, min(w.unpack, math.MaxUint32), w.group)
	if err != nil {
		return err
	}
	for _, p := range w.pending {
		p.Offset += at
	}
	w.group, w.pending, w.unpack = w.group[:0], w.pending[:0], 0
	return nil
}

// envelope writes an envelope.
func (w *Writer) envelope(ctx context.Context, env []byte) (envelope.Link, error) {
	e := <-w.encoders
	packed, err := e.z.Append(nil, env)
	w.encoders <- e
	if err != nil {
		return envelope.Link{}, err
	}
	at, err := w.out.Blob(ctx, int64(len(env)), packed)
	return envelope.Link{Length: uint64(len(env)), Locator: envelope.Locator{Offset: at, Size: uint64(len(packed))}}, err
}

// endGroup writes the page list of the clusters since the last one.
func (w *Writer) endGroup(ctx context.Context) error {
	if len(w.clusters) == 0 {
		return nil
	}
	env, err := envelope.AppendPageList(nil, w.s, w.clusters)
	if err != nil {
		return err
	}
	g := envelope.ClusterGroup{FirstEntry: w.clusters[0].FirstEntry, Clusters: uint32(len(w.clusters))}
	g.Entries = uint64(w.first) - g.FirstEntry
	if g.PageList, err = w.envelope(ctx, env); err != nil {
		return err
	}
	w.groups, w.clusters, w.pages = append(w.groups, g), nil, 0
	return nil
}

// Finish writes what is left, the footer and the anchor, and ends the file.
func (w *Writer) Finish(ctx context.Context) error {
	if err := w.Cut(ctx); err != nil {
		return err
	}
	if err := w.End(ctx); err != nil {
		return err
	}
	return w.out.Finish(ctx)
}

// End writes the footer and the anchor. The file may get other objects.
func (w *Writer) End(ctx context.Context) error {
	if err := w.endGroup(ctx); err != nil {
		return err
	}
	env, err := envelope.AppendFooter(nil, w.s, &envelope.Footer{Groups: w.groups, Attributes: w.attributes})
	if err != nil {
		return err
	}
	footer, err := w.envelope(ctx, env)
	if err != nil {
		return err
	}
	anchor := envelope.Anchor{Version: envelope.Version{Epoch: 1, Patch: 1}, Header: w.header, Footer: footer, MaxKeySize: w.o.MaxKeySize}
	if err := w.out.Object(w.o.Name, envelope.AnchorClass, "", envelope.AppendAnchor(nil, anchor)); err != nil {
		return fmt.Errorf("ntuple: %w", err)
	}
	return nil
}

// Close gives back memory and temporary files.
func (w *Writer) Close() error {
	var errs []error
	for _, c := range w.cols {
		errs = append(errs, c.spool.Close())
	}
	return errors.Join(append(errs, w.out.Close())...)
}
