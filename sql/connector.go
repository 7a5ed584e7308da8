//go:build cgo && duckdb_arrow

package sql

import (
	"context"
	databasesql "database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/duckdb/duckdb-go/v2"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
)

// Options are those of [NewConnector]. The zero value is the default.
type Options struct {
	// Table are the options of all tables that are opened.
	Table table.OpenOptions
	// NoHints leaves all conditions to DuckDB, so that scans read all rows of their columns.
	NoHints bool
	// Scanned is called with a number of rows that were read, by several goroutines. It may be nil.
	Scanned func(rows int64)
}

// Connector opens connections to a DuckDB database that knows locations. It is a [driver.Connector] for [databasesql.OpenDB], which closes it,
// and may be used by several goroutines.
type Connector struct {
	duck    *duckdb.Connector
	planner *planner
	o       Options

	changes atomic.Int64 // begins and ends of statements that may change what names mean, 1 at first for a file
	unseen  atomic.Bool  // there may be others
}

// NewConnector opens a database of DuckDB: "" is one in memory, "file.duckdb?threads=4" a file with a setting.
func NewConnector(dsn string, o Options) (_ *Connector, err error) {
	c := &Connector{o: o}
	if c.duck, err = open(dsn, o, scanOf); err != nil {
		return nil, err
	}
	if path, _, _ := strings.Cut(dsn, "?"); path != "" && path != ":memory:" {
		c.changes.Store(1)
	}
	if !o.NoHints {
		if c.planner, err = newPlanner(o); err != nil {
			return nil, errors.Join(err, c.duck.Close())
		}
	}
	return c, nil
}

// scanOf says how a location is read: by amudai_scan.
func scanOf(location string) (string, []any, error) { return "amudai_scan", []any{location}, nil }

