package read

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
)

// Options are those of [Open]. The zero value is the default.
type Options struct {
	Fields     fields.Options
	Trusted    bool  // checksums of pages are not compared
	CacheBytes int64 // of decoded pages that batches share; default 64 MiB
}

const defaultCacheBytes = 64 << 20

// Table is an RNTuple as a [table.Table]. It may be used by many goroutines at once.
type Table struct {
	file   *rootfile.File
	path   string // of the ntuple in the file
	anchor envelope.Anchor
	schema *envelope.Schema
	footer *envelope.Footer
	tree   *fields.Tree
	arrow  *arrow.Schema
	pages  pages

	loading  sync.Mutex
	clusters []envelope.Cluster // nil until Load
	loaded   atomic.Bool
}

// Open reads the anchor, the header and the footer of the ntuple at a path of a file, or of an attribute set.
func Open(ctx context.Context, file *rootfile.File, path string, o Options) (*Table, error) {
	object, set, err := Find(file, path)
	if err != nil {
		return nil, err
	}
	t, err := OpenObject(ctx, file, object, o)
	if err != nil || set == "" {
		return t, err
	}
	return t.OpenAttributes(ctx, set, o)
}

// Find finds the ntuple at a path. Of the path of an attribute set it finds the ntuple that has it, and returns the name of the set.
func Find(file *rootfile.File, path string) (object rootfile.Object, set string, err error) {
	if object, err = file.FindNTuple(path); err == nil {
		return object, "", nil
	}
	for i := range path {
		if path[i] != ':' {
			continue
		}
		if owner, missing := file.FindNTuple(path[:i]); missing == nil {
			return owner, path[i+1:], nil
		}
	}
	return object, "", err
}

// AttributePath is the path of an attribute set of the ntuple at a path.
func AttributePath(path, set string) string { return path + ":" + set }

// OpenObject is [Open] for an object of the file that is an ntuple.
func OpenObject(ctx context.Context, file *rootfile.File, object rootfile.Object, o Options) (*Table, error) {
	anchor, err := readAnchor(ctx, file, object)
	if err != nil {
		return nil, err
	}
	return openAnchor(ctx, file, object.Path(), anchor, o)
}

func readAnchor(ctx context.Context, file *rootfile.File, object rootfile.Object) (envelope.Anchor, error) {
	payload, err := file.Payload(ctx, object.Key)
	if err != nil {
		return envelope.Anchor{}, err
	}
	anchor, err := envelope.ParseAnchor(payload, object.Key.Class)
	return anchor, fault.Of(err, file.Name())
}

func openAnchor(ctx context.Context, file *rootfile.File, path string, anchor envelope.Anchor, o Options) (_ *Table, err error) {
	t := &Table{file: file, path: path, anchor: anchor}
	defer func() { err = t.Located(err) }()
	if anchor.Format.ListedOnly() {
		return nil, fault.Unsupportedf("RNTuple of a pre-release (class version %d, %s): its schema may be listed, its values cannot be read", anchor.ClassVersion, anchor.Releases())
	}
	if err := anchor.Check(file.Size()); err != nil {
		return nil, err
	}
	both, err := t.envelopes(ctx, []envelope.Link{anchor.Header, anchor.Footer})
	if err != nil {
		return nil, err
	}
	if t.schema, err = envelope.ParseHeader(both[0], anchor.Format); err != nil {
		return nil, err
	}
	if t.footer, err = envelope.ParseFooter(both[1], t.schema); err != nil {
		return nil, err
	}
	t.tree = fields.New(t.schema, o.Fields)
	t.arrow = t.arrowSchema()
	t.pages = pages{
		file: file, maxKey: anchor.MaxKeySize, trusted: o.Trusted,
		decoded: lru.New[pageKey, []byte](cmp.Or(o.CacheBytes, defaultCacheBytes)),
		scratch: sync.Pool{New: func() any { return &scratch{} }},
	}
	return t, nil
}

// Located adds the ntuple and the file to an error.
func (t *Table) Located(err error) error {
	return fault.Of(fault.In(err, fmt.Sprintf("ntuple %q", t.path), -1), t.file.Name())
}

