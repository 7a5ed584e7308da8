package formats

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/table/provider"
)

// Create makes a sink of a format other than shards. "-" is stdout. Only force replaces an existing output.
func Create(ctx context.Context, stdout io.Writer, location string, f provider.Format, schema *arrow.Schema, force bool, o provider.WriteOptions) (provider.Sink, error) {
	out, err := files.Create(ctx, location, force, stdout)
	if err != nil {
		return nil, err
	}
	sink, err := f.Create(ctx, out, schema, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write %s: %w", f.Title, err), out.Abort(context.WithoutCancel(ctx)))
	}
	return sink, nil
}
