package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/bench/ablation"
	"github.com/amudai/amudai-go/bench/synthetic"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// TestMain lets this program be the process of its own that measures peaks.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == childArg {
		exit(suite.Child(context.Background(), os.Args[2], find, os.Stdout))
	}
	os.Exit(m.Run())
}

func TestPeaks(t *testing.T) {
	dir := t.TempDir()
	c := config{rounds: 3, cores: 1, rows: 300, only: "2026 Balanced,snappy,ipc", ops: measure.OpPeakScan}
	r, err := measureSet(t.Context(), c, "nested", dir)
	require.NoError(t, err)
	require.Equal(t, []string{measure.OpPeakWrite, measure.OpPeakScan}, r.Ops)
	require.Len(t, r.Runs, 5)
	for _, f := range r.Runs {
		require.Positive(t, f.Size, f.Name)
		require.Len(t, f.Values[measure.OpPeakWrite], 1, f.Name)
		require.Greater(t, f.Median(measure.OpPeakScan), 1.0, f.Name)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestVeryLongDataAreForMemory repeats flights; contenders stream them.
func TestVeryLongDataAreForMemory(t *testing.T) {
	d := named("flights100m")
	require.Equal(t, []string{measure.OpPeakWrite, measure.OpPeakScan}, d.Operations())
	d.Schema = arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int32}}, nil)
	var names []string
	for _, k := range contenders() {
		if k.Can(d, measure.OpWrite) {
			names = append(names, k.Name())
		}
	}
	require.Equal(t, []string{baseName, "amudai reference Balanced", "amudai 2026 Balanced"}, names)
}

// nestedRace is the smallest comparison there is.
func nestedRace(t *testing.T) *measure.Result {
	t.Helper()
	c := config{rounds: 2, rows: 300, ops: "write,scan,project,open,take"}
	r, err := measureSet(t.Context(), c, "nested", t.TempDir())
	require.NoError(t, err)
	return r
}

func TestOptionsThatMeasureNothingAreRefused(t *testing.T) {
	good := config{sets: setNames("default"), rounds: 1, cores: 1, ops: "write,filter,scan 2t", only: "2026 Balanced,snappy"}
	require.NoError(t, good.check(nil))
	require.ErrorContains(t, good.check([]string{"flights"}), "no option")
	for want, change := range map[string]func(c *config){
		"there are write, scan":    func(c *config) { c.ops = "write,scna" },
		"there are parquet zstd":   func(c *config) { c.only = "arquet,vortexx" },
		"at least 1":               func(c *config) { c.rounds = 0 },
		"-rows is not negative":    func(c *config) { c.rows = -1 },
		"-rounds and -cores are a": func(c *config) { c.cores = 0 },
	} {
		bad := good
		change(&bad)
		require.ErrorContains(t, bad.check(nil), want)
	}
}

func TestMemoryOfContendersThatCan(t *testing.T) {
	d := named("nested")
	synthetic.Orders(d, 50)
	path, err := d.Input(t.TempDir())
	require.NoError(t, err)
	again := named("nested")
	require.NoError(t, again.Map(path))
	require.EqualValues(t, 50, again.Batches[0].NumRows())
	same, err := again.Input(t.TempDir())
	require.NoError(t, err)
	require.Equal(t, path, same, "what is mapped is not written again")
	again.Cut(20)
	cut, err := again.Input(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, again.Map(cut))
	require.EqualValues(t, 20, again.Rows)
}

func TestQuestionsAreFilters(t *testing.T) {
	for set, list := range questions {
		for _, q := range list {
			_, err := filter.Parse(q.Where)
			require.NoError(t, err, "%s: %s", set, q.Name)
		}
	}
}

func TestContendersAnswerAlike(t *testing.T) {
	r := nestedRace(t)
	require.EqualValues(t, 300, r.Rows)
	require.Len(t, r.Runs, len(contenders())-4, "RNTuples and Blockpack have sets of their own, and light compression is for texts")
	for _, f := range r.Runs {
		require.Positive(t, f.Size, f.Name)
		require.Len(t, f.Values[measure.OpScan], 2, f.Name)
	}
	var out bytes.Buffer
	printResult(&out, r)
	require.Contains(t, out.String(), "| parquet zstd |")
}

func TestSpans(t *testing.T) {
	require.Equal(t, []span{{3, 5}, {8, 9}}, intersect([]span{{0, 5}, {8, 20}}, []span{{3, 6}, {7, 9}}))
	require.Empty(t, intersect([]span{{0, 5}}, []span{{5, 6}}))
	require.Equal(t, []span{{0, 6}}, appendSpan([]span{{0, 2}}, span{5, 6}))
	require.Len(t, appendSpan([]span{{0, 2}}, span{2 + seekGap, 3 + seekGap}), 2)
}

