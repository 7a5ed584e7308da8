package compact

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/sortkeys"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/shard/internal/copying"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// SplitOptions are the options of [Split]: how to divide a shard, and where the parts go.
type SplitOptions struct {
	Options
	Rows    int64  // of a part, deleted ones included
	Bytes   int64  // of the data of a part, about
	By      string // a value, of which each part has one
	Pattern string // of locations: {} stands for the number or the value of a part
	Shard   shardwriter.Options
	Policy  container.Policy
	DryRun  bool

	locations map[string]string // of parts, by encoded values
}

// Part is a part of a shard that was divided.
type Part struct {
	Location string
	Rows     int64
	Bytes    int64 // of its data, those that it refers to included; an estimate in a dry run, 0 by value
	Referred int   // stripes that it refers to where they are
}

// mostParts is the number of values that are divided by.
const mostParts = 1000

// Split divides a shard.
func Split(ctx context.Context, t *shardtable.Table, r root.Root, o SplitOptions) ([]Part, error) {
	switch {
	case bitmap.Bit(o.Rows > 0)+bitmap.Bit(o.Bytes > 0)+bitmap.Bit(o.By != "") != 1 || o.Rows < 0 || o.Bytes < 0:
		return nil, errors.New("a shard is divided by a number of rows, by a number of bytes, or by a value")
	case strings.Count(o.Pattern, "{}") != 1:
		return nil, fmt.Errorf("the name %q of the parts needs {} once, for the number or the value of each", o.Pattern)
	}
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	b := &builder{o: o.Options, table: t, plan: &Plan{}, edition: r.Edition, features: r.Features()}
	for _, s := range r.Stripes {
		b.plan.rows += shown(s)
	}
	r.Indexes = nil
	if o.By == "" {
		if err := b.prepare(ctx, r.Schema); err != nil {
			return nil, err
		}
		return b.splitRows(ctx, r, o)
	}
	var err error
	if b.keys, err = sortkeys.Parse(o.By); err != nil {
		return nil, err
	}
	if err := b.prepare(ctx, r.Schema); err != nil {
		return nil, err
	}
	parts, err := b.count(ctx, &o)
	if err == nil {
		err = o.check(ctx, r, parts)
	}
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return parts, nil
	}
	return b.splitValues(ctx, r, &o)
}