// open opens a database, and has replace say what a location in FROM means.
func open(dsn string, o Options, replace duckdb.ReplacementScanCallback) (*duckdb.Connector, error) {
	c, err := duckdb.NewConnector(dsn, func(conn driver.ExecerContext) error {
		_, err := conn.ExecContext(context.Background(), ntuple, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	duckdb.RegisterReplacementScan(c, func(name string) (string, []any, error) {
		if !isLocation(name) {
			return "", nil, nil
		}
		return replace(name)
	})
	db := databasesql.OpenDB(unclosed{c})
	conn, err := db.Conn(context.Background())
	if err == nil {
		err = errors.Join(registerScan(conn, o), conn.Close())
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// unclosed is a connector that its pool does not close.
type unclosed struct{ driver.Connector }

// ntuple makes a location of two texts. A name in quotes is asked for as any in FROM.
const ntuple = `create or replace temp macro ntuple(file, name) as table from query_table('"' || replace(file || ':' || name, '"', '""') || '"')`

// isLocation reports whether a name that is no table may be a location.
func isLocation(name string) bool {
	if strings.ContainsAny(name, `./\:*`) {
		return true
	}
	_, err := os.Stat(name)
	return err == nil
}

// Connect opens a connection.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.duck.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{conn: conn.(*duckdb.Conn), c: c}, nil
}

// Driver is that of DuckDB, whose connections know no locations.
func (c *Connector) Driver() driver.Driver { return c.duck.Driver() }

// Close closes the database.
func (c *Connector) Close() error {
	err := c.duck.Close()
	if c.planner != nil {
		err = errors.Join(err, c.planner.close())
	}
	return err
}

// Conn is a connection. It belongs to one goroutine at a time.
type Conn struct {
	*conn
	c *Connector

	names  map[string]bool // what the last look has found, see differs
	looked int64           // Connector.changes then
}

type conn = duckdb.Conn

// Duck is the connection of package duckdb inside. What is asked there cannot read locations. From then on, each question takes some milliseconds longer, as what
// its names mean may have changed.
func (c *Conn) Duck() *duckdb.Conn {
	c.c.unseen.Store(true)
	return c.conn
}

// BeginTx begins a transaction.
func (c *Conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.c.unseen.Store(true)
	return c.conn.BeginTx(ctx, o)
}

// QueryContext asks a question. The result is complete, and all files are closed, when it returns.
func (c *Conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return runQuery(ctx, c, query, args, c.conn.QueryContext)
}

// QueryArrow asks a question, whose rows are Arrow record batches. A batch is valid until the next one. Release the reader.
func (c *Conn) QueryArrow(ctx context.Context, query string) (rows array.RecordReader, err error) {
	a, err := duckdb.NewArrowFromConn(c.conn)
	if err != nil {
		return nil, err
	}
	err = c.run(ctx, query, func(run context.Context) (err error) {
		rows, err = a.QueryContext(run, query)
		return err
	})
	if err == nil {
		err = checkArrow(rows)
	}
	if err != nil && rows != nil {
		rows.Release()
		rows = nil
	}
	return rows, err
}

// ExecContext runs statements.
func (c *Conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return runQuery(ctx, c, query, args, c.conn.ExecContext)
}

func runQuery[R any](ctx context.Context, c *Conn, query string, args []driver.NamedValue, f func(context.Context, string, []driver.NamedValue) (R, error)) (result R, err error) {
	err = c.run(ctx, query, func(ctx context.Context) (err error) {
		result, err = f(ctx, query, args)
		return err
	})
	return result, err
}

// run runs a query, with what is known of its scans, and closes what they opened.
func (c *Conn) run(ctx context.Context, query string, f func(ctx context.Context) error) error {
	s := newStatement(c.c.o)
	if c.c.planner != nil {
		if err := c.c.planner.hint(ctx, c, s, query); err != nil {
			return errors.Join(err, s.close())
		}
	}
	if s.changes {
		c.c.changes.Add(1)
		defer c.c.changes.Add(1)
	}
	return s.run(ctx, f, true)
}

// Prepare prepares a statement.
func (c *Conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext prepares a statement. Its scans read all rows of their columns, as the values of its parameters are not known.
func (c *Conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if c.c.planner != nil && !c.c.planner.reads(ctx, query) {
		c.c.unseen.Store(true)
	}
	p := &prepared{s: newStatement(c.c.o)}
	err := p.s.run(ctx, func(ctx context.Context) error {
		stmt, err := c.conn.PrepareContext(ctx, query)
		if err == nil {
			p.Stmt = stmt.(*duckdb.Stmt)
		}
		return err
	}, false)
	if err != nil {
		return nil, errors.Join(err, p.s.close())
	}
	return p, nil
}

// prepared is a prepared statement, whose tables stay open.
type prepared struct {
	*duckdb.Stmt
	s *statement
}

func (p *prepared) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return runPrepared(ctx, p.s, args, p.Stmt.QueryContext)
}

func (p *prepared) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return runPrepared(ctx, p.s, args, p.Stmt.ExecContext)
}

func runPrepared[R any](ctx context.Context, s *statement, args []driver.NamedValue, f func(context.Context, []driver.NamedValue) (R, error)) (result R, err error) {
	err = s.run(ctx, func(ctx context.Context) (err error) {
		result, err = f(ctx, args)
		return err
	}, false)
	return result, err
}

func (p *prepared) Close() error { return errors.Join(p.Stmt.Close(), p.s.close()) }

var (
	_ driver.Connector       = (*Connector)(nil)
	_ driver.QueryerContext  = (*Conn)(nil)
	_ driver.StmtExecContext = (*prepared)(nil)
)

// statement is what a statement has open. Functions of DuckDB find it in their context.
type statement struct {
	o     Options
	hints map[string]filter.Expr // conditions of all scans of a location

	changes bool // it may change what names mean

	lock    sync.Mutex
	ctx     context.Context // of the current run
	tables  map[string]*table.Table
	scans   map[*scan]bool
	failure error // the first error of a scan as it is; that of DuckDB has its text
}

func newStatement(o Options) *statement {
	return &statement{o: o, tables: map[string]*table.Table{}, scans: map[*scan]bool{}}
}

type statementKey struct{}

// run runs f, and closes the scans that it began. With last, tables are closed, too.
func (s *statement) run(ctx context.Context, f func(ctx context.Context) error, last bool) error {
	ctx = context.WithValue(ctx, statementKey{}, s)
	scans, cancel := context.WithCancel(ctx)
	defer cancel()
	s.lock.Lock()
	s.ctx, s.failure = scans, nil
	s.lock.Unlock()
	err := f(ctx)
	s.lock.Lock()
	defer s.lock.Unlock()
	if err != nil && s.failure != nil {
		err = s.failure
	}
	if stopped := ctx.Err(); err != nil && stopped != nil && !errors.Is(err, stopped) { // DuckDB's error may tell only that it was interrupted
		err = errors.Join(stopped, err)
	}
	cancel()
	for scan := range s.scans {
		err = errors.Join(err, scan.close())
	}
	clear(s.scans)
	if last {
		err = errors.Join(err, s.closeTables())
	}
	return err
}

func (s *statement) close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.closeTables()
}

func (s *statement) closeTables() (err error) {
	for _, t := range s.tables {
		err = errors.Join(err, t.Close())
	}
	clear(s.tables)
	return err
}

// fail keeps the first error of a scan.
func (s *statement) fail(err error) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.failure == nil {
		s.failure = err
	}
	return err
}

// table opens a location, once for all scans of it.
func (s *statement) table(ctx context.Context, location string) (*table.Table, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if t := s.tables[location]; t != nil {
		return t, nil
	}
	t, err := table.OpenWith(ctx, s.o.Table, location)
	if err == nil {
		s.tables[location] = t
	}
	return t, err
}
