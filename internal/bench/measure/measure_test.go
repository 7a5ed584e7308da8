package measure

import (
	"errors"
	"runtime"
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

// figuresOf is a result of two contenders with one operation.
func figuresOf(op string, base, other []float64) *Result {
	return &Result{Ops: []string{op}, Runs: []*Figures{
		{Name: "base", Size: 2_000_000, Values: map[string][]float64{op: base}},
		{Name: "other", Size: 1_000_000, Values: map[string][]float64{op: other}},
	}}
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		op          string
		base, other []float64
		want        [2]string
	}{
		{OpSize, nil, nil, [2]string{"2.0 MB", "0.500"}},
		{OpScan, []float64{2, 4, 4}, []float64{1, 1, 2}, [2]string{"4.000 s", "0.500 (0.25–0.50)"}},
		{OpScan, []float64{2}, nil, [2]string{"2.000 s", "-"}},
		{OpTake, nil, []float64{1}, [2]string{"-", "-"}},
		{OpPeakScan, []float64{200}, []float64{50}, [2]string{"200 MiB", "0.25: 50 MiB"}},
		{OpPeakScan, nil, []float64{50}, [2]string{"-", "50 MiB"}},
	} {
		r := figuresOf(c.op, c.base, c.other)
		require.Equal(t, c.want, [2]string{r.Cell("base", c.op), r.Cell("other", c.op)}, c.op)
	}
	require.False(t, figuresOf(OpScan, nil, nil).Stat("nobody", OpScan, "base").Known)
}

func TestSharesStandForThemselves(t *testing.T) {
	r := figuresOf(OpScanTwo, []float64{1}, []float64{1})
	r.Runs[1].Values[OpScanShare] = []float64{1.5}
	require.Equal(t, 0.75, r.Stat("other", OpScanShare, "base").Median)
	require.Equal(t, "-", r.Cell("base", OpScanShare))
	r.Runs[0].Values[OpScanShare] = []float64{2}
	require.Equal(t, "1.000", r.Cell("base", OpScanShare))
}

func TestTitlesMarkWhatIsDoneByHand(t *testing.T) {
	for _, op := range []string{OpTake, OpFilter + "x", OpCount + "x", OpWriteTwo} {
		require.Equal(t, op+" *", Title(op))
	}
	for _, op := range []string{OpSize, OpScan, OpWrite, OpProject, OpWriteShare, OpPeakScan} {
		require.Equal(t, op, Title(op))
	}
}

func TestPeakSeesMemory(t *testing.T) {
	const mib = 64
	failed := errors.New("failed")
	var held []byte
	most, err := Peak(func() error {
		held = make([]byte, mib<<20)
		for i := range held {
			held[i] = 1
		}
		return failed
	})
	require.ErrorIs(t, err, failed)
	require.GreaterOrEqual(t, most, float64(mib)*0.9)
	runtime.KeepAlive(held)
}
