// Package ablation shows what each encoding brings: how much more tables take if it is not chosen.
package ablation

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	_ "unsafe" // for linkname

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard"
)

// The encoding that is not chosen for numbers, and for byte strings.
//
//go:linkname withoutNumbers github.com/amudai/amudai-go/encoding/numeric/internal/encode.without
var withoutNumbers encoding.Code

//go:linkname withoutTexts github.com/amudai/amudai-go/encoding/bytestring/internal/encode.without
var withoutTexts encoding.Code

// ablated are the shards that are written without an encoding.
var ablated = []suite.Shard{
	{Options: shard.WriterOptions{Edition: edition.E2026, Profile: encoding.Balanced}},
	{Options: shard.WriterOptions{Edition: edition.E2026, Profile: encoding.HighCompression}},
	{Options: shard.WriterOptions{Edition: edition.E2026, Profile: encoding.MinimalSize}},
	{Options: shard.WriterOptions{Edition: edition.Reference, Profile: encoding.Balanced}},
}

// effort is what a table takes: bytes, and CPU seconds to write and to scan.
type effort [3]float64

// loss is what tables take without an encoding, as ratios to what they take with it.
type loss struct {
	worst float64 // in bytes
	table string
	logs  effort // the sums of logarithms
}

// Options say what is written.
type Options struct {
	Names string // of the encodings, comma separated, or "all"
	Only  string // a part of the names of the shards
	Rows  int64  // of each table at most, 0 for all
	// Verbose reports every table on standard error.
	Verbose bool
}

// Run writes Arrow IPC files without each of the encodings, and prints for each profile of which table that makes how much larger, and the
// geometric means of size, writing and scanning.
func Run(ctx context.Context, o Options, files []string, w io.Writer) error {
	var list []encoding.Code
	for code := range encoding.Code(math.MaxUint16) {
		if code.Known() && code != encoding.Plain && code != encoding.SingleValue && (o.Names == "all" || slices.Contains(strings.Split(o.Names, ","), code.String())) {
			list = append(list, code)
		}
	}
	runtime.GOMAXPROCS(1)
	dir, err := os.MkdirTemp("", "ablation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	shards := slices.DeleteFunc(slices.Clone(ablated), func(k suite.Shard) bool { return !strings.Contains(k.Name(), o.Only) })
	losses := make([][]loss, len(list))
	for i := range losses {
		losses[i] = make([]loss, len(shards))
	}
	for _, file := range files {
		d := &suite.Dataset{}
		if err := d.Map(file); err != nil {
			return err
		}
		if o.Rows > 0 {
			d.Cut(o.Rows)
		}
		for at, k := range shards {
			withoutNumbers, withoutTexts = 0, 0
			all, err := effortOf(ctx, d, k, filepath.Join(dir, "all"))
			if err == nil { // the first run of all reads the table from the disk
				all, err = effortOf(ctx, d, k, filepath.Join(dir, "all"))
			}
			for i := 0; i < len(list) && err == nil; i++ {
				withoutNumbers, withoutTexts = list[i], list[i]
				var e effort
				e, err = effortOf(ctx, d, k, filepath.Join(dir, "without"))
				losses[i][at].add(strings.TrimSuffix(filepath.Base(file), ".arrow"), e, all)
				if o.Verbose {
					fmt.Fprintln(os.Stderr, list[i], k.Name(), file, e, all)
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	t := table.NewWriter()
	t.AppendHeader(table.Row{"without", "shard", "largest", "table", "size", "write", "scan"})
	for i, code := range list {
		for at, k := range shards {
			l := losses[i][at]
			row := table.Row{code, strings.TrimPrefix(k.Name(), "amudai "), fmt.Sprintf("%.3f", l.worst), l.table}
			for _, sum := range l.logs {
				row = append(row, fmt.Sprintf("%.3f", math.Exp(sum/float64(len(files)))))
			}
			t.AppendRow(row)
		}
	}
	_, err = fmt.Fprintln(w, t.RenderMarkdown())
	return err
}

// effortOf writes and scans a table.
func effortOf(ctx context.Context, d *suite.Dataset, k suite.Shard, path string) (e effort, err error) {
	steps := [...]func() error{
		func() error { return d.Write(ctx, k, path, 1) },
		func() error { return k.Read(ctx, path, suite.Query{Threads: 1}, &suite.Outcome{}) },
	}
	for i, step := range steps {
		runtime.GC()
		before := measure.CPU()
		if err := step(); err != nil {
			return e, err
		}
		e[1+i] = measure.CPU() - before
	}
	info, err := os.Stat(path)
	if err == nil {
		e[0] = float64(info.Size())
	}
	return e, err
}

func (l *loss) add(table string, e, all effort) {
	for i := range e {
		l.logs[i] += math.Log(max(e[i], 1e-6) / max(all[i], 1e-6))
	}
	if ratio := e[0] / all[0]; ratio > l.worst {
		l.worst, l.table = ratio, table
	}
}
