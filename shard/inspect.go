package shard

import (
	"context"

	"github.com/amudai/amudai-go/shard/internal/inspect"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// PropertyEdition is the standard property with the edition of the encodings of a shard.
const PropertyEdition = shardfile.PropertyEdition

// PlainValue converts a value of a [Property] that JSON cannot represent to text.
func PlainValue(v any) any { return inspect.PlainValue(v) }

// ColumnStatistics are the stored statistics of a column, in a shard or in one of its stripes
// (docs/format.md §10). Min and Max are garbage collected and need no Release.
//
//	type ColumnStatistics struct {
//		Rows  int64 // of the shard or stripe
//		Nulls int64 // rows whose value is null, or -1 if it is not known
//		// Bounds of the values that are neither null nor NaN: arrays of one value of the column's physical type (see
//		// stripe.Physical), or nil if the bound is not known or there are no such values. If it is exact, the bound itself
//		// occurs in the column; otherwise all values may lie further inside.
//		Min, Max           arrow.Array
//		MinExact, MaxExact bool
//		RawBytes           int64 // size of the values without any encoding, or 0 if it is not recorded
//		DictionaryEntries  int64 // of the value dictionary of a stripe, null included; 0 without one, and for a whole shard
//		NaNs               int64 // values that are NaN, or -1 if it is not known; 0 for types without NaN
//		Distinct           int64 // distinct values without nulls, or -1 if it is not known
//		DistinctEstimated  bool  // Distinct is not exact
//	}
type ColumnStatistics = inspect.ColumnStatistics

// Statistics reads the stored statistics of the column at path, which may be a field of a struct.
// Its nulls include those of the enclosing structs. No values are read.
func (s *Shard) Statistics(ctx context.Context, path string) (*ColumnStatistics, error) {
	return s.recorded().Column(ctx, path)
}

// StripeStatistics is [Shard.Statistics] for stripe i. It panics unless 0 <= i < NumStripes.
func (s *Shard) StripeStatistics(ctx context.Context, i int, path string) (*ColumnStatistics, error) {
	return s.recorded().ColumnOf(ctx, s.file.Stripe(i), path)
}

func (s *Shard) recorded() inspect.Recorded {
	return inspect.Recorded{File: s.file, Schema: s.schema, Table: s.table}
}
