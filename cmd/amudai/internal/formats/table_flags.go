package formats

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
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

// Tables opens several inputs, folders and patterns as one table, with the rows and columns that the flags choose, and
// further options of the scan.
func (p *Opener) Tables(ctx context.Context, locations []string, t *TableFlags, o table.ScanOptions) (provider.Source, error) {
	u, err := p.Union(ctx, locations, t)
	if err != nil {
		return nil, err
	}
	if o.Columns != nil {
		u.Scan.Columns = o.Columns
	}
	u.Scan.Dictionaries, u.Scan.Decimals64, u.Scan.Reuse = o.Dictionaries, o.Decimals64, o.Reuse
	return u.Source(ctx, u.Scan)
}
