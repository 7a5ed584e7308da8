// Command bench compares shards with Parquet and other formats on whole data sets: size, write,
// scan, projection, opening, taking rows, filters, two threads and peak memory, in the same
// process and run. Every figure is the median of several interleaved rounds, given as a ratio
// to arrow-go's Parquet with zstd (smaller is better), because machines are noisy and an
// absolute time means nothing. The results of all contenders are compared once.
//
//	go run -C bench .                        flights, a cut of the corpus logs, wide and nested data made here
//	go run -C bench . -data DIR -sets all    also lineitem, lineitemi, logs: Arrow IPC files in DIR
//	go run -C bench . -sets traces           a million spans: Blockpack files, shards and Parquet of the same rows
//	go run -C bench . -memory                only peak anonymous memory of writing and scanning, in processes of their own
//	go run -C bench . -memory -sets flights100m    the same for 102 million rows
//	go run -C bench . -questions -peers python3     ClickBench's questions on data made like its table, beside DuckDB
//	go run -C bench . -search -peers python3        searches of log lines and prose, beside Tantivy, SQLite, Lance, ripgrep
//	go run -C bench . -ablation all a.arrow b.arrow    what tables take without each of the encodings
//	go run -C bench . -show a.json b.json           the tables of earlier runs
//	go run -C bench . -render a.json README.md      the tables within documents made anew
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"

	"github.com/amudai/amudai-go/bench/ablation"
	"github.com/amudai/amudai-go/bench/searches"
	"github.com/amudai/amudai-go/bench/zoo"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
)

type config struct {
	data, shared string
	sets         []string
	only         string
	ops          string
	rounds       int
	cores        int
	rows         int64
	jsonFile     string
	profile      string
	verbose      bool
	show, render bool
	questions    bool
	searches     bool
	peers        string
	started      []*peer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) == 3 && os.Args[1] == childArg {
		exit(suite.Child(ctx, os.Args[2], find, os.Stdout))
	}
	c := config{}
	var sets string
	flag.StringVar(&c.data, "data", os.Getenv("AMUDAI_BENCH_DATA"), "folder of Arrow IPC files of the larger data sets")
	flag.StringVar(&c.shared, "shared", cmp.Or(os.Getenv("AMUDAI_SHARED"), "../../shared"), "folder of shared test data")
	flag.StringVar(&sets, "sets", "default", "data sets, comma separated; default, all, unseen, zoo, zoo-tuned (its columns that are not held out), zoo/NAME")
	flag.StringVar(&c.only, "contenders", "", "only contenders whose name contains one of these, comma separated, and the base")
	flag.StringVar(&c.ops, "ops", "", "operations to measure, comma separated, all by default: \"write,scan,reuse,project,open,take,filter,count,scan 2t,write peak\"")
	flag.IntVar(&c.rounds, "rounds", 3, "rounds to take the median of")
	flag.IntVar(&c.cores, "cores", 1, "cores to use but for operations of two threads")
	flag.Int64Var(&c.rows, "rows", 0, "use only this many rows of each data set")
	flag.StringVar(&c.jsonFile, "json", "", "write the figures to this file, too, in place of those that it has of the same sets")
	flag.StringVar(&c.profile, "cpuprofile", "", "write a CPU profile")
	memory := flag.Bool("memory", false, "measure peak memory only: -ops \"write peak,scan peak\"")
	flag.BoolVar(&c.verbose, "v", false, "report every figure on standard error")
	flag.BoolVar(&c.show, "show", false, "print the tables of files written with -json")
	flag.BoolVar(&c.render, "render", false, "write the figures of a file written with -json into documents")
	flag.StringVar(&c.peers, "peers", "", "Python to measure pyarrow, DuckDB, Vortex and Lance with, too, as far as they are installed")
	flag.BoolVar(&c.questions, "questions", false, "ask ClickBench's 43 questions, or those whose numbers -ops has, on data made like its table, beside DuckDB (-peers)")
	flag.BoolVar(&c.searches, "search", false, "search log lines and prose, beside Tantivy, SQLite, Lance and ripgrep, as far as -peers has them; -ops has kinds of searches")
	without := flag.String("ablation", "", "write the Arrow IPC files that are given without each of these encodings, comma separated, or \"all\"")
	dump := flag.String("dump", "", "write the columns of the zoo that are not held out to this folder, each of -rows values")
	flag.Parse()
	if *dump != "" {
		exit(dumpZoo(c, *dump))
	}
	if *without != "" {
		exit(ablation.Run(ctx, ablation.Options{Names: *without, Only: c.only, Rows: c.rows, Verbose: c.verbose}, flag.Args(), os.Stdout))
	}
	if c.show {
		exit(showFiles(os.Stdout, flag.Args()))
	}
	if c.render {
		exit(renderFiles(flag.Args()))
	}
	c.sets = setNames(sets)
	if *memory {
		c.ops = measure.OpPeakWrite + "," + measure.OpPeakScan
	}
	if !c.questions && !c.searches {
		if err := c.check(flag.Args()); err != nil {
			exit(err)
		}
	}
	exit(run(ctx, c))
}

