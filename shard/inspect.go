package shard

import (
	"context"

	"github.com/amudai/amudai-go/shard/internal/inspect"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/table/provider"
)

// PropertyEdition is the standard property with the edition of the encodings of a shard.
const PropertyEdition = shardfile.PropertyEdition

// PlainValue converts a value of a [Property] that JSON cannot represent to text.
func PlainValue(v any) any { return inspect.PlainValue(v) }

// Statistics reads what the shard records of the column at path, which may be a field of a struct (docs/format.md §10).
// Its nulls include those of the enclosing structs. No values are read.
func (s *Shard) Statistics(ctx context.Context, path string) (provider.ColumnStatistics, error) {
	return s.recorded().Column(ctx, path)
}

// StripeStatistics is [Shard.Statistics] for stripe i. It panics unless 0 <= i < NumStripes.
func (s *Shard) StripeStatistics(ctx context.Context, i int, path string) (provider.ColumnStatistics, error) {
	return s.recorded().ColumnOf(ctx, s.file.Stripe(i), path)
}

func (s *Shard) recorded() inspect.Recorded {
	return inspect.Recorded{File: s.file, Schema: s.schema, Table: s.table}
}
