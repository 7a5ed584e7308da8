package diff

import (
	"context"
	"errors"
)

// byPosition compares the first rows of both tables, then the second ones, and so on, or those with equal numbers.
func (c *Comparison) byPosition(ctx context.Context, old, new *side) error {
	a, b := &cursor{side: old}, &cursor{side: new}
	defer func() {
		a.release()
		b.release()
	}()
	for {
		if err := errors.Join(a.fill(ctx), b.fill(ctx)); err != nil {
			return err
		}
		switch {
		case a.batch == nil && b.batch == nil:
			return nil
		case a.batch == nil || b.batch == nil:
			if err := c.rest(a, b); err != nil {
				return err
			}
		default:
			if err := c.pairs(a, b); err != nil {
				return err
			}
		}
	}
}

// fill reads the next batch if the last one has no rows left.
func (c *cursor) fill(ctx context.Context) error {
	if c.left() > 0 {
		return nil
	}
	return c.load(ctx)
}

// pairs compares the rows of both batches, until one has none left.
func (c *Comparison) pairs(a, b *cursor) error {
	equalers := c.equalers(a, b)
	for a.left() > 0 && b.left() > 0 {
		if a.position != b.position {
			if err := c.alone(a, b, a.position < b.position); err != nil {
				return err
			}
			continue
		}
		if columns := compare(equalers, a.row, b.row); columns != nil {
			r := Row{Kind: Changed, Position: a.position, Old: a.values(a.batch, a.row), New: b.values(b.batch, b.row), Columns: columns}
			if err := c.add(r); err != nil {
				return err
			}
		} else {
			c.Summary.Equal++
		}
		a.step()
		b.step()
	}
	return nil
}

func (c *cursor) step() {
	c.row++
	c.position++
	c.place()
}

// place finds the position of a row whose number counts.
func (c *cursor) place() {
	for len(c.numbers) > 0 && c.position >= c.numbers[0].To {
		c.numbers = c.numbers[1:]
	}
	if len(c.numbers) > 0 {
		c.position = max(c.position, c.numbers[0].From)
	}
}

// alone reports the next row of one of the tables, which the other one lacks.
func (c *Comparison) alone(a, b *cursor, old bool) error {
	if old {
		defer a.step()
		return c.add(Row{Kind: Removed, Position: a.position, Old: a.values(a.batch, a.row)})
	}
	defer b.step()
	return c.add(Row{Kind: Added, Position: b.position, New: b.values(b.batch, b.row)})
}

// rest reports the rows of a batch of the longer table.
func (c *Comparison) rest(a, b *cursor) error {
	for a.left() > 0 || b.left() > 0 {
		if err := c.alone(a, b, a.left() > 0); err != nil {
			return err
		}
	}
	return nil
}