func TestConditionsHoldForTheSameRows(t *testing.T) {
	d := named("wide")
	synthetic.Wide(d, 3, 100)
	where := conds{{column: "col_00000", ranged: true, from: 20_000, to: 60_000}, {column: "col_00002", contains: "ta-1"}}
	bound, err := predicate.BindText("col_00000 between 20000 and 60000 and col_00002 like '%ta-1%'", d.Schema)
	require.NoError(t, err)
	set, err := bound.Select(d.Batches[0])
	require.NoError(t, err)
	var rows []int64
	for i, keep := range where.rows(d.Batches[0]) {
		if keep {
			rows = append(rows, int64(i))
		}
	}
	require.NotEmpty(t, rows)
	require.Equal(t, rows, slices.Collect(set.Rows()))
}

// madeUp are results with a size and one operation.
func madeUp(scan ...float64) []*measure.Result {
	base := &measure.Figures{Name: baseName, Size: 1000, Values: map[string][]float64{measure.OpScan: {1, 2, 1}}}
	ours := &measure.Figures{Name: "amudai 2026 Balanced", Size: 960, Values: map[string][]float64{measure.OpScan: scan}}
	return []*measure.Result{{Set: "flights", Ops: []string{measure.OpScan}, Runs: []*measure.Figures{base, ours}}}
}

// TestDocumentsShowTheirFigures requires that the tables of the documents are those of the file of figures.
func TestDocumentsShowTheirFigures(t *testing.T) {
	figures, err := measure.Load[*measure.Result]("../docs/figures.json")
	require.NoError(t, err)
	for _, path := range []string{"../README.md", "../docs/performance.md"} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Regexp(t, figuresBlock, string(text), path)
		rendered, err := render(text, figures)
		require.NoError(t, err, path)
		require.Equal(t, string(rendered), string(text), "%s: make figures", path)
	}
}

func TestRenderingNamesWhatIsMissing(t *testing.T) {
	text := []byte("a\n<!-- figures flights -->\nold\n<!-- end of figures -->\nb\n")
	rendered, err := render(text, madeUp(0.12, 0.24, 0.09))
	require.NoError(t, err)
	require.Regexp(t, `(?s)^a\n<!-- figures flights -->\n.*\| amudai 2026 Balanced \| 0.960 \|.*<!-- end of figures -->\nb\n$`, string(rendered))
	again, err := render(rendered, madeUp(0.12, 0.24, 0.09))
	require.NoError(t, err)
	require.Equal(t, string(rendered), string(again))
	_, err = render([]byte(strings.ReplaceAll(string(text), "flights", "logs")), madeUp(0.1))
	require.ErrorContains(t, err, `no figures of "logs"`)
}

// Tables that are furthest from a goal come first, and other sets are not among them.
func TestWorstUnseenTablesComeFirst(t *testing.T) {
	of := func(set string, size int64) *measure.Result {
		return &measure.Result{Set: set, Runs: []*measure.Figures{{Name: baseName, Size: 100}, {Name: vortexName, Size: 80}, {Name: ours + balanced, Size: size}}}
	}
	var out strings.Builder
	printUnseen(&out, []*measure.Result{of("unseen5/wind", 60), of("unseen3/genes", 88), of("flights", 900)})
	require.Regexp(t, `(?s)\| genes \| 0 \| 1.10 \|.*\| wind on a grid \| 0 \| 0.75 \|.*mean\* \|  \| 0.91 \|`, out.String())
	require.NotContains(t, out.String(), "flights")
}

// TestZoo measures a column of texts, with questions about its values.
func TestZoo(t *testing.T) {
	c := config{rounds: 1, rows: 300, only: "2026 Balanced"}
	r, err := measureSet(t.Context(), c, "zoo/uuid", t.TempDir())
	require.NoError(t, err)
	require.Equal(t, []string{measure.OpWrite, measure.OpScan, measure.OpReuse, measure.OpViews, measure.OpTake, opEquals, opPrefix, opContains}, r.Ops)
	var out bytes.Buffer
	printTexts(&out, []*measure.Result{r})
	require.Contains(t, out.String(), "| tuned |")
	require.Contains(t, out.String(), "| median |")
	require.NotContains(t, out.String(), "held out")
}

// Few distinct values take more without a dictionary, and no more without an encoding that is not chosen.
func TestAblation(t *testing.T) {
	d := &suite.Dataset{Name: "few_distinct"}
	require.NoError(t, makeZoo(d, config{rows: 3000}, "few_distinct"))
	path := filepath.Join(t.TempDir(), "few_distinct.arrow")
	require.NoError(t, d.Save(path))
	var out bytes.Buffer
	require.NoError(t, ablation.Run(t.Context(), ablation.Options{Names: "all", Only: "2026 Balanced"}, []string{path}, &out))
	require.Regexp(t, `\| FOR \| 2026 Balanced \| 1\.000 \| few_distinct \| 1\.000 \|`, out.String())
	require.Regexp(t, `\| 2026 Balanced \| 1\.0[1-9]`, out.String())
}
