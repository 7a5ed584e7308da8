package compact

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/sortkeys"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
)

// SplitOptions are the options of [Split]: how to divide a shard, and where the parts go.
type SplitOptions struct {
	Options
	Rows    int64  // of a part, deleted ones included
	By      string // a value, of which each part has one
	Pattern string // of locations: {} stands for the number or the value of a part
	Shard   shardwriter.Options
	Policy  container.Policy
	DryRun  bool
}

// Part is a part of a shard that was divided.
type Part struct {
	Location string
	Rows     int64
	Referred int // stripes that it refers to where they are
}

// mostParts is the number of values that are divided by.
const mostParts = 1000

// Split divides a shard.
func Split(ctx context.Context, t *shardtable.Table, r root.Root, o SplitOptions) ([]Part, error) {
	switch {
	case (o.Rows > 0) == (o.By != ""):
		return nil, errors.New("a shard is divided by a number of rows, or by a value")
	case strings.Count(o.Pattern, "{}") != 1:
		return nil, fmt.Errorf("the name %q of the parts needs {} once, for the number or the value of each", o.Pattern)
	}
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	b := &builder{o: o.Options, table: t, plan: &Plan{}, edition: r.Edition, features: r.Features()}
	for _, s := range r.Stripes {
		b.plan.rows += shown(s)
	}
	r.Indexes = nil
	if o.Rows > 0 {
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
	parts, err := b.count(ctx, o)
	if err != nil || o.DryRun {
		return parts, err
	}
	return b.splitValues(ctx, r, o)
}

// splitRows makes parts of so many rows: of references to whole stripes, and of stripes with the rows of others.
func (b *builder) splitRows(ctx context.Context, r root.Root, o SplitOptions) (parts []Part, err error) {
	for from := int64(0); from < b.table.NumRows(); from += o.Rows {
		to := min(from+o.Rows, b.table.NumRows())
		p := Part{Location: strings.Replace(o.Pattern, "{}", fmt.Sprintf("%04d", len(parts)), 1), Rows: to - from}
		part := r
		part.Stripes = nil
		for i, s := range r.Stripes {
			first := s.Of.Position()
			rows := rowset.Range{From: max(from, first), To: min(to, first+s.Of.Rows())}
			switch {
			case rows.From >= rows.To:
			case rows.Len() == s.Of.Rows():
				part.Stripes = append(part.Stripes, s)
				p.Referred++
			default:
				part.Stripes = append(part.Stripes, root.Stripe{Stream: b.stream(r, []int{i}, func(ctx context.Context, w *writer) error {
					return b.scan(ctx, scan.Options{Rows: []rowset.Range{rows}}, func(batch arrow.RecordBatch) error { return w.write(ctx, batch) })
				})})
			}
		}
		if parts = append(parts, p); o.DryRun {
			continue
		}
		if _, err := root.Refer(ctx, p.Location, o.Shard, o.Policy, part); err != nil {
			return parts, err
		}
	}
	return parts, nil
}

// count reads the values to divide by, and says which parts there will be.
func (b *builder) count(ctx context.Context, o SplitOptions) (parts []Part, err error) {
	encoder, err := order.NewEncoder(b.by.Keys)
	if err != nil {
		return nil, err
	}
	var seen order.KeySet
	locations := map[string]bool{}
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
				p := Part{Location: o.location(keys, row)}
				switch {
				case len(parts) == mostParts:
					err = fmt.Errorf("%s has more than %d values: divide by an expression with fewer, such as year(date)", o.By, mostParts)
				case locations[p.Location]:
					err = fmt.Errorf("two values of %s give parts the name %s", o.By, p.Location)
				}
				parts = append(parts, p)
				locations[p.Location] = true
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

// location is that of the part of the values in a row.
func (o *SplitOptions) location(keys []arrow.Array, row int) string {
	var texts []string
	for _, k := range keys {
		text := url.PathEscape(string(values.Text(k)(nil, row)))
		if k.IsNull(row) {
			text = "null"
		}
		texts = append(texts, strings.ReplaceAll(strings.ReplaceAll(text, ":", "%3A"), ".", "%2E"))
	}
	return strings.Replace(o.Pattern, "{}", strings.Join(texts, "-"), 1)
}

// splitValues makes a part for each value, one after the other, of the sorted rows.
func (b *builder) splitValues(ctx context.Context, r root.Root, o SplitOptions) (parts []Part, err error) {
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
		p := Part{Location: o.location(g.values, g.row)}
		part := r
		part.Standard = withoutFeatures(r.Standard)
		part.Stripes = []root.Stripe{{Stream: b.stream(r, all, func(ctx context.Context, w *writer) error { return g.group(ctx, w, &p.Rows) })}}
		if err := root.Publish(ctx, p.Location, o.Shard, part); err != nil {
			return parts, err
		}
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
	n := g.rows.NumFields()
	of := array.NewRecordBatch(g.keySchema(), g.batch.Columns()[n:], g.batch.NumRows())
	defer of.Release()
	if g.values, err = g.by.Eval(of); err == nil {
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
