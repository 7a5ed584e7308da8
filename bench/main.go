// Command bench compares shards with Parquet on whole data sets: size, write,
// scan, projection and opening, on one core, in the same process and run. Every
// figure is the median CPU time of several interleaved rounds, given as a ratio
// to arrow-go's Parquet with zstd (smaller is better), because machines are
// noisy and an absolute time means nothing.
//
//	go run ./bench                        flights, a cut of the corpus logs, wide data made here
//	go run ./bench -data DIR -sets all    also lineitem, lineitemi, logs: Arrow IPC files in DIR
//	go run ./bench -memory                peak anonymous memory of writing and scanning, in processes of their own
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strings"
)

type config struct {
	data, shared string
	sets         []string
	contenders   string
	ops          string
	rounds       int
	cores        int
	rows         int64
	jsonFile     string
	profile      string
	memory       bool
	verbose      bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == childArg {
		if err := runChild(ctx, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	c := config{}
	var sets string
	flag.StringVar(&c.data, "data", os.Getenv("AMUDAI_BENCH_DATA"), "folder of Arrow IPC files of the larger data sets")
	flag.StringVar(&c.shared, "shared", env("AMUDAI_SHARED", "../shared"), "folder of shared test data")
	flag.StringVar(&sets, "sets", "default", "data sets, comma separated; default, all")
	flag.StringVar(&c.contenders, "contenders", "", "only contenders whose name contains this")
	flag.StringVar(&c.ops, "ops", "write,scan,project,open", "operations to time")
	flag.IntVar(&c.rounds, "rounds", 3, "rounds to take the median of")
	flag.IntVar(&c.cores, "cores", 1, "cores to use")
	flag.Int64Var(&c.rows, "rows", 0, "use only this many rows of each data set")
	flag.StringVar(&c.jsonFile, "json", "", "write the figures to this file, too")
	flag.StringVar(&c.profile, "cpuprofile", "", "write a CPU profile")
	flag.BoolVar(&c.memory, "memory", false, "measure peak memory instead of time")
	flag.BoolVar(&c.verbose, "v", false, "report every round on standard error")
	flag.Parse()
	c.sets = setNames(sets, c)
	if err := run(ctx, c); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config) error {
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
	defer os.RemoveAll(dir)
	var results []*result
	for _, name := range c.sets {
		var r *result
		if c.memory {
			r, err = measureMemory(ctx, c, name, dir)
		} else {
			r, err = measureSet(ctx, c, name, dir)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		results = append(results, r)
		r.print(os.Stdout)
	}
	if c.jsonFile != "" {
		b, err := json.MarshalIndent(results, "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(c.jsonFile, b, 0o644)
	}
	return nil
}

func setNames(sets string, c config) []string {
	switch sets {
	case "default":
		return []string{"flights", "logcut", "wide"}
	case "all":
		return []string{"flights", "lineitem", "lineitemi", "logs", "wide"}
	}
	return strings.Split(sets, ",")
}

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}
