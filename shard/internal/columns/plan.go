package columns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// Options are the options of [New].
type Options struct {
	Encoding    encoding.Options // of new columns; Features are those of the edition
	Parallelism int
	Memory      int64 // bytes of encoded values that wait in memory, and bytes of a scan
	TempDir     string
	Progress    func(done, total int64) // rows of new columns; it may be nil
}

// Plan is a change of a shard in the making.
type Plan struct {
	did     []string // what changes do
	used    []string // paths of columns that changes name, or compute with
	o       Options
	file    *shardfile.File
	table   table.Table // with all rows
	shown   table.Table // without deleted ones
	stored  *schema.Schema
	root    root.Root
	columns []root.Column // Built of new ones is an index of sources, and they have no children yet
	sources []*source
	rows    []*rows
	// properties are changes of the custom properties of columns.
	properties map[placeOf]func([]*commonpb.NameValuePair) []*commonpb.NameValuePair

	projection *table.Projection // of what new columns are computed of; nil for nothing
	written    int64
}

// placeOf is a column by its ids, as [root.Column] has them.
type placeOf struct{ id, built uint32 }

// New applies changes to the root of a shard. t is its table.
func New(ctx context.Context, f *shardfile.File, t table.Table, r root.Root, o Options, changes []Change) (p *Plan, err error) {
	p = &Plan{o: o, file: f, table: table.WithHidden(t), shown: t, stored: r.Schema, root: r, properties: map[placeOf]func([]*commonpb.NameValuePair) []*commonpb.NameValuePair{}}
	p.o.Encoding.Features = r.Edition.Features()
	if p.columns, err = r.Columns(); err != nil {
		return nil, err
	}
	for _, c := range changes {
		if c.apply == nil {
			return nil, errors.New("a change without content")
		}
		p.did = append(p.did, c.did)
		if err := c.apply(ctx, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add adds the source of a new column, and returns its number.
func (p *Plan) add(s *source) uint32 {
	p.sources = append(p.sources, s)
	return uint32(len(p.sources) - 1)
}

// Root is the changed root.
func (p *Plan) Root(ctx context.Context) (root.Root, error) {
	b, err := p.builder(ctx)
	if err != nil {
		return p.root, err
	}
	var build func(root.Stripe) root.Build
	if len(b.sources) > 0 {
		build = b.build
	}
	r, err := p.root.WithColumns(p.columns, build)
	if err != nil {
		return r, err
	}
	r.Change = strings.Join(p.did, "; ")
	r.Custom, err = root.WithNewColumns(r.Custom, r.Schema)
	return r.WithProperties(p.changed()), err
}

// changed are the changes of the properties of stored columns, by their new schema ids.
func (p *Plan) changed() map[uint32]func([]*commonpb.NameValuePair) []*commonpb.NameValuePair {
	changes := map[uint32]func([]*commonpb.NameValuePair) []*commonpb.NameValuePair{}
	for id, c := range root.All(p.columns) {
		if change := p.properties[placeOf{c.ID, c.Built}]; change != nil && c.ID != root.Missing {
			changes[uint32(id)] = change
		}
	}
	return changes
}

// Again reports whether the plan does what an earlier one did, for the root before another writer replaced it: the columns that its changes use are still there, with
// the same types, or else it returns an error.
func (p *Plan) Again(earlier *Plan) error {
	before, err := earlier.forms()
	if err != nil {
		return err
	}
	now, err := p.forms()
	if err != nil {
		return err
	}
	for _, path := range slices.Concat(earlier.used, p.used) {
		was, err := before(path)
		if err != nil {
			return err
		}
		is, err := now(path)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(was, is) {
			return fmt.Errorf("column %s is not what it was", path)
		}
	}
	return nil
}

// forms returns a function for the stored form of the column at a path, nil if there is none: that of a new column.
func (p *Plan) forms() (func(path string) ([]schema.Field, error), error) {
	columns, err := p.root.Columns()
	if err != nil {
		return nil, err
	}
	all := root.All(columns)
	return func(path string) ([]schema.Field, error) {
		n, err := p.stored.Path(path)
		if errors.Is(err, schema.ErrNoField) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return root.Fields([]root.Column{*all[n.ID()]}), nil
	}, nil
}

// Sizes are bytes of encoded values.
type Sizes struct {
	Files   int64 // of all files of the shard that are there
	Dropped int64 // of columns to which the new root does not refer
	Read    int64 // of columns of which new ones are computed
}

// Written is the number of bytes of values of new columns so far.
func (p *Plan) Written() int64 { return p.written }

// Rows is the number of rows whose values are read for new columns.
func (p *Plan) Rows() int64 {
	if p.projection == nil {
		return 0
	}
	return p.file.Rows()
}

// Sizes adds up bytes. Values in Parquet files are dropped and read without being counted.
func (p *Plan) Sizes(ctx context.Context) (s Sizes, err error) {
	if s.Files, err = bytesOfFiles(ctx, p.file); err != nil {
		return s, err
	}
	moved, read := p.Moved(), make([]bool, p.stored.IDCount())
	if p.projection != nil {
		markIDs(p.projection.Columns, read)
	}
	for id := range p.stored.IDCount() {
		kept := moved[id] != root.Missing
		if kept && !read[id] {
			continue
		}
		for _, in := range p.root.Stripes {
			d, err := in.Of.Descriptor(ctx, id)
			if err != nil {
				return s, err
			}
			size := stripe.NativeBytes(d)
			if !kept {
				s.Dropped += size
			}
			if read[id] {
				s.Read += size
			}
		}
	}
	return s, nil
}

// bytesOfFiles is the size of all artifacts of a shard that are there.
func bytesOfFiles(ctx context.Context, f *shardfile.File) (total int64, err error) {
	urls, err := f.URLs(ctx)
	if err != nil {
		return 0, err
	}
	for _, u := range append(urls, "") {
		r, err := f.Artifact(ctx, u)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		size, err := r.Size(ctx)
		if err != nil {
			return 0, err
		}
		total += size
	}
	return total, nil
}

// Moved are the new schema ids by those that the shard has so far, [root.Missing] for those that it loses.
func (p *Plan) Moved() []uint32 { return root.Moved(p.columns, p.stored.IDCount()) }

func markIDs(all []table.Column, ids []bool) {
	for i := range all {
		ids[all[i].ID] = true
		markIDs(all[i].Children, ids)
	}
}

// Report is what a plan does. Sizes are bytes.
type Report struct {
	Kept    int64                    // of the files of the shard, to which the new root refers
	Dropped int64                    // of columns and indexes, to which it refers no more
	Read    int64                    // of columns, of whose values new ones are made
	Written int64                    // of new columns; the root comes to it
	Indexes []shardtable.Description // that were dropped
}

// Report describes the plan for a shard.
func (p *Plan) Report(ctx context.Context, t *shardtable.Table) (x Report, err error) {
	sizes, err := p.Sizes(ctx)
	if err != nil {
		return x, err
	}
	moved := p.Moved()
	x.Dropped, x.Read = sizes.Dropped, sizes.Read
	for i, err := range t.AllIndexes(ctx) {
		if err != nil {
			return x, err
		}
		if root.Stays(i.Descriptor, moved) {
			continue
		}
		d, err := t.DescribeIndex(ctx, i, false)
		if err != nil {
			return x, err
		}
		x.Indexes, x.Dropped = append(x.Indexes, d), x.Dropped+d.Size
	}
	x.Kept = sizes.Files - x.Dropped
	return x, nil
}
