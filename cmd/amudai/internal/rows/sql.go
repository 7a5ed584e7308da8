package rows

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/base/advice"
)

// sqlProgram answers questions in SQL. It is a program of its own, because its engine, DuckDB, is not written in Go.
const sqlProgram = "amudai-sql"

func (g group) sql() *cobra.Command {
	var f app.PrintFlags
	var e engineFlags
	cmd := &cobra.Command{
		Use:   "sql [QUERY]",
		Short: "Ask tables in SQL",
		Long: `sql prints the answer to a question in the SQL of DuckDB. A name in FROM may be a location: a file in any format,
a folder, a pattern, an object of a store, or ntuple('x.root', 'Events'). Only columns and rows that the question
needs are read. Without a question it is read from stdin; on a terminal there is a prompt for several, each of which ends
with a semicolon. The program ` + sqlProgram + ` has the engine, and is looked for beside amudai and in PATH (docs/sql.md).`,
		Example: `  amudai sql "select origin, avg(delay) from 'flights.amudai.shard' group by all order by 2 desc limit 5"
  amudai sql "select * from 'a.parquet' join 'b/*.csv' using (id)" --output both.amudai.shard`,
		Args: app.Wants(0, 1, "a question in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error { return g.askSQL(cmd.Context(), args, &f, e) },
	}
	f.Register(cmd, "table on a terminal, else csv")
	cmd.Flags().StringVar(&e.database, "database", "", "a database `FILE` of DuckDB, with tables of its own (default: in memory)")
	cmd.Flags().StringVar(&e.memory, "memory", "", "what DuckDB may hold in memory before it uses temporary files, such as 2GB")
	return cmd
}

// engineFlags are those that the engine gets.
type engineFlags struct{ database, memory string }

func (g group) askSQL(ctx context.Context, args []string, f *app.PrintFlags, flags engineFlags) (err error) {
	create, _, err := g.Printer(f, "")
	if err != nil {
		return err
	}
	question, tty := "", app.TerminalOf(g.Stdin)
	prompted := len(args) == 0 && g.Progress && tty != nil
	if len(args) == 1 {
		question = args[0]
	} else if !prompted {
		b, err := io.ReadAll(g.Stdin)
		if err != nil {
			return err
		}
		question = string(b)
	}
	if strings.ContainsRune(question, 0) {
		return usage.Errorf("", "a question has no zero bytes")
	}
	e, err := g.startEngine(flags)
	if err != nil {
		return err
	}
	defer func() {
		if closed := e.close(); err == nil || errors.Is(err, errNoAnswer) { // else it was killed for that error
			err = errors.Join(err, closed)
		}
	}()
	if prompted {
		return g.prompt(ctx, e, create, tty)
	}
	return e.print(ctx, question, create)
}

// findSQL is the path of the engine: beside this program, else in PATH.
func findSQL() (string, error) {
	name := sqlProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(self); err == nil {
			self = resolved
		}
		if beside := filepath.Join(filepath.Dir(self), name); isFile(beside) {
			return beside, nil
		}
	}
	path, err := exec.LookPath(sqlProgram)
	if err != nil {
		return "", advice.WithHint(fmt.Errorf("the program %s, which has the engine for SQL, is neither beside amudai nor in PATH", sqlProgram),
			"\"make sql\" builds it from source, with a C++ compiler; archives of releases hold it for some platforms")
	}
	return path, nil
}

// engine is the process that answers questions.
type engine struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func (g group) startEngine(f engineFlags) (*engine, error) {
	path, err := findSQL()
	if err != nil {
		return nil, err
	}
	var args []string
	if f.database != "" {
		args = append(args, "-database", f.database)
	}
	if f.memory != "" {
		args = append(args, "-memory", f.memory)
	}
	if g.Parallel > 0 {
		args = append(args, "-threads", strconv.Itoa(g.Parallel))
	}
	if g.Summarizes() {
		args = append(args, "-progress")
	}
	if g.Quiet {
		args = append(args, "-quiet")
	}
	e := &engine{process: exec.Command(path, args...)}
	e.process.Stderr = g.Stderr
	if e.in, err = e.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := e.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	e.out = bufio.NewReader(out)
	return e, e.process.Start()
}

// close ends the process.
func (e *engine) close() error {
	e.in.Close()
	end := time.AfterFunc(5*time.Second, func() { e.process.Process.Kill() })
	defer end.Stop()
	var code *exec.ExitError
	err := e.process.Wait()
	if errors.As(err, &code) && code.Exited() {
		return app.Printed{Code: max(code.ExitCode(), app.ExitFailure), Text: err.Error()}
	}
	return err // as that of a process that was killed, and has printed nothing
}

// print prints the answer to a question.
func (e *engine) print(ctx context.Context, question string, create app.CreateSink) error {
	stop := context.AfterFunc(ctx, func() {
		if e.process.Process.Signal(os.Interrupt) != nil { // Windows has none
			e.process.Process.Kill()
		}
	})
	defer stop()
	rows, err := e.ask(question)
	if err == nil {
		err = app.PrintRows(ctx, rows, create)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if rows != nil && err != nil { // the engine still writes
		e.process.Process.Kill()
	}
	return err
}

var errNoAnswer = errors.New(sqlProgram + " has ended without an answer")

// ask asks a question.
func (e *engine) ask(question string) (*answer, error) {
	if _, err := io.WriteString(e.in, question+"\x00"); err != nil {
		return nil, fmt.Errorf("%w: %v", errNoAnswer, err) // whose closed pipe is not that of stdout, which would be no failure
	}
	line, err := e.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if quoted, failed := strings.CutPrefix(line, "error "); failed {
		var message string
		if err := json.Unmarshal([]byte(quoted), &message); err != nil {
			return nil, err
		}
		return nil, errors.New(message)
	}
	r, err := ipc.NewReader(e.out)
	return &answer{r, e.out}, err
}

// answer is the rows of an answer as a source.
type answer struct {
	r   *ipc.Reader
	out *bufio.Reader // where a line ends the answer: the end of a stream is that of a process, too
}

func (a *answer) Schema() *arrow.Schema { return a.r.Schema() }
func (*answer) Rows() (int64, bool)     { return 0, false }

// Next implements [provider.Source].
func (a *answer) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !a.r.Next() {
		if err := a.r.Err(); err != nil {
			return nil, err
		}
		if line, err := a.out.ReadString('\n'); line != "end\n" {
			return nil, fmt.Errorf("%w to the end: %w", errNoAnswer, cmp.Or(err, io.ErrUnexpectedEOF))
		}
		return nil, nil
	}
	b := a.r.RecordBatch()
	b.Retain()
	return b, nil
}

// Close implements [provider.Source].
func (a *answer) Close() error {
	a.r.Release()
	return nil
}
