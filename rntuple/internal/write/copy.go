package write

import (
	"context"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
)

// Copy writes an ntuple of pages that are packed already. It belongs to one goroutine.
type Copy struct {
	w     *Writer
	pages [][]*envelope.Page // of the cluster, by column
}

// NewCopy begins an ntuple with a schema, and writes its header. The rest of the schema may change until End.
func NewCopy(ctx context.Context, out *rootfile.Writer, s *envelope.Schema, o Options) (*Copy, error) {
	w, err := newWriter(out, s, o)
	if err != nil {
		return nil, err
	}
	return &Copy{w: w, pages: make([][]*envelope.Page, len(s.Columns))}, w.begun(ctx)
}

// Continue goes on with an ntuple of the file: with its schema, to which fields at the top were added, its header and its clusters.
func Continue(out *rootfile.Writer, s *envelope.Schema, header envelope.Link, f *envelope.Footer, o Options) (*Copy, error) {
	w, err := newWriter(out, s, o)
	if err != nil {
		return nil, err
	}
	w.header, w.groups, w.attributes, w.first = header, f.Groups, f.Attributes, int64(f.Entries())
	return &Copy{w: w, pages: make([][]*envelope.Page, len(s.Columns))}, nil
}

// Page appends a page to a column of the cluster: so many elements, which take raw bytes unpacked. It is the page for [Copy.Again].
func (c *Copy) Page(ctx context.Context, column int, elements uint32, raw int, packed []byte) (*envelope.Page, error) {
	room, err := c.w.room(ctx, len(packed))
	if err != nil {
		return nil, err
	}
	copy(room[:len(packed)], packed)
	p := &envelope.Page{Elements: elements, Checksum: !c.w.o.NoChecksums}
	p.Size = uint64(len(packed))
	c.w.addPage(p, xxh3.Hash(packed), raw)
	c.Again(column, p)
	return p, nil
}

// Again appends a page of the cluster to a column once more.
func (c *Copy) Again(column int, p *envelope.Page) { c.pages[column] = append(c.pages[column], p) }

// EndCluster ends the cluster. first has the number of the first element of each column in all clusters, settings the compression.
func (c *Copy) EndCluster(ctx context.Context, entries uint64, first []int64, settings []uint32) error {
	if err := c.w.flushBlob(ctx); err != nil {
		return err
	}
	cluster := envelope.Cluster{FirstEntry: uint64(c.w.first), Entries: entries}
	var pages []envelope.Page
	for i, list := range c.pages {
		pages = pages[:0]
		for _, p := range list {
			pages = append(pages, *p)
		}
		cluster.AddColumn(first[i], settings[i], pages)
		c.w.pages += len(pages)
		c.pages[i] = list[:0]
	}
	return c.w.ended(ctx, cluster)
}

// End writes the footer and the anchor. The file may get other objects.
func (c *Copy) End(ctx context.Context) error { return c.w.End(ctx) }