// envelopes reads and unpacks envelopes, in few requests.
func (t *Table) envelopes(ctx context.Context, links []envelope.Link) ([][]byte, error) {
	parts := make([][]storage.ByteRange, len(links))
	var all []storage.ByteRange
	for i, l := range links {
		if err := l.Check(t.file.Size(), t.anchor.MaxKeySize); err != nil {
			return nil, err
		}
		var err error
		if parts[i], err = t.file.BlobRanges(ctx, l.Offset, l.Size, t.anchor.MaxKeySize); err != nil {
			return nil, err
		}
		all = append(all, parts[i]...)
	}
	have, err := storage.Prefetch(ctx, all, storage.DefaultCoalesce(t.Latency()))
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(links))
	var d compress.Decoder
	for i, l := range links {
		if out[i], err = d.DecodeGrow(rootfile.Joined(have, parts[i]), l.Length); err != nil {
			return nil, fault.In(err, "envelope", int64(l.Offset))
		}
	}
	return out, nil
}

// Load reads the page lists, unless that is done. Only then the table has stripes.
func (t *Table) Load(ctx context.Context) (err error) {
	if t.loaded.Load() {
		return nil
	}
	t.loading.Lock()
	defer t.loading.Unlock()
	if t.loaded.Load() {
		return nil
	}
	defer func() { err = t.Located(err) }()
	links := make([]envelope.Link, len(t.footer.Groups))
	for i, g := range t.footer.Groups {
		links[i] = g.PageList
	}
	lists, err := t.envelopes(ctx, links)
	if err != nil {
		return err
	}
	var clusters []envelope.Cluster
	for i, g := range t.footer.Groups {
		of, err := envelope.ParsePageList(lists[i], t.schema, g)
		if err != nil {
			return fault.In(err, fmt.Sprintf("cluster group %d", i), int64(g.PageList.Offset))
		}
		clusters = append(clusters, of...)
	}
	t.clusters = clusters
	t.loaded.Store(true)
	return nil
}

// arrowSchema has the name, description and writer of the ntuple as metadata.
func (t *Table) arrowSchema() *arrow.Schema {
	all := make([]arrow.Field, len(t.tree.Fields))
	for i, f := range t.tree.Fields {
		all[i] = f.Arrow
	}
	var keys, values []string
	for _, kv := range [][2]string{{KeyName, t.schema.Name}, {KeyDescription, t.schema.Description}, {KeyWriter, t.schema.Writer}} {
		if kv[1] != "" {
			keys, values = append(keys, kv[0]), append(values, kv[1])
		}
	}
	for _, e := range t.schema.Extra {
		if e.Content == envelope.ExtraStreamerInfo && e.TypeName == "" {
			keys, values = append(keys, KeyStreamerInfo), append(values, base64.StdEncoding.EncodeToString([]byte(e.Data)))
			break
		}
	}
	meta := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(all, &meta)
}

// Metadata keys of the Arrow schema. A key is absent where its value is empty.
const (
	KeyName        = "rntuple.name"
	KeyDescription = "rntuple.description"
	KeyWriter      = "rntuple.writer"
	// KeyStreamerInfo describes the classes of values that ROOT's streamers made: a TList, in base64.
	KeyStreamerInfo = "rntuple.streamer_info"
)

// ArrowSchema is the schema of all fields that can be read.
func (t *Table) ArrowSchema() *arrow.Schema { return t.arrow }

// Skipped are the top-level fields that cannot be read.
func (t *Table) Skipped() []fields.Skipped { return t.tree.Skipped }

// Anchor is where reading began.
func (t *Table) Anchor() envelope.Anchor { return t.anchor }

// Schema is the header, with what the footer adds to it.
func (t *Table) Schema() *envelope.Schema { return t.schema }

// Footer is what the footer says beside the schema.
func (t *Table) Footer() *envelope.Footer { return t.footer }

// Path is the place of the ntuple in the directories of the file, without a leading slash.
func (t *Table) Path() string { return t.path }

// Clusters are those of the ntuple, after Load.
func (t *Table) Clusters() []envelope.Cluster { return t.clusters }

// Count makes a reader that counts its requests, for [Table.Requests].
func Count(r storage.Reader) storage.Reader { return &table.Counted{Reader: r} }

// OpenAttributes opens a linked attribute set.
func (t *Table) OpenAttributes(ctx context.Context, name string, o Options) (*Table, error) {
	for _, a := range t.footer.Attributes {
		if a.Name != name {
			continue
		}
		anchor, err := t.attributeAnchor(ctx, a)
		if err != nil {
			return nil, fault.Of(fault.In(err, fmt.Sprintf("attribute set %q", name), int64(a.Anchor.Offset)), t.file.Name())
		}
		return openAnchor(ctx, t.file, AttributePath(t.path, name), anchor, o)
	}
	return nil, fmt.Errorf("%s has no attribute set %q", t.file.Name(), name)
}

