package command

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table"
)

// distinctFlags are the flags of distinct.
type distinctFlags struct {
	catFlags
	count  bool
	memory string
}

func (a *app) distinct() *cobra.Command {
	var f distinctFlags
	cmd := &cobra.Command{
		Use:   "distinct IN...",
		Short: "Print rows without repetition",
		Long: `distinct prints each row once, in the order of first appearance: rows that differ in the columns of --columns, or in
any column. Null is a value, and so is NaN. --count prints the number of these rows instead. Rows beyond --memory go to
temporary files; they are printed after the input has ended.`,
		Example: `  amudai distinct flights.amudai.shard --columns origin,destination
  amudai distinct 'logs/*.csv' --columns user --count`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runDistinct(cmd.Context(), args, f) },
	}
	f.register(cmd, -1, defaultFormats)
	cmd.Flags().BoolVar(&f.count, "count", false, "print the number of distinct rows")
	registerMemory(cmd, &f.memory)
	return cmd
}

func (a *app) runDistinct(ctx context.Context, locations []string, f distinctFlags) (err error) {
	var o order.Options
	if o.Memory, err = memoryOf(f.memory); err != nil {
		return err
	}
	create, _, err := a.printer(&f.print, "")
	if err != nil {
		return err
	}
	if _, err := f.Rows.Options(); err != nil {
		return err
	}
	limit := f.Rows.Limit
	f.Rows.Limit = -1 // of the input
	src, err := a.opener.Tables(ctx, locations, &f.TableFlags, formats.TablesOptions{})
	if err != nil {
		return err
	}
	d := &distinctSource{src: src}
	defer func() { err = errors.Join(err, d.Close()) }()
	if d.rows, err = order.NewDistinct(src.Schema(), o); err != nil {
		return err
	}
	if !f.count {
		return printRows(ctx, d, create, limit)
	}
	n := int64(0)
	for limit < 0 || n < limit {
		b, err := d.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		n += b.NumRows()
		b.Release()
	}
	return a.printCount(n, limit)
}

// distinctSource returns the distinct rows of a source.
type distinctSource struct {
	src   table.Source
	rows  *order.Distinct
	ended bool // the source, so that the rest follows
}

// Schema implements [table.Source].
func (d *distinctSource) Schema() *arrow.Schema { return d.src.Schema() }

// Rows implements [table.Source].
func (d *distinctSource) Rows() (int64, bool) { return 0, false }

// Next implements [table.Source].
func (d *distinctSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for !d.ended {
		batch, err := d.src.Next(ctx)
		if err == io.EOF {
			d.ended = true
			err = d.rows.Finish(ctx)
		}
		if err != nil {
			return nil, err
		}
		if d.ended {
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

// Close implements [table.Source].
func (d *distinctSource) Close() error {
	var err error
	if d.rows != nil {
		err = d.rows.Close()
	}
	return errors.Join(err, d.src.Close())
}
