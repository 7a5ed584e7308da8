package envelope

import (
	"fmt"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Cluster is a range of entries, and the pages with their values.
type Cluster struct {
	FirstEntry uint64
	Entries    uint64 // below 2^56
	Flags      uint8  // those not known change nothing

	// Columns has an item for each column by its ID. It may be shorter than the schema: the cluster has nothing of
	// the columns that are missing, because they were added to the schema later.
	Columns []ColumnPages
	pages   []Page // of all columns, one after the other
}

// ColumnPages says what a cluster has of a column.
type ColumnPages struct {
	FirstElement int64  // in all of the column; negative if the column is suppressed here
	Compression  uint32 // 100·algorithm + level; the pages themselves tell how they are compressed
	from, to     uint32 // in Cluster.pages
}

// Suppressed tells that the cluster has the values in another representation.
func (c ColumnPages) Suppressed() bool { return c.FirstElement < 0 }

// Page is a run of values of a column.
type Page struct {
	Locator
	Elements uint32
	// Checksum tells that an XXH3 of the stored bytes, a little-endian u64, follows them; the locator's size is without it. In
	// 0.2.0.0 it was one of the uncompressed bytes; no file is known to have it.
	Checksum bool
}

// Pages gives the pages of a column, which there are none of if the cluster lacks the column.
func (c *Cluster) Pages(column uint32) []Page {
	if int64(column) >= int64(len(c.Columns)) {
		return nil
	}
	p := c.Columns[column]
	return c.pages[p.from:p.to:p.to]
}

// Has tells whether the cluster has pages of a column, maybe none, in this representation.
func (c *Cluster) Has(column uint32) bool {
	return int64(column) < int64(len(c.Columns)) && !c.Columns[column].Suppressed()
}

// AddColumn appends what a cluster that is being written has of its next column.
func (c *Cluster) AddColumn(firstElement int64, compression uint32, pages []Page) {
	from := uint32(len(c.pages))
	c.pages = append(c.pages, pages...)
	c.Columns = append(c.Columns, ColumnPages{FirstElement: firstElement, Compression: compression, from: from, to: uint32(len(c.pages))})
}

const (
	minSummary     = recordHead + 16
	minColumnPages = listHead + 8
	minPage        = 4 + minLocator
	flagSharded    = 0x01
)

// ParsePageList reads and checks the page list of a cluster group.
func ParsePageList(env []byte, s *Schema, g ClusterGroup) (_ []Cluster, err error) {
	defer func() { err = fault.In(err, KindPageList.String(), -1) }()
	w, err := open(env, KindPageList, s.Format)
	if err != nil {
		return nil, err
	}
	var clusters []Cluster
	if w.pageList(s, &clusters); w.Err != nil {
		return nil, w.Err
	}
	if len(clusters) != int(g.Clusters) {
		return nil, fault.Corruptf("%d clusters, the footer says %d", len(clusters), g.Clusters)
	}
	return clusters, checkClusters(clusters, g)
}

// AppendPageList appends a page list in format 1.0.
func AppendPageList(dst []byte, s *Schema, clusters []Cluster) ([]byte, error) {
	w := begin(dst)
	w.pageList(s, &clusters)
	return w.finish(KindPageList)
}

func (w *coder) pageList(s *Schema, clusters *[]Cluster) {
	w.headerChecksum(s.Checksum)
	w.summaries(clusters)
	w.locations(*clusters, len(s.Columns))
}

func (w *coder) summaries(clusters *[]Cluster) {
	list(w, "cluster", clusters, 0, len(*clusters), minSummary, (*Cluster).wire)
}

// wire describes a cluster: u64 first entry, and a u64 with the number of entries in the lower 56 bits and flags in
// the upper 8. Before 1.0, flags had 4 bits.
func (c *Cluster) wire(w *coder) {
	shift := 56
	if w.format != V1 {
		shift = 60
	}
	if w.Writing && c.Entries>>shift != 0 {
		w.Fail(fault.Limitf("cluster of %d entries", c.Entries))
	}
	word := uint64(c.Flags)<<shift | c.Entries
	w.U64("first entry", &c.FirstEntry)
	w.U64("flags and entries", &word)
	c.Flags, c.Entries = uint8(word>>shift), word&(1<<shift-1)
	if c.Flags&flagSharded != 0 {
		w.Fail(fault.Unsupportedf("sharded cluster"))
	}
}

// locations is a list of clusters, which are lists of columns, which are lists of pages:
//
//	list of clusters
//	  list of columns
//	    list of pages: i32 elements, negative if a checksum follows the page; locator
//	    i64 first element
//	    u32 compression, unless the column is suppressed
func (w *coder) locations(clusters []Cluster, columns int) {
	outer, n := w.openList(len(clusters), listHead)
	if w.Err == nil && n != len(clusters) {
		w.Fail(fault.Corruptf("pages of %d clusters, not %d", n, len(clusters)))
	}
	for i := 0; i < len(clusters) && w.Err == nil; i++ {
		w.name("cluster", i)
		w.columns(&clusters[i], columns)
		if w.Err != nil {
			w.in(fmt.Sprintf("cluster %d", i))
		}
	}
	w.close(outer)
}

// columns describes the columns of a cluster, of a schema with so many.
func (w *coder) columns(c *Cluster, columns int) {
	frame, n := w.openList(len(c.Columns), minColumnPages)
	if n > columns {
		w.Fail(fault.Corruptf("%d columns, the schema has %d", n, columns))
	}
	if w.Err == nil && !w.Writing {
		c.Columns = make([]ColumnPages, n)
		c.pages = make([]Page, 0, w.countPages(n))
	}
	for i := 0; i < n && w.Err == nil; i++ {
		w.name("column", i)
		w.column(c, &c.Columns[i])
		if w.Err != nil {
			w.in(fmt.Sprintf("column %d", i))
		}
	}
	w.close(frame)
}

// countPages adds up the pages of n columns, without moving on. It counts none that the bytes have no room for.
func (w *coder) countPages(n int) (pages int) {
	ahead := *w
	ahead.Parts = nil
	for range n {
		frame, n := ahead.openList(0, minPage)
		ahead.close(frame)
		pages += n
	}
	return pages
}

func (w *coder) column(c *Cluster, p *ColumnPages) {
	frame, n := w.openList(int(p.to-p.from), minPage)
	if !w.Writing && w.Err == nil {
		p.from, p.to = uint32(len(c.pages)), uint32(len(c.pages)+n)
		c.pages = c.pages[:p.to]
	}
	for i := p.from; i < p.to && w.Err == nil; i++ {
		w.page(&c.pages[i])
		if w.Err != nil {
			w.in(fmt.Sprintf("page %d", i-p.from))
		}
	}
	w.i64("first element", &p.FirstElement)
	switch {
	case w.Err != nil:
	case !p.Suppressed():
		w.U32("compression", &p.Compression)
	case n > 0:
		w.Fail(fault.Corruptf("suppressed column with %d pages", n))
	}
	w.close(frame)
}

func (w *coder) page(p *Page) {
	count := int32(p.Elements)
	if w.Writing && (count < 0 || count == 0 && p.Checksum) {
		w.Fail(fault.Limitf("page of %d elements", p.Elements))
	}
	if p.Checksum {
		count = -count
	}
	word := uint32(count)
	w.U32("", &word)
	count = int32(word)
	p.Checksum = count < 0
	if p.Checksum {
		count = -count
	}
	p.Elements = uint32(count)
	if w.Parts != nil {
		w.Amend("page: %d elements, checksum %t", p.Elements, p.Checksum)
	}
	if w.Err == nil && count < 0 {
		w.Fail(fault.Corruptf("page of 2^31 elements"))
	}
	w.locator(&p.Locator)
}

// checkClusters tells whether the clusters follow each other without gaps and make up their group.
func checkClusters(clusters []Cluster, g ClusterGroup) error {
	next, end := g.FirstEntry, g.FirstEntry+g.Entries
	for i := range clusters {
		c := &clusters[i]
		if c.FirstEntry != next || c.Entries > end-next {
			return fault.In(fault.Corruptf("entries from %d, %d of them, where %d is next and %d the end of the group", c.FirstEntry, c.Entries, next, end),
				fmt.Sprintf("cluster %d", i), -1)
		}
		next += c.Entries
	}
	if next != end {
		return fault.Corruptf("clusters end at entry %d, their group at %d", next, end)
	}
	return nil
}
