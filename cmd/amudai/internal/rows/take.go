package rows

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/table"
)

func (g group) take() *cobra.Command {
	var f flags
	from := "" // file with the numbers of rows
	cmd := &cobra.Command{
		Use:   "take IN... ROW...",
		Short: "Print rows of tables by their numbers",
		Long: `take prints the rows with some numbers, from 0, in the order of the numbers; a number that is given twice prints its row
twice. Several inputs are one table. Of shards only the blocks with the rows are read, of Parquet the pages, of formats that
do not record their number of rows all rows up to the last one. --rows-from reads the numbers from a file, one a line.`,
		Example: `  amudai take flights.amudai.shard 5 2000000 17
  seq 0 1000 99000 | amudai take flights.amudai.shard --rows-from - --output some.parquet`,
		Args: app.Wants(1, -1, "one or more tables, then numbers of rows"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		locations, rows, err := g.rowNumbers(cmd.Context(), args, from)
		if err != nil {
			return err
		}
		return g.print(cmd.Context(), locations, &f, "", func(u *formats.Union) (table.Query, error) {
			return table.TakeOptions{Rows: rows, Columns: u.Scan.Columns}, nil
		})
	}
	f.Read.Register(cmd, true)
	f.Rows.All()
	cmd.Flags().StringVar(&from, "rows-from", "", "file with the numbers of rows, one a line; - for stdin")
	return g.prints(cmd, &f, "", nil)
}

// rowNumbers divides arguments into inputs and the numbers behind them, or reads the numbers from a file.
func (g group) rowNumbers(ctx context.Context, args []string, from string) (locations []string, rows []int64, err error) {
	n := len(args)
	for ; n > 0 && from == ""; n-- {
		row, err := strconv.ParseInt(args[n-1], 10, 64)
		if err != nil || row < 0 {
			break
		}
		rows = append(rows, row)
	}
	slices.Reverse(rows)
	switch {
	case from == "" && (n == 0 || len(rows) == 0):
		return nil, nil, usage.Errorf("amudai take flights.amudai.shard 5 17, for example", "take needs tables, then numbers of rows")
	case from == "-" && slices.Contains(args, "-"):
		return nil, nil, usage.Errorf("", "stdin cannot be both a table and the numbers of rows")
	case from != "":
		rows, err = g.numbersOf(ctx, from)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--rows-from: %w", err)
	}
	return args[:n], rows, nil
}

// numbersOf reads numbers of rows, one a line.
func (g group) numbersOf(ctx context.Context, location string) (rows []int64, err error) {
	in, err := inputs.Open(ctx, location, g.Stdin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	lines := bufio.NewScanner(in.Reader)
	for lines.Scan() {
		row, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil || row < 0 {
			return nil, fmt.Errorf("line %d: %q is not the number of a row", len(rows)+1, lines.Text())
		}
		rows = append(rows, row)
	}
	return rows, lines.Err()
}
