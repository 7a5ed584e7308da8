package formats

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/table"
)

// TableFlags are the flags of commands that read several inputs as one table.
type TableFlags struct {
	Read ReadFlags
	Rows ScanFlags
}

// Register adds the flags, with a default for the limit.
func (t *TableFlags) Register(cmd *cobra.Command, limit int64) {
	t.Read.Register(cmd, true)
	t.Rows.Register(cmd, limit)
}

// TablesOptions are the options of [Opener.Tables] beside the flags.
type TablesOptions struct {
	Columns      []string // nil: those of the flags
	Dictionaries bool     // strings may come as arrays of dictionaries
	BatchRows    int      // maximum rows of a batch; 0 for the default
	Reuse        bool     // a batch is released before the next one is asked for, so that memory can be used again
}

// Tables opens several inputs, folders and patterns as one table, with the rows and columns that the flags choose.
func (p *Opener) Tables(ctx context.Context, locations []string, t *TableFlags, o TablesOptions) (table.Source, error) {
	ro, err := p.Use(&t.Read)
	if err != nil {
		return nil, err
	}
	if p.Scan, err = t.Rows.Options(); err != nil {
		return nil, err
	}
	p.Scan.Reuse = o.Reuse
	if ro.Dictionaries = o.Dictionaries; o.Columns != nil {
		ro.Columns = o.Columns
	}
	ro.BatchRows = o.BatchRows
	if limit := t.Rows.Limit; limit >= 0 && limit < table.DefaultBatchRows {
		ro.BatchRows = int(max(limit, 1))
	}
	if ro.Limit = t.Rows.Limit; ro.Limit <= 0 {
		ro.Limit = 0
	}
	if len(locations) != 1 {
		return nil, usage.Errorf("", "several inputs are not supported yet")
	}
	return p.Source(ctx, locations[0], t.Read.From, ro)
}
