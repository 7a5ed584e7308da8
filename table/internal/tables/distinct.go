package tables

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table/provider"
)

// NewDistinct returns the distinct rows of a source, which it closes, even after an error. More than some bytes of them go to temporary files.
func NewDistinct(src provider.Source, memory int64) (_ provider.Source, err error) {
	d := &distinctSource{src: src}
	if d.rows, err = order.NewDistinct(src.Schema(), order.Options{Memory: memory}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// distinctSource returns the distinct rows of a source.
type distinctSource struct {
	src   provider.Source
	rows  *order.Distinct
	ended bool // the source, so that the rest follows
}

func (d *distinctSource) Schema() *arrow.Schema { return d.src.Schema() }
func (d *distinctSource) Rows() (int64, bool)   { return 0, false }

func (d *distinctSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for !d.ended {
		batch, err := d.src.Next(ctx)
		if err != nil {
			return nil, err
		}
		if batch == nil {
			d.ended = true
			if err := d.rows.Finish(ctx); err != nil {
				return nil, err
			}
			break
		}
		out, err := d.rows.Add(ctx, batch)
		batch.Release()
		if out != nil || err != nil {
			return out, err
		}
	}
	return d.rows.Next(ctx)
}

func (d *distinctSource) Close() error {
	var err error
	if d.rows != nil {
		err = d.rows.Close()
	}
	return errors.Join(err, d.src.Close())
}
