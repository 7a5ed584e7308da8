package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/amudai/amudai-go/internal/bench/measure"
)

// task is the work of a child process.
type task struct {
	Contender, Op, Path string
	Input               string // Arrow IPC file to write from
	Times               int    // number of repetitions, each with later dates
}

// answer is the report of a child process.
type answer struct{ MiB float64 }

// peak does an operation in a separate process, and returns the peak of its anonymous memory in
// MiB. Data to write is read from a file on disk.
func (r *runner) peak(ctx context.Context, op string, i int) (float64, error) {
	arg, err := json.Marshal(task{r.list[i].Name(), op, r.paths[i], r.input, max(1, r.Times)})
	if err != nil {
		return 0, err
	}
	exe, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, exe, append(slices.Clone(r.Child), string(arg))...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", r.Cores), "TMPDIR="+r.Dir, "TMP="+r.Dir, "TEMP="+r.Dir)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second // then it is killed
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, fmt.Errorf("in a process of its own: %w", err)
	}
	var a answer
	err = json.Unmarshal(out, &a)
	return a.MiB, err
}

// Child does the task of a child process, and reports the result.
func Child(ctx context.Context, arg string, find func(name string) (Contender, error), w io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(arg), &t); err != nil {
		return err
	}
	k, err := find(t.Contender)
	if err != nil {
		return err
	}
	most, err := measure.Peak(func() error {
		if t.Op == measure.OpPeakWrite {
			return writeFromDisk(ctx, k, t)
		}
		return k.Read(ctx, t.Path, Query{Threads: 1}, &Outcome{})
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(answer{most})
}

// writeFromDisk writes a file batch by batch, and never holds more than one.
func writeFromDisk(ctx context.Context, k Contender, t task) error {
	return openArrow(t.Input, func(r *ipc.FileReader) error {
		n := 0
		var last arrow.RecordBatch
		return k.Write(ctx, t.Path, r.Schema(), func() (arrow.RecordBatch, error) {
			if last != nil {
				last.Release()
				last = nil
			}
			if n == r.NumRecords()*t.Times || ctx.Err() != nil {
				return nil, ctx.Err()
			}
			b, err := r.RecordBatchAt(n % r.NumRecords())
			if err != nil {
				return nil, err
			}
			last = later(b, n/r.NumRecords())
			n++
			return last, nil
		}, 1)
	})
}

// period is how much later the dates are each time that a data set is repeated:
// a bit more than the half year of flights, in microseconds.
const period = 182 * 24 * 3600 * 1_000_000

// later shifts the timestamps of a batch.
func later(b arrow.RecordBatch, times int) arrow.RecordBatch {
	for _, col := range b.Columns() {
		if t, ok := col.(*array.Timestamp); ok && times > 0 {
			values := t.TimestampValues() // the batch was just read and is not shared
			for i := range values {
				values[i] += arrow.Timestamp(times) * period
			}
		}
	}
	return b
}
