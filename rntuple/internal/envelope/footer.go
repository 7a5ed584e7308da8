package envelope

import (
	"fmt"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Footer says where the page lists are, and what other ntuples hold attributes of this one. What it adds to the schema is in the [Schema].
type Footer struct {
	Groups     []ClusterGroup
	Attributes []AttributeSet // nil if the list is absent, as before format 1.0.1
}

// ClusterGroup is a run of clusters whose pages one page list names.
type ClusterGroup struct {
	FirstEntry uint64
	Entries    uint64
	Clusters   uint32
	PageList   Link
}

// AttributeSet is a linked ntuple. Its anchor, of Length bytes, is no key of its own: [ParseAnchor] reads it as one of [AnchorClass].
type AttributeSet struct {
	Major, Minor uint16 // version of its schema
	Length       uint32
	Anchor       Locator
	Name         string
}

const (
	minGroup     = recordHead + 20 + 8 + minLocator
	minAttribute = recordHead + 8 + minLocator + 4
)

// ParseFooter reads and checks the footer that belongs to a schema, and adds to the schema what the footer extends it by.
// After an error the schema must not be used.
func ParseFooter(env []byte, s *Schema) (_ *Footer, err error) {
	defer func() { err = fault.In(err, KindFooter.String(), -1) }()
	w, err := open(env, KindFooter, s.Format)
	if err != nil {
		return nil, err
	}
	f := &Footer{}
	if w.footer(s, f); w.Err != nil {
		return nil, w.Err
	}
	if s.Counts() != s.Header {
		if err := s.Check(); err != nil {
			return nil, err
		}
	}
	return f, f.check()
}

// AppendFooter appends a footer in format 1.0, with all of the schema that is not in its header.
func AppendFooter(dst []byte, s *Schema, f *Footer) ([]byte, error) {
	w := begin(dst)
	w.footer(s, f)
	return w.finish(KindFooter)
}

func (w *coder) footer(s *Schema, f *Footer) {
	w.featureFlags()
	w.headerChecksum(s.Checksum)
	w.extension(s)
	w.groups(f)
	if w.Writing && f.Attributes != nil || !w.Writing && w.format == V1 && w.Left() > 0 {
		w.attributes(f)
	}
}

// extension is a record frame of what the schema has besides the header. It may be empty.
func (w *coder) extension(s *Schema) {
	w.name("schema extension", -1)
	frame := w.open()
	if w.Writing || w.Left() > 0 {
		w.description(s, s.Header, s.Counts())
	}
	w.close(frame)
}

// groups is the list of cluster groups. In 0.2.0.0 a list of column groups stands before it, which must be empty, and
// maybe one of user metadata behind, which is left out.
func (w *coder) groups(f *Footer) {
	if w.format == V02 {
		w.emptyList("column groups")
	}
	list(w, "cluster group", &f.Groups, 0, len(f.Groups), minGroup, (*ClusterGroup).wire)
}

func (g *ClusterGroup) wire(w *coder) {
	w.U64("first entry", &g.FirstEntry)
	w.U64("entries", &g.Entries)
	w.U32("clusters", &g.Clusters)
	w.U64("page list: length", &g.PageList.Length)
	w.locator(&g.PageList.Locator)
}

func (w *coder) attributes(f *Footer) {
	list(w, "attribute set", &f.Attributes, 0, len(f.Attributes), minAttribute, (*AttributeSet).wire)
	if f.Attributes == nil {
		f.Attributes = []AttributeSet{}
	}
}

func (a *AttributeSet) wire(w *coder) {
	w.U16("major version", &a.Major)
	w.U16("minor version", &a.Minor)
	w.U32("anchor: length", &a.Length)
	w.locator(&a.Anchor)
	w.str("name", &a.Name)
}

// Entries is the number of entries of the ntuple.
func (f *Footer) Entries() uint64 {
	entries := uint64(0)
	for _, g := range f.Groups {
		entries = max(entries, g.FirstEntry+g.Entries)
	}
	return entries
}

// check tells whether the groups follow each other without gaps.
func (f *Footer) check() error {
	next := uint64(0)
	for i, g := range f.Groups {
		if g.FirstEntry != next || g.Entries > math.MaxInt64-next {
			return fault.In(fault.Corruptf("entries from %d, %d of them, where %d is next", g.FirstEntry, g.Entries, next), fmt.Sprintf("cluster group %d", i), -1)
		}
		next += g.Entries
	}
	return nil
}
