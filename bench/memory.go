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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// childArg makes this program do one operation and report its peak memory.
const childArg = "-child"

// task is what a child does.
type task struct {
	Contender, Op, Path string
	Input               string // Arrow IPC file to write from
}

// measureMemory writes from a file on disk and scans, each in a process of its
// own, and reports the peak of anonymous resident memory.
func measureMemory(ctx context.Context, c config, name, dir string) (*result, error) {
	input := filepath.Join(c.data, name+".arrow")
	if _, err := os.Stat(input); err != nil || c.data == "" {
		if input, err = saveIPC(ctx, c, name, dir); err != nil {
			return nil, err
		}
	}
	r := &result{Set: name, Unit: "MiB", Ops: []string{"write", "scan"}}
	for i, k := range contenders() {
		if k.name != baseName && !strings.Contains(k.name, c.contenders) {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%s-%d", name, i))
		f := &figures{Name: k.name, Values: map[string][]float64{}}
		for _, op := range r.Ops {
			peak, err := runTask(ctx, c, task{Contender: k.name, Op: op, Path: path, Input: input})
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", k.name, op, err)
			}
			f.Values[op] = []float64{peak}
		}
		if info, err := os.Stat(path); err == nil {
			f.Size = info.Size()
		}
		os.Remove(path)
		r.Runs = append(r.Runs, f)
	}
	return r, nil
}

func saveIPC(ctx context.Context, c config, name, dir string) (string, error) {
	d, err := load(ctx, c, name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".arrow")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(d.schema))
	if err != nil {
		return "", err
	}
	for _, b := range d.batches {
		if err := w.Write(b); err != nil {
			return "", err
		}
	}
	return path, w.Close()
}

func runTask(ctx context.Context, c config, t task) (mib float64, err error) {
	arg, err := json.Marshal(t)
	if err != nil {
		return 0, err
	}
	exe, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, exe, childArg, string(arg))
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", c.cores))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// runChild does a task while it samples its own memory.
func runChild(ctx context.Context, args []string) error {
	var t task
	if err := json.Unmarshal([]byte(args[0]), &t); err != nil {
		return err
	}
	list := contenders()
	i := slices.IndexFunc(list, func(k contender) bool { return k.name == t.Contender })
	if i < 0 {
		return fmt.Errorf("unknown contender %q", t.Contender)
	}
	peak := make(chan float64)
	done := make(chan struct{})
	go samplePeak(done, peak)
	var err error
	if t.Op == "write" {
		err = writeFromDisk(ctx, list[i], t)
	} else {
		err = list[i].scan(ctx, t.Path, nil, func(arrow.RecordBatch) error { return nil })
	}
	close(done)
	if err != nil {
		return err
	}
	fmt.Println(<-peak)
	return nil
}

func writeFromDisk(ctx context.Context, k contender, t task) error {
	f, err := os.Open(t.Input)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return err
	}
	defer r.Close()
	n := 0
	var last arrow.RecordBatch
	return k.write(ctx, t.Path, r.Schema(), func() (arrow.RecordBatch, error) {
		if last != nil {
			last.Release()
			last = nil
		}
		if n == r.NumRecords() {
			return nil, nil
		}
		n++
		last, err = r.RecordBatchAt(n - 1)
		return last, err
	})
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
