package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/text"
)

// keyed are the rows of a side in the order of their keys.
type keyed struct {
	cursor
	by      []*compute.Value
	encoder *order.Encoder
	sorter  *order.Sorter

	values []arrow.Array // of the keys of the batch
	keys   *order.Keys   // the same, encoded
	last   []byte        // the key of the row before
	repeat bool          // last has been reported as a duplicate
}

// byKey sorts both tables by key, and compares rows of the same key.
func (c *Comparison) byKey(ctx context.Context, old, new *side) (err error) {
	a, b := &keyed{cursor: cursor{side: old}}, &keyed{cursor: cursor{side: new}}
	defer func() { err = errors.Join(err, a.close(), b.close()) }()
	for _, k := range []*keyed{a, b} {
		if err := k.bind(); err != nil {
			return err
		}
	}
	for i, v := range a.by {
		if !arrow.TypeEqual(v.Type(), b.by[i].Type()) {
			return fmt.Errorf("values of the key %s cannot be compared: they are of type %s and %s", c.o.Key[i], text.Type(v.Type()), text.Type(b.by[i].Type()))
		}
	}
	for _, k := range []*keyed{a, b} {
		if err := k.sort(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(a.load(ctx), b.load(ctx)); err != nil {
		return err
	}
	return c.merge(ctx, a, b)
}

// bind finds the values of the key.
func (k *keyed) bind() error {
	var keys []order.Key
	for _, n := range k.o.Key {
		v, err := compute.Bind(n, k.schema)
		if err != nil {
			return fmt.Errorf("the key of the %s table: %w", map[bool]string{true: "old", false: "new"}[k.isOld], err)
		}
		k.by = append(k.by, v)
		keys = append(keys, order.Key{Type: v.Type()})
	}
	var err error
	if k.encoder, err = order.NewEncoder(keys); err != nil {
		return err
	}
	o := k.o.Order
	o.Memory /= 2
	k.sorter, err = order.NewSorter(k.schema, keys, o)
	return err
}

// sort reads and sorts all rows.
func (k *keyed) sort(ctx context.Context) error {
	for {
		batch, err := k.next(ctx)
		if err != nil {
			return err
		}
		if batch == nil {
			return k.sorter.Finish(ctx)
		}
		keys, err := k.eval(batch)
		if err == nil {
			err = k.sorter.Add(ctx, batch, keys)
		}
		arrowutil.ReleaseAll(keys)
		batch.Release()
		if err != nil {
			return err
		}
	}
}

// eval returns the values of the key.
func (k *keyed) eval(batch arrow.RecordBatch) (keys []arrow.Array, err error) {
	keys = make([]arrow.Array, len(k.by))
	for i, v := range k.by {
		if keys[i], err = v.Eval(k.mem, batch); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// load reads the next sorted batch. At the end there is none.
func (k *keyed) load(ctx context.Context) (err error) {
	k.release()
	if k.batch, err = k.sorter.Next(ctx); k.batch == nil {
		return err
	}
	if k.values, err = k.eval(k.batch); err == nil {
		k.keys = k.encoder.Encode(k.values, int(k.batch.NumRows()))
	}
	return err
}

func (k *keyed) release() {
	arrowutil.ReleaseAll(k.values)
	k.values = nil
	k.cursor.release()
}

func (k *keyed) close() error {
	k.release()
	if k.sorter == nil {
		return nil
	}
	return k.sorter.Close()
}

// current are the values of the current row.
func (k *keyed) current() Values {
	v := k.cursor.values(k.batch, k.row)
	v.Keys = k.values
	return v
}

// step goes to the next row, and reports its key if it is that of the row before, too.
func (k *keyed) step(ctx context.Context) error {
	k.last = append(k.last[:0], k.keys.Key(k.row)...)
	if k.row++; k.left() == 0 {
		if err := k.load(ctx); err != nil || k.batch == nil {
			return err
		}
	}
	if !bytes.Equal(k.last, k.keys.Key(k.row)) {
		k.repeat = false
		return nil
	}
	if k.repeat {
		return nil
	}
	k.repeat = true
	r := Row{Kind: Duplicate, Position: -1, Old: k.current()}
	if !k.isOld {
		r.Old, r.New = r.New, r.Old
	}
	return k.add(r)
}

// merge compares sorted rows.
func (c *Comparison) merge(ctx context.Context, a, b *keyed) error {
	var equalers []equaler
	var of [2]arrow.RecordBatch // the batches that they are for
	for a.batch != nil || b.batch != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch o := a.compare(b); {
		case o < 0:
			if err := errors.Join(c.add(Row{Kind: Removed, Position: -1, Old: a.current()}), a.step(ctx)); err != nil {
				return err
			}
		case o > 0:
			if err := errors.Join(c.add(Row{Kind: Added, Position: -1, New: b.current()}), b.step(ctx)); err != nil {
				return err
			}
		default:
			if now := [2]arrow.RecordBatch{a.batch, b.batch}; equalers == nil || of != now {
				equalers, of = c.equalers(&a.cursor, &b.cursor), now
			}
			if columns := compare(equalers, a.row, b.row); columns == nil {
				c.Summary.Equal++
			} else if err := c.add(Row{Kind: Changed, Position: -1, Old: a.current(), New: b.current(), Columns: columns}); err != nil {
				return err
			}
			if err := errors.Join(a.step(ctx), b.step(ctx)); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare compares the keys of the current rows. The end is greater than all keys.
func (k *keyed) compare(other *keyed) int {
	switch {
	case k.batch == nil:
		return 1
	case other.batch == nil:
		return -1
	}
	return bytes.Compare(k.keys.Key(k.row), other.keys.Key(other.row))
}
