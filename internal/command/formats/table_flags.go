package formats

import (
	"context"

	"github.com/spf13/cobra"

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
	Decimals64   []string // columns whose decimals may have 64 bits
	Silent       bool     // no messages
	Reuse        bool     // a batch is released before the next one is asked for, so that memory can be used again
}

// Tables opens several inputs, folders and patterns as one table, with the rows and columns that the flags choose.
func (p *Opener) Tables(ctx context.Context, locations []string, t *TableFlags, o TablesOptions) (table.Source, error) {
	u, err := p.Union(ctx, locations, t)
	if err != nil {
		return nil, err
	}
	p.Scan.Reuse = o.Reuse
	if t.Rows.Limit >= 0 && t.Rows.Limit < table.DefaultBatchRows {
		u.Read.BatchRows = int(max(t.Rows.Limit, 1))
	}
	return u.Source(ctx, o)
}
