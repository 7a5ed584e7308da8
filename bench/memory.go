package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/measure"
)

// childArg makes this program do one operation and report its peak memory.
const childArg = "-child"

// task is what a child does.
type task struct {
	Contender, Op, Path string
	Input               string // Arrow IPC file to write from
	Times               int    // how often to write it, the dates of each time later than those before
}

// repeated are data sets that are another one many times over. They are only
// streamed, by default contenders.
var repeated = map[string]struct {
	of    string
	times int
}{"flights100m": {"flights", 34}}

// measureMemory writes from a file on disk and scans, each in a process of its
// own, and reports the peak of anonymous resident memory.
func measureMemory(ctx context.Context, c config, name, dir string) (*result, error) {
	source, times := name, 1
	if many, ok := repeated[name]; ok {
		source, times = many.of, many.times
	}
	d, err := load(ctx, c, source, dir)
	if err != nil {
		return nil, err
	}
	input, err := d.inputFile(c, dir)
	if err != nil {
		return nil, err
	}
	r := &result{Set: name, Unit: measure.MiB, Ops: []string{opWrite, opScan}}
	for i, k := range c.contenders() {
		if !k.can(d, opWrite) || !k.can(d, opScan) {
			continue
		}
		s, profiled := k.(shardFile)
		if times > 1 && k.name() != baseName && (!profiled || s.profile != encoding.Balanced) {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%s-%d", name, i))
		f := &figures{Name: k.name(), Values: map[string][]float64{}}
		for _, op := range r.Ops {
			peak, err := runTask(ctx, c, task{Contender: k.name(), Op: op, Path: path, Input: input, Times: times})
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", k.name(), op, err)
			}
			f.Values[op] = []float64{peak.MiB}
			r.Rows = max(r.Rows, peak.Rows)
			if c.verbose {
				fmt.Fprintf(os.Stderr, "%-12s %-28s %-12s %.0f MiB %.1f s\n", name, k.name(), op, peak.MiB, peak.Seconds)
			}
		}
		if info, err := os.Stat(path); err == nil {
			f.Size = info.Size()
		}
		os.Remove(path)
		r.Runs = append(r.Runs, f)
	}
	return r, nil
}

// peak is what a child reports.
type peak struct {
	MiB, Seconds float64
	Rows         int64
}

func runTask(ctx context.Context, c config, t task) (p peak, err error) {
	arg, err := json.Marshal(t)
	if err != nil {
		return p, err
	}
	exe, err := os.Executable()
	if err != nil {
		return p, err
	}
	cmd := exec.CommandContext(ctx, exe, childArg, string(arg))
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", c.cores))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(out, &p)
}

// runChild does a task while it samples its own memory.
func runChild(ctx context.Context, args []string) error {
	var t task
	if err := json.Unmarshal([]byte(args[0]), &t); err != nil {
		return err
	}
	k, err := find(t.Contender)
	if err != nil {
		return err
	}
	most := make(chan float64)
	done := make(chan struct{})
	go samplePeak(done, most)
	var out outcome
	if t.Op == opWrite {
		out.rows, err = writeFromDisk(ctx, k, t)
	} else {
		err = k.read(ctx, t.Path, query{threads: 1}, &out)
	}
	close(done)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(peak{MiB: <-most, Seconds: measure.CPU(), Rows: out.rows})
}

// writeFromDisk writes a file batch by batch, and never holds more than one.
func writeFromDisk(ctx context.Context, k contender, t task) (rows int64, err error) {
	f, err := os.Open(t.Input)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n := 0
	var last arrow.RecordBatch
	err = k.write(ctx, t.Path, r.Schema(), func() (arrow.RecordBatch, error) {
		if last != nil {
			last.Release()
			last = nil
		}
		if n == r.NumRecords()*t.Times {
			return nil, nil
		}
		b, err := r.RecordBatchAt(n % r.NumRecords())
		if err != nil {
			return nil, err
		}
		last = later(b, n/r.NumRecords())
		n++
		rows += last.NumRows()
		return last, nil
	}, 1)
	return rows, err
}

// period is how much later the dates are each time that a data set is repeated:
// a bit more than the half year of flights, in microseconds.
const period = 182 * 24 * 3600 * 1_000_000

// later shifts the timestamps of a batch.
func later(b arrow.RecordBatch, times int) arrow.RecordBatch {
	for _, col := range b.Columns() {
		if t, ok := col.(*array.Timestamp); ok && times > 0 {
			values := t.TimestampValues() // nobody else has the batch: it was just read
			for i := range values {
				values[i] += arrow.Timestamp(times) * period
			}
		}
	}
	return b
}

// samplePeak watches the anonymous resident memory; where the system does not
// tell it, what the Go runtime holds.
func samplePeak(done <-chan struct{}, out chan<- float64) {
	most := 0.0
	for {
		most = max(most, anonymousMiB())
		select {
		case <-done:
			out <- most
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func anonymousMiB() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.Sys-m.HeapReleased) / (1 << 20)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "RssAnon:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024
		}
	}
	return 0
}
