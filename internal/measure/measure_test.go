package measure

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	require.Zero(t, Median(nil))
	require.Equal(t, 2.0, Median([]float64{3, 1, 2}))
	require.Equal(t, 3.0, Median([]float64{4, 1, 3, 2}))
}

func TestRatiosPairRounds(t *testing.T) {
	require.Equal(t, []float64{0.5, 0.5}, Ratios([]float64{1, 2}, []float64{2, 4}))
	require.Equal(t, []float64{0.5, 1}, Ratios([]float64{1, 2}, []float64{2}))
	require.Empty(t, Ratios([]float64{1}, nil))
}

func TestTimeCountsAllRuns(t *testing.T) {
	runs := 0
	took, err := Time(func() error { runs++; return nil })
	require.NoError(t, err)
	require.Positive(t, runs)
	require.LessOrEqual(t, runs, mostRuns)
	require.GreaterOrEqual(t, took, 0.0)

	failed := errors.New("failed")
	_, err = Time(func() error { return failed })
	require.ErrorIs(t, err, failed)
	_, err = Clock(func() error { return failed })
	require.ErrorIs(t, err, failed)
}