// exit ends the program.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, c config) (err error) {
	runtime.GOMAXPROCS(c.cores)
	if c.profile != "" {
		f, err := os.Create(c.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	dir, err := os.MkdirTemp("", "amudai-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if c.peers != "" && !c.searches {
		if c.started, err = startPeers(ctx, c.peers, dir); err != nil {
			return err
		}
		for _, p := range c.started {
			defer p.Stop()
		}
	}
	if c.searches {
		return searches.Run(ctx, searches.Options{
			Python: c.peers, Folder: cmp.Or(c.data, dir), Corpus: filepath.Join(c.shared, "corpus"), Rows: cmp.Or(c.rows, 1_000_000),
			Rounds: c.rounds, Sets: c.sets, Kinds: c.ops, Engines: c.only, Logs: loadLogs,
		}, os.Stdout)
	}
	if c.questions {
		return askHits(ctx, c, dir, os.Stdout)
	}
	var results, others []*measure.Result
	if c.jsonFile != "" {
		others, err = measure.Load[*measure.Result](c.jsonFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		others = slices.DeleteFunc(others, func(r *measure.Result) bool { return slices.Contains(c.sets, r.Set) })
	}
	for _, name := range c.sets {
		r, err := measureSet(ctx, c, name, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		results = append(results, r)
		if !strings.HasPrefix(r.Set, zooPrefix) {
			printResult(os.Stdout, r)
		}
		if c.jsonFile != "" {
			if err := measure.Save(c.jsonFile, slices.Concat(others, results)); err != nil { // the results so far
				return err
			}
		}
	}
	printTexts(os.Stdout, results)
	printUnseen(os.Stdout, results)
	return nil
}

// childArg makes this program do one operation and report its peak memory.
const childArg = "-child"

// measureSet measures every operation of every contender on a data set.
func measureSet(ctx context.Context, c config, name, dir string) (*measure.Result, error) {
	dir, err := os.MkdirTemp(dir, "set") // removed before the next set
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	d, err := load(ctx, c, name, dir)
	if err != nil {
		return nil, err
	}
	for _, p := range c.started {
		if p.input, err = d.Input(dir); err != nil {
			return nil, err
		}
	}
	list := c.chosen(d)
	o := suite.Options{Dir: dir, Rounds: c.rounds, Cores: c.cores, Wants: c.wants, Compare: true, Child: []string{childArg}}
	if c.verbose {
		o.Report = func(contender, op string, value float64) {
			fmt.Fprintf(os.Stderr, "%-12s %-28s %-12s %.4f %s\n", name, contender, op, value, measure.Unit(op))
		}
	}
	return suite.Run(ctx, d, list, o)
}

func setNames(sets string) []string {
	switch sets {
	case "default":
		return []string{"flights", "logcut", "wide", "nested"}
	case "all":
		return []string{"flights", "lineitem", "lineitemi", "logs", "wide10k", "wide", "nested"}
	case "zoo":
		return zooSets(zoo.Columns())
	case "unseen":
		return unseenSets()
	case "zoo-tuned":
		return zooSets(zoo.Tuned())
	}
	return strings.Split(sets, ",")
}

// showFiles prints the tables of several runs as one.
func showFiles(w io.Writer, paths []string) error {
	if len(paths) == 0 {
		return errors.New("-show takes files written with -json")
	}
	var all []*measure.Result
	for _, path := range paths {
		results, err := measure.Load[*measure.Result](path)
		if err != nil {
			return err
		}
		all = append(all, results...)
	}
	for _, r := range all {
		if !strings.HasPrefix(r.Set, zooPrefix) {
			printResult(w, r)
		}
	}
	printTexts(w, all)
	printUnseen(w, all)
	return nil
}
