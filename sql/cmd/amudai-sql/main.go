//go:build cgo && duckdb_arrow

// Command amudai-sql answers questions in SQL about tables in any format. The command "amudai sql" runs it, and prints the rows.
//
//	amudai-sql [flags] QUERY    writes the rows to stdout, as an Arrow stream
//	amudai-sql [flags]          answers questions of stdin, each of which a zero byte ends: by a line "ok", an Arrow stream and a
//	                            line "end", or by a line "error" with the message as a string of JSON
//
// Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
package main

import (
	"bufio"
	"context"
	databasesql "database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/amudai/amudai-go/sql"
	_ "github.com/amudai/amudai-go/storage/az" // the locations of these schemes
	_ "github.com/amudai/amudai-go/storage/gs"
	_ "github.com/amudai/amudai-go/storage/http"
	_ "github.com/amudai/amudai-go/storage/s3"
	"github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats"
)

func main() {
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("amudai-sql", flag.ContinueOnError)
	flags.SetOutput(stderr)
	database := flags.String("database", "", "a database file of DuckDB; by default a database in memory")
	memory := flags.String("memory", "", "what DuckDB may hold in memory, such as 2GB, before it uses temporary files")
	threads := flags.Int("threads", 0, "threads of DuckDB; by default one per CPU")
	progress := flags.Bool("progress", false, "print the number of rows that were read")
	quiet := flags.Bool("quiet", false, "print only notes that data may be misread")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 1 {
		fmt.Fprintln(stderr, "error: one query is expected: quote it")
		return 2
	}
	settings := url.Values{}
	if *memory != "" {
		settings.Set("memory_limit", *memory)
	}
	if *threads > 0 {
		settings.Set("threads", strconv.Itoa(*threads))
	}
	var read atomic.Int64
	note := func(text string) { fmt.Fprintln(stderr, "note:", text) }
	notice := note
	if *quiet {
		notice = nil
	}
	c, err := sql.NewConnector(*database+"?"+settings.Encode(), sql.Options{
		Table:   table.OpenOptions{Notice: notice, Warning: note},
		Scanned: func(n int64) { read.Add(n) },
	})
	if err != nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	db := databasesql.OpenDB(c)
	defer db.Close()
	db.SetMaxOpenConns(1)
	answers := func(query string, w io.Writer, several bool) error {
		if *progress {
			read.Store(0)
			defer show(stderr, &read)()
		}
		return interruptible(func(ctx context.Context) error { return answer(ctx, db, query, w, several) })
	}
	if flags.NArg() == 1 {
		err = answers(flags.Arg(0), stdout, false)
	} else {
		err = serve(answers, stdin, stdout)
	}
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}

// interruptible runs f until SIGINT or SIGTERM cancels it.
func interruptible(f func(ctx context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := f(ctx); ctx.Err() == nil || err == nil {
		return err
	}
	return ctx.Err()
}

// show prints the number of rows that were read, if it takes a while, until the function it returns is called.
func show(w io.Writer, read *atomic.Int64) func() {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-done:
				if shown {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-tick.C:
				if n := read.Load(); n > 0 {
					fmt.Fprintf(w, "\r%d rows read", n)
					shown = true
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

// serve answers the questions of in, one by one.
func serve(answers func(query string, w io.Writer, several bool) error, in io.Reader, w io.Writer) error {
	r := bufio.NewReader(in)
	for {
		query, err := r.ReadString(0)
		if err != nil {
			if err == io.EOF && query == "" {
				return nil
			}
			return fmt.Errorf("the last question has no end: %w", err)
		}
		wrote := false
		err = answers(query[:len(query)-1], writer(func(p []byte) (int, error) { wrote = true; return w.Write(p) }), true)
		if err == nil {
			continue
		}
		if wrote { // the stream is cut
			return err
		}
		message, _ := json.Marshal(err.Error())
		if _, err := fmt.Fprintf(w, "error %s\n", message); err != nil {
			return err
		}
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// answer writes the rows of a question as an Arrow stream, between lines "ok" and "end" if it is one of several.
func answer(ctx context.Context, db *databasesql.DB, query string, w io.Writer, several bool) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		rows, err := c.(*sql.Conn).QueryArrow(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Release()
		if several {
			if _, err := io.WriteString(w, "ok\n"); err != nil {
				return err
			}
		}
		out := ipc.NewWriter(w, ipc.WithSchema(rows.Schema()))
		for rows.Next() {
			if err := out.Write(rows.RecordBatch()); err != nil {
				return err
			}
		}
		if err := errors.Join(rows.Err(), out.Close()); err != nil || !several {
			return err
		}
		_, err = io.WriteString(w, "end\n")
		return err
	})
}
