package compare

import (
	"context"
	_ "embed"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// demoTable is a part of flights-3m.parquet of vega-datasets (see NOTICE), as written by "amudai cat --limit
// 100000 --format parquet".
//
//go:embed demo/flights.parquet
var demoTable []byte

// demoShard is a shard that is named by its edition.
type demoShard struct{ suite.Shard }

// Name implements [suite.Contender].
func (k demoShard) Name() string { return "edition " + k.Options.Edition.String() }

func (a group) demo() *cobra.Command {
	keep := ""
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Write a real table as shards and compare them with Parquet",
		Long: `demo writes 100,000 US flights as Parquet (zstd) and as shards of both editions into a temporary
folder, reads them in common ways, and shows sizes and times side by side.`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runDemo(cmd.Context(), keep) },
	}
	cmd.Flags().StringVar(&keep, "keep", "", "write the files into this folder and keep them")
	return cmd
}

func (a group) runDemo(ctx context.Context, keep string) (err error) {
	a.Out.Printf("Writing 100,000 US flights as Parquet and as Amudai shards, and reading them back: a few seconds.\n\n")
	dir, err := os.MkdirTemp("", "amudai-demo-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	folder := dir
	if keep != "" {
		folder = keep
		if err := os.MkdirAll(keep, 0o755); err != nil {
			return err
		}
	}
	file := filepath.Join(folder, "flights.parquet")
	if err := os.WriteFile(file, demoTable, 0o666); err != nil {
		return err
	}
	c := comparison{group: a, data: &suite.Dataset{Name: "flights"}, benchFlags: benchFlags{
		rounds: 5, limit: -1, where: "origin = 'SFO'", columns: []string{"origin", "delay"},
	}}
	if err := c.load(ctx, file, filepath.Join(dir, "table.arrow"), provider.ReadOptions{}, math.MaxInt64); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	list := Rivals()[:1]
	for _, e := range []edition.Edition{edition.E2026, edition.Reference} {
		list = append(list, demoShard{suite.Shard{Options: shard.WriterOptions{Edition: e}}})
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	result, err := suite.Run(ctx, c.data, list, suite.Options{
		Dir: dir, Rounds: c.rounds, Cores: 1, CPUs: 1, Compare: true, Report: a.benchProgress(), Wants: func(op string) bool { return !measure.IsPeak(op) },
	})
	if err != nil {
		return err
	}
	if err := c.show(result); err != nil {
		return err
	}
	if err := a.Out.Printf("Edition 2026 is the default; edition reference is for exchange with the Rust implementation.\n%s\n",
		a.Out.Paint(terminal.Green, "Both shards returned the same values in all "+terminal.Count(c.data.Rows)+" rows.")); err != nil {
		return err
	}
	if keep == "" {
		return a.tryNext("demo --keep flights    # keeps the files for the next commands", "flights")
	}
	for _, k := range list[1:] {
		path := filepath.Join(keep, "flights-"+k.(demoShard).Options.Edition.String()+".amudai.shard")
		if err := c.data.Write(ctx, k, path, 0); err != nil {
			return err
		}
	}
	return a.tryNext("", keep)
}

// tryNext proposes commands on the files in a folder, after a first one.
func (a group) tryNext(first, folder string) error {
	file := filepath.Join(folder, "flights-2026.amudai.shard")
	lines := []string{first, "head " + file, "stats " + file, "inspect -vv " + file,
		`scan ` + file + ` --where "origin = 'SFO' and delay > 300" --analyze`,
		"bench " + filepath.Join(folder, "flights.parquet") + " --edition 2026    # or any other table"}
	err := a.Out.Printf("\nTry next:\n")
	for _, line := range lines {
		if err == nil && line != "" {
			err = a.Out.Printf("  %s %s\n", a.Program, line)
		}
	}
	return err
}