func (t *Table) attributeAnchor(ctx context.Context, a envelope.AttributeSet) (envelope.Anchor, error) {
	blobs, err := t.envelopes(ctx, []envelope.Link{{Length: uint64(a.Length), Locator: a.Anchor}})
	if err != nil {
		return envelope.Anchor{}, err
	}
	return envelope.ParseAnchor(blobs[0], envelope.AnchorClass)
}

// Prepare reads the page lists for a scan, and has as much of a cluster decoded at a time as memory allows: a column has few
// pages in a cluster, and one that is wanted in part is unpacked as a whole.
func (t *Table) Prepare(ctx context.Context, o scan.Options) (scan.Options, error) {
	err := t.Load(ctx)
	if err != nil {
		return o, err
	}
	o.MemoryLimit = cmp.Or(o.MemoryLimit, DefaultMemory)
	o.DecodeRows, o.DecodeBytes, err = t.together(ctx, o)
	return o, err
}

// DefaultMemory is the default bound in bytes of what a scan holds: most clusters fit into it as a whole.
const DefaultMemory = 512 << 20

// together is how many entries a scan decodes at a time, and the bytes they take: whole clusters, or equal parts of them
// that fit into memory.
func (t *Table) together(ctx context.Context, o scan.Options) (rows, bytes int64, err error) {
	p, err := t.Project(ctx, o.Columns)
	if err != nil {
		return 0, 0, err
	}
	filter, err := t.ProjectTops(ctx, o.Filter.Columns())
	if err != nil {
		return 0, 0, err
	}
	var all []*fields.Field
	for _, columns := range [][]table.Column{p.Columns, filter.Columns} {
		for i := range columns {
			all = append(all, t.fieldOf(&columns[i]))
		}
	}
	perRow, whole := int64(1), make([]int64, len(t.clusters))
	for i := range t.clusters {
		c, size := cluster{table: t, index: i}, uint64(0)
		for _, f := range all {
			size += c.valueBytes(f)
		}
		whole[i] = c.Rows()
		if size < uint64(c.Rows()) { // no large pages, if there are any
			whole[i] = min(c.Rows(), scan.DefaultBatchRows)
		}
		perRow = max(perRow, int64(min(size/max(uint64(c.Rows()), 1), math.MaxInt32))+1)
	}
	rows = 1
	for _, n := range whole {
		most := max(o.MemoryLimit/perRow, 1)
		parts := max((n+most-1)/most, 1)
		rows = max(rows, (n+parts-1)/parts)
	}
	return rows, rows * perRow, nil
}

// Listing is what is known of an ntuple, whether its values can be read or not.
type Listing struct {
	Format   string // as its anchor says
	Releases string // of ROOT that write this format
	Anchor   envelope.Anchor

	// Schema and Footer are nil if they cannot be read.
	Schema *envelope.Schema
	Footer *envelope.Footer

	Table *Table // nil if Err is not
	Err   error  // why values cannot be read
}

// List reads what is known of an ntuple. The error is one of its anchor, or of reading.
func List(ctx context.Context, file *rootfile.File, object rootfile.Object) (*Listing, error) {
	anchor, err := readAnchor(ctx, file, object)
	if err != nil {
		return nil, err
	}
	l := &Listing{Format: anchor.Format.String(), Releases: anchor.Releases(), Anchor: anchor}
	if !anchor.Format.ListedOnly() {
		l.Format = anchor.Version.String()
	}
	l.Table, l.Err = openAnchor(ctx, file, object.Path(), anchor, Options{})
	switch {
	case l.Err == nil:
		l.Schema, l.Footer = l.Table.schema, l.Table.footer
	case !fault.Is(l.Err):
		return nil, l.Err
	case anchor.Format.ListedOnly():
		if err := l.early(ctx, file); err != nil && !fault.Is(err) {
			return nil, err
		}
	}
	return l, nil
}

// early reads the schema and the counts of a format that is listed only.
func (l *Listing) early(ctx context.Context, file *rootfile.File) error {
	t := &Table{file: file, anchor: l.Anchor}
	both, err := t.envelopes(ctx, []envelope.Link{l.Anchor.Header, l.Anchor.Footer})
	if err == nil {
		l.Schema, l.Footer, err = envelope.ParseListing(both[0], both[1])
	}
	return err
}
