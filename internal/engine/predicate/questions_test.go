package predicate_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/testing/filtertest"
)

// Conditions on real data select the same rows as in another engine.
func TestQuestions(t *testing.T) {
	all := filtertest.Questions(t)
	require.GreaterOrEqual(t, len(all), 25)
	for _, dataset := range filtertest.Datasets(t) {
		found := make([][]int64, len(all))
		filtertest.Batches(t, dataset, func(first int64, batch arrow.RecordBatch) {
			for i, q := range all {
				if q.Dataset != dataset {
					continue
				}
				b, err := predicate.BindText(q.Filter, batch.Schema())
				require.NoError(t, err, q.Filter)
				rows, err := b.Select(batch)
				require.NoError(t, err, q.Filter)
				for row := range rows.Shift(first).Rows() {
					found[i] = append(found[i], row)
				}
			}
		})
		for i, q := range all {
			if q.Dataset == dataset {
				q.Check(t, found[i])
			}
		}
	}
}
