package compact

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
)

// A curve orders rows by several values at once, so that a block of rows has a narrow range of each. Values are numbered by their ranks among those of a
// sample, and the bits of the numbers take turns (a Z-order curve):
//
//	a    00 01 10 11
//	b 00  0  2  8 10
//	  01  1  3  9 11
//	  10  4  6 12 14
//	  11  5  7 13 15
//
// Rows are sorted by the place of their values on it.
type curve struct {
	encoders []*order.Encoder // of each value
	bounds   [][][]byte       // encoded values that begin a rank, ascending
	bits     int              // of a rank
}

const (
	mostClustered = 8
	mostRankBits  = 12
	sampleRows    = 32 << 10
	sampleRun     = 128 // rows that are sampled one behind the other
	sampleBytes   = 64  // of a value: more of a long one is not held
)

// curveOf is a curve for the keys of the rows of stripes.
func (b *builder) curveOf(ctx context.Context, stripes []int) (*curve, error) {
	c := &curve{bits: min(mostRankBits, 64/len(b.by.Keys))}
	for _, k := range b.by.Keys {
		e, err := order.NewEncoder([]order.Key{k})
		if err != nil {
			return nil, err
		}
		c.encoders = append(c.encoders, e)
	}
	var total int64
	for _, i := range stripes {
		total += b.table.Stripe(i).Rows()
	}
	var runs []rowset.Range
	every := max(sampleRun, total*sampleRun/sampleRows)
	for _, i := range stripes {
		s := b.table.Stripe(i)
		for at := int64(0); at < s.Rows(); at += every {
			runs = append(runs, rowset.Range{From: s.Position() + at, To: s.Position() + min(at+sampleRun, s.Rows())})
		}
	}
	samples := make([][][]byte, len(c.encoders))
	err := b.scan(ctx, scan.Options{Rows: runs}, func(batch arrow.RecordBatch) error {
		keys, err := b.evalKeys(batch)
		if err != nil {
			return err
		}
		defer arrowutil.ReleaseAll(keys)
		for k, e := range c.encoders {
			encoded := e.Encode(keys[k:k+1], int(batch.NumRows()))
			for row := range int(batch.NumRows()) {
				key := encoded.Key(row)
				samples[k] = append(samples[k], bytes.Clone(key[:min(len(key), sampleBytes)]))
			}
		}
		return nil
	})
	for _, s := range samples {
		slices.SortFunc(s, bytes.Compare)
		var bounds [][]byte
		for i := 1; i < 1<<c.bits && len(s) > 0; i++ {
			bounds = append(bounds, s[i*len(s)>>c.bits])
		}
		c.bounds = append(c.bounds, bounds)
	}
	return c, err
}

// places are the places of rows on the curve.
func (c *curve) places(keys []arrow.Array, rows int) arrow.Array {
	out := make([]uint64, rows)
	for k, e := range c.encoders {
		encoded, bounds := e.Encode(keys[k:k+1], rows), c.bounds[k]
		var last []byte
		rank := 0
		for row := range rows {
			if key := encoded.Key(row); row == 0 || !bytes.Equal(key, last) {
				rank = sort.Search(len(bounds), func(i int) bool { return bytes.Compare(bounds[i], key) > 0 })
				last = key
			}
			for bit := range c.bits {
				out[row] |= uint64(rank>>bit&1) << (bit*len(c.encoders) + len(c.encoders) - 1 - k)
			}
		}
	}
	return arrowutil.Make(arrow.PrimitiveTypes.Uint64, rows, []*memory.Buffer{nil, memory.NewBufferBytes(arrowutil.Bytes(out))}, nil, 0)
}
