package inspect

import (
	"context"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/table/provider"
)

// maxParts is the number of fields of a region that are shown. The bytes behind them are shown without a meaning.
const maxParts = 200_000

// bytes lists all bytes of the file; if only some blocks or columns were asked for, theirs.
func (o *outline) bytes(ctx context.Context) error {
	regions, err := o.file.Regions(ctx, o.hasBlock)
	if err != nil {
		return err
	}
	for _, r := range regions {
		if r.Block < 0 && len(o.o.Groups)+len(o.o.Columns) > 0 || r.Block >= 0 && !o.hasBlock(r.Block) {
			continue
		}
		if name, ok := r.ColumnName(); len(o.o.Columns) > 0 && !(ok && o.hasColumn(name)) {
			continue
		}
		region := provider.Region{Offset: r.Offset, Size: r.Size, Name: r.Name}
		if r.Kind != layout.RegionUnused {
			region.Dump = func(ctx context.Context) (provider.Dump, error) { return o.dump(ctx, r) }
		}
		o.Bytes = append(o.Bytes, region)
	}
	return nil
}

func (o *outline) dump(ctx context.Context, r layout.Region) (d provider.Dump, err error) {
	if d.Data, err = o.file.Read(ctx, r); err != nil {
		return d, err
	}
	for _, p := range o.file.Parts(r, d.Data, maxParts) {
		d.Parts = append(d.Parts, provider.Part(p))
	}
	return d, nil
}
