package write

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// CheckSchema compares the names and types of a batch with those of a shard.
func CheckSchema(s, shard *arrow.Schema) error {
	if s.NumFields() != shard.NumFields() {
		return fmt.Errorf("batch has %d columns, the shard %d", s.NumFields(), shard.NumFields())
	}
	for i, want := range shard.Fields() {
		got := s.Field(i)
		if got.Name != want.Name || !arrow.TypeEqual(got.Type, want.Type) {
			return fmt.Errorf("column %d of the batch is %q %v, the shard has %q %v", i, got.Name, got.Type, want.Name, want.Type)
		}
	}
	return nil
}

// CheckBatch looks at the arrays of a batch before anything walks them, and for nulls where the schema of the shard allows none.
func CheckBatch(batch arrow.RecordBatch, shard *arrow.Schema) error {
	if err := arrowutil.CheckBatch(batch); err != nil {
		return err
	}
	for i, c := range batch.Columns() {
		f := shard.Field(i)
		own := f.Type.ID() != arrow.NULL && kinds.Of(f.Type) != kinds.Choice // the nulls of unions are those of alternatives
		if own && !f.Nullable && arrowutil.NullN(c) > 0 {
			return fmt.Errorf("column %q has %d nulls, but its field is not nullable", f.Name, arrowutil.NullN(c))
		}
	}
	return nil
}
