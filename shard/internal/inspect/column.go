package inspect

import (
	"context"
	"fmt"
	"strings"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/readahead"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/table/provider"
)

// column is a schema node in a stripe.
type column struct {
	node      schema.Node
	path      string
	label     string // see extendedType
	stripe    *shardfile.Stripe
	stored    *shardpb.StripeFieldDescriptor // nil if the stripe lacks the column: all rows are null
	positions uint64
	distinct  distinct
	values    distinctSet // of this stripe
	bytes     int64
	buffers   []buffer
	files     []share // of them, by name; nil for a shard in one file
}

// aheadColumn is the column of a selected node in a selected stripe, whose bytes are read ahead.
func (in *inspector) aheadColumn(ctx context.Context, ahead *readahead.Ahead, stripe, i int) (c column, err error) {
	if _, err := ahead.Next(ctx, stripe, i); err != nil {
		return c, err
	}
	return in.column(ctx, in.stripes()[stripe], in.nodes[i].Node, in.nodes[i].path)
}

func (in *inspector) column(ctx context.Context, st *shardfile.Stripe, n schema.Node, path string) (c column, err error) {
	c = column{node: n, path: path, stripe: st, positions: uint64(st.Rows())}
	if c.label, err = extendedType(n); err != nil {
		return c, err
	}
	if c.stored, err = st.Descriptor(ctx, n.ID()); err != nil || c.stored == nil {
		return c, err
	}
	f := c.stored.GetField()
	c.positions, c.distinct = f.GetPositionCount(), distinctOf(f)
	if err := c.values.add(ctx, st, n, f, c.stored.GetEncodings()); err != nil {
		return c, err
	}
	if exact, ok := c.values.count(); ok {
		c.distinct = exact
	}
	for e, b := range stripe.Buffers(c.stored) {
		info, err := in.buffer(ctx, &c, e, b)
		if err != nil {
			return c, err
		}
		c.bytes += info.bytes
		if in.names != nil && info.bytes > 0 {
			c.files = addShare(c.files, share{encoding: info.file, bytes: info.bytes})
		}
		c.buffers = append(c.buffers, info)
	}
	return c, nil
}

func (c *column) constant() bool { return c.stored.GetField().GetConstantValue() != nil }

// parquetText names the column chunks that a column refers to.
func parquetText(p *shardpb.ExternalParquetDataEncoding) string {
	var all []string
	for _, r := range p.FileColumnRefs {
		for _, c := range r.ColumnChunks {
			all = append(all, fmt.Sprintf("%s, row group %d, column chunk %d", r.FileRef.GetUrl(), c.RowGroupId, c.ColumnChunkId))
		}
	}
	return strings.Join(all, "; ")
}

// columnFacts are the names of the facts of a column, which cells has for a shard of some bytes.
var columnFacts = []string{"type", "bytes", "share", "nulls", "distinct", "stored nulls", "stored distinct", "min", "max", "stored", "id", "positions", "files"}

func (c *column) cells(total int64) []any {
	t, nulls, stored := storedType(c.node), any(c.positions), "nothing: all null"
	if c.label != "" && c.label != "Arrow" {
		t += " (" + c.label + ")"
	}
	f := c.stored.GetField()
	if f != nil {
		nulls, stored = known(f.NullCount), "values"
	}
	if p := stripe.ParquetEncoding(c.stored); p != nil {
		stored = "in " + parquetText(p)
	}
	if c.constant() {
		stored = "one value of all rows"
	}
	row := append([]any{t, c.bytes, provider.ShareOf(c.bytes, total)}, valueCells(c.node, f, nulls, c.distinct, c.stripe.Directory().GetDeletedRecordCount() > 0)...)
	return append(row, stored, c.node.ID(), c.positions, filesCell(c.files))
}

// valueCells are what is recorded of the values of a column: nulls, distinct values, these two of all stored rows if some are deleted, and bounds. Of rows that are
// shown, only that there are no nulls is known then, as bounds may be values of deleted ones.
func valueCells(n schema.Node, f *shardpb.FieldDescriptor, nulls any, d distinct, deleted bool) []any {
	if !deleted {
		least, most := boundsText(f, n)
		return []any{nulls, d.cell(), nil, nil, least, most}
	}
	if nulls == any(uint64(0)) {
		return []any{nulls, nil, nil, d.cell(), "", ""}
	}
	return []any{nil, nil, nulls, d.cell(), "", ""}
}