// check says before anything is written that a part would replace the shard, or has the name of a file that there is.
func (o *SplitOptions) check(ctx context.Context, r root.Root, parts []Part) error {
	for _, p := range parts {
		url, err := storage.URL(p.Location)
		if err != nil {
			return err
		}
		if len(r.Stripes) > 0 && url == shardfile.URLOf(r.Stripes[0].Of.File().Root()) {
			return fmt.Errorf("the part %s would replace the shard", p.Location)
		}
		if o.Shard.Overwrite {
			continue
		}
		store, err := storage.Of(o.Shard.Store, p.Location)
		if err != nil {
			return err
		}
		switch err := copying.Find(ctx, store, p.Location); {
		case err == nil:
			return fmt.Errorf("%s: %w", p.Location, fs.ErrExist)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// errLarge ends a part that turns out much larger than it was to be.
var errLarge = errors.New("the part is too large")

// splitRows makes parts of consecutive rows: of references to whole stripes, and of stripes with the rows of others.
func (b *builder) splitRows(ctx context.Context, r root.Root, o SplitOptions) (parts []Part, err error) {
	var sizes []int64 // of stripes
	for _, s := range r.Stripes {
		size, external, err := sizeOf(ctx, s, r.Schema.IDCount())
		if external && o.Bytes > 0 {
			err = fault.Unsupportedf("stripe %d has data in a Parquet file, whose size is not known: divide by a number of rows", len(sizes))
		}
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, size)
	}
	ranges := rowsOf(r, o.Bytes, sizes)
	for from := int64(0); o.Rows > 0 && from < b.table.NumRows(); from += o.Rows {
		ranges = append(ranges, rowset.Range{From: from, To: min(from+o.Rows, b.table.NumRows())})
	}
	part := func(i int) Part {
		return Part{Location: strings.Replace(o.Pattern, "{}", fmt.Sprintf("%04d", i), 1), Rows: ranges[i].Len()}
	}
	for i := range ranges {
		parts = append(parts, part(i))
	}
	if err := o.check(ctx, r, parts); err != nil {
		return nil, err
	}
	parts = nil
	for i := 0; i < len(ranges); i++ {
		p := part(i)
		err := b.splitOff(ctx, r, o, ranges[i], sizes, &p)
		if errors.Is(err, errLarge) { // rows are larger here than on the average of the stripe
			half := ranges[i].From + ranges[i].Len()/2
			ranges = slices.Insert(ranges, i, rowset.Range{From: ranges[i].From, To: half})
			ranges[i+1].From = half
			i--
			continue
		}
		if parts = append(parts, p); err != nil {
			return parts, err
		}
	}
	return parts, nil
}

// rowsOf are the rows of parts of so many bytes, if that is not 0. Stripes stay whole that fit into a part.
func rowsOf(r root.Root, bytes int64, sizes []int64) (all []rowset.Range) {
	room := int64(0) // in the last part
	for i, s := range r.Stripes {
		first, rows := s.Of.Position(), s.Of.Rows()
		switch {
		case bytes == 0:
		case sizes[i] > bytes:
			n := min((sizes[i]+bytes-1)/bytes, rows)
			for k := range n {
				all = append(all, rowset.Range{From: first + rows*k/n, To: first + rows*(k+1)/n})
			}
			room = 0
		case len(all) == 0 || sizes[i] > room:
			all, room = append(all, rowset.Range{From: first, To: first + rows}), bytes-sizes[i]
		default:
			all[len(all)-1].To, room = first+rows, room-sizes[i]
		}
	}
	return all
}

// splitOff writes a part with some rows.
func (b *builder) splitOff(ctx context.Context, r root.Root, o SplitOptions, of rowset.Range, sizes []int64, p *Part) error {
	part := r
	part.Stripes = nil
	before := b.plan.written
	for i, s := range r.Stripes {
		first := s.Of.Position()
		rows := rowset.Range{From: max(of.From, first), To: min(of.To, first+s.Of.Rows())}
		switch {
		case rows.From >= rows.To:
			continue
		case rows.Len() == s.Of.Rows():
			part.Stripes = append(part.Stripes, s)
			p.Referred++
			p.Bytes += sizes[i]
			continue
		case o.DryRun:
			p.Bytes += int64(float64(sizes[i]) * float64(rows.Len()) / float64(s.Of.Rows()))
		}
		part.Stripes = append(part.Stripes, root.Stripe{Stream: b.stream(r, []int{i}, func(ctx context.Context, w *writer) error {
			add := w.add
			w.add = func(f *stripe.Finished) error {
				if o.Bytes > 0 && b.plan.written-before > o.Bytes+o.Bytes/4 && of.Len() > 1 {
					f.Release()
					return errLarge
				}
				return add(f)
			}
			return b.scan(ctx, scan.Options{Rows: []rowset.Range{rows}}, func(batch arrow.RecordBatch) error { return w.write(ctx, batch) })
		})})
	}
	if o.DryRun {
		return nil
	}
	_, _, err := root.Refer(ctx, p.Location, o.Shard, o.Policy, part)
	p.Bytes += b.plan.written - before
	return err
}

// count reads the values to divide by, and says which parts there will be.
func (b *builder) count(ctx context.Context, o *SplitOptions) (parts []Part, err error) {
	encoder, err := order.NewEncoder(b.by.Keys)
	if err != nil {
		return nil, err
	}
	o.locations = map[string]string{}
	names := map[string]bool{}
	var seen order.KeySet
	for batch, err := range scan.Scan(ctx, b.table, scan.Options{Columns: sortkeys.With([]string{}, b.keys), Parallelism: b.o.Parallelism, Reuse: true}) {
		if err != nil {
			return nil, err
		}
		keys, err := b.by.Eval(batch)
		if err != nil {
			return nil, err
		}
		encoded := encoder.Encode(keys, int(batch.NumRows()))
		for row := range int(batch.NumRows()) {
			n, added := seen.Add(encoded.Key(row))
			if added {
				if len(parts) == mostParts {
					err = fmt.Errorf("%s has more than %d values: divide by an expression with fewer, such as year(date)", o.By, mostParts)
				}
				location := o.location(keys, row, names)
				o.locations[string(encoded.Key(row))] = location
				parts = append(parts, Part{Location: location})
			}
			if err != nil {
				arrowutil.ReleaseAll(keys)
				return nil, err
			}
			parts[n].Rows++
		}
		arrowutil.ReleaseAll(keys)
	}
	return parts, nil
}

// mostName is the number of characters of a value in the name of a part.
const mostName = 60

// location is that of the part of the values in a row. Each has a name of its own, also where case does not count: characters with a meaning in paths are escaped, long
// texts are cut, and a number behind a tilde tells names apart that are then equal. names has those so far.
func (o *SplitOptions) location(keys []arrow.Array, row int, names map[string]bool) string {
	var texts []string
	for _, k := range keys {
		text := string(values.Text(k)(nil, row))
		if all := []rune(text); len(all) > mostName {
			text = string(all[:mostName])
		}
		if text == "" || text == "null" || text[0] == '_' {
			text = "_" + text
		}
		if text = strings.NewReplacer(":", "%3A", ".", "%2E").Replace(url.PathEscape(text)); k.IsNull(row) {
			text = "null"
		}
		texts = append(texts, text)
	}
	name := strings.Join(texts, "-")
	for n, base := 2, name; names[strings.ToLower(name)]; n++ {
		name = fmt.Sprint(base, "~", n)
	}
	names[strings.ToLower(name)] = true
	return strings.Replace(o.Pattern, "{}", name, 1)
}

// splitValues makes a part for each value, one after the other, of the sorted rows.
func (b *builder) splitValues(ctx context.Context, r root.Root, o *SplitOptions) (parts []Part, err error) {
	all := make([]int, len(r.Stripes))
	for i := range all {
		all[i] = i
	}
	s, err := b.sort(ctx, all, b.source.Schema)
	if err != nil {
		return nil, err
	}
	g := &groups{builder: b, sorted: s}
	defer func() { err = errors.Join(err, g.close()) }()
	if g.encoder, err = order.NewEncoder(b.by.Keys); err != nil {
		return nil, err
	}
	for {
		if err := g.load(ctx); g.batch == nil || err != nil {
			return parts, err
		}
		p := Part{Location: o.locations[string(g.keys.Key(g.row))]}
		part := r
		part.Standard = shardfile.Without(r.Standard, shardfile.PropertyFeatures)
		part.Stripes = []root.Stripe{{Stream: b.stream(r, all, func(ctx context.Context, w *writer) error { return g.group(ctx, w, &p.Rows) })}}
		before := b.plan.written
		if err := root.Publish(ctx, p.Location, o.Shard, part); err != nil {
			return parts, err
		}
		p.Bytes = b.plan.written - before
		parts = append(parts, p)
	}
}

// groups are the rows of a sorter by their keys.
type groups struct {
	*builder
	sorted  *order.Sorter
	encoder *order.Encoder
	batch   arrow.RecordBatch // nil at the end
	values  []arrow.Array     // of the keys
	keys    *order.Keys
	row     int // the next one
}

// load reads a batch, unless there are rows left.
func (g *groups) load(ctx context.Context) (err error) {
	if g.batch != nil && int64(g.row) < g.batch.NumRows() {
		return nil
	}
	g.release()
	if g.batch, err = g.sorted.Next(ctx); g.batch == nil || err != nil {
		return err
	}
	if g.values, err = g.evalKeys(g.batch); err == nil {
		g.keys = g.encoder.Encode(g.values, int(g.batch.NumRows()))
	}
	return err
}

// group writes the rows with the next key.
func (g *groups) group(ctx context.Context, w *writer, rows *int64) error {
	key := bytes.Clone(g.keys.Key(g.row))
	for g.batch != nil && bytes.Equal(g.keys.Key(g.row), key) {
		from := g.row
		for int64(g.row) < g.batch.NumRows() && bytes.Equal(g.keys.Key(g.row), key) {
			g.row++
		}
		own := array.NewRecordBatch(g.builder.rows, g.batch.Columns()[:g.builder.rows.NumFields()], g.batch.NumRows())
		part := own.NewSlice(int64(from), int64(g.row))
		err := w.write(ctx, part)
		part.Release()
		own.Release()
		*rows += int64(g.row - from)
		if err = cmp.Or(err, g.load(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func (g *groups) release() {
	arrowutil.ReleaseAll(g.values)
	if g.batch != nil {
		g.batch.Release()
	}
	g.batch, g.values, g.row = nil, nil, 0
}

func (g *groups) close() error {
	g.release()
	return g.sorted.Close()
}
