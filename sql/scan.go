//go:build cgo && duckdb_arrow

package sql

import (
	"context"
	databasesql "database/sql"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/arrowmapping"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// registerScan registers the function amudai_scan in the database of a connection.
func registerScan(conn *databasesql.Conn, o Options) error {
	text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	if err != nil {
		return err
	}
	return duckdb.RegisterTableUDF(conn, "amudai_scan", duckdb.ParallelChunkTableFunction{
		Config: duckdb.TableFunctionConfig{Arguments: []duckdb.TypeInfo{text}},
		BindArgumentsContext: func(ctx context.Context, _ map[string]any, args ...any) (duckdb.ParallelChunkTableSource, error) {
			location, ok := args[0].(string)
			if !ok {
				return nil, errors.New("amudai_scan needs a location")
			}
			s, ok := ctx.Value(statementKey{}).(*statement)
			if !ok {
				return nil, errors.New("amudai_scan is for connections of package sql")
			}
			b, err := bind(ctx, s, location)
			if err != nil {
				return nil, s.fail(err)
			}
			return b, nil
		},
	})
}

// bound is a location in a statement.
type bound struct {
	s        *statement
	t        *table.Table
	location string
	schema   *arrow.Schema
	columns  []duckdb.ColumnInfo
	rows     *duckdb.CardinalityInfo // nil if unknown

	current *scan // of the last Init
}

func bind(ctx context.Context, s *statement, location string) (*bound, error) {
	t, err := s.table(ctx, location)
	if err != nil {
		return nil, err
	}
	b := &bound{s: s, t: t, location: location}
	if b.schema, err = t.Schema(ctx); err != nil {
		return nil, err
	}
	for _, f := range b.schema.Fields() {
		info, err := typeOf(f.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", location, f.Name, err)
		}
		b.columns = append(b.columns, duckdb.ColumnInfo{Name: f.Name, T: info})
	}
	n, known, err := t.NumRows(ctx, table.ScanOptions{})
	if known {
		b.rows = &duckdb.CardinalityInfo{Cardinality: uint(n), Exact: true}
	}
	return b, err
}

func (b *bound) ColumnInfos() []duckdb.ColumnInfo     { return b.columns }
func (b *bound) Cardinality() *duckdb.CardinalityInfo { return b.rows }

// Init begins a scan. DuckDB may do so several times, one after the other.
func (b *bound) Init() duckdb.ParallelTableSourceInfo {
	b.s.lock.Lock()
	defer b.s.lock.Unlock()
	b.current = &scan{b: b, ctx: b.s.ctx}
	b.s.scans[b.current] = true
	return duckdb.ParallelTableSourceInfo{MaxThreads: runtime.GOMAXPROCS(0)}
}

// NewLocalState is what one thread has of the scan.
func (b *bound) NewLocalState() any {
	b.current.lock.Lock()
	defer b.current.lock.Unlock()
	p := &part{scan: b.current}
	b.current.parts = append(b.current.parts, p)
	return p
}

// FillChunk gives the next rows to a thread.
func (b *bound) FillChunk(local any, chunk duckdb.DataChunk) error {
	if err := local.(*part).fill(chunk); err != nil {
		return b.s.fail(err)
	}
	return nil
}

// scan is one reading of a location, by several threads.
type scan struct {
	b   *bound
	ctx context.Context

	lock  sync.Mutex
	src   provider.Source
	types []arrowmapping.ArrowConvertedSchema // of its columns
	ended bool
	parts []*part
}

// part is a batch that one thread hands to DuckDB in chunks.
type part struct {
	scan  *scan
	batch arrow.RecordBatch
	at    int64

	entries []entries // of the dictionaries of its columns
}

func (p *part) close() {
	for i := range p.entries {
		p.entries[i].destroy()
	}
	if p.batch != nil {
		p.batch.Release()
		p.batch = nil
	}
}

// fill fills the next chunk. It is empty at the end.
func (p *part) fill(chunk duckdb.DataChunk) error {
	if p.batch == nil || p.at == p.batch.NumRows() {
		if p.batch != nil {
			p.batch.Release()
			p.batch = nil
		}
		var err error
		if p.batch, err = p.scan.next(&chunk); err != nil || p.batch == nil {
			return errors.Join(err, chunk.SetSize(0))
		}
		p.at = 0
		if p.entries == nil {
			p.entries = make([]entries, p.batch.NumCols())
		}
	}
	n := min(p.batch.NumRows()-p.at, int64(duckdb.GetDataChunkCapacity()))
	out := handle(&chunk)
	for i := range int(p.batch.NumCols()) {
		if err := p.fillColumn(mapping.DataChunkGetVector(out, mapping.IdxT(i)), i, n); err != nil {
			return fmt.Errorf("%s: column %q: %w", p.scan.b.location, p.batch.ColumnName(i), err)
		}
	}
	p.at += n
	return chunk.SetSize(int(n))
}

// fillColumn gives the values of a column to DuckDB. What is not copied it refers to, and owns the array as long as it does: each column
// is an array of its own, because DuckDB keeps the memory of all columns in an array with the first of them.
func (p *part) fillColumn(vec mapping.Vector, i int, n int64) error {
	if isCopied(p.batch.Column(i).DataType()) {
		return p.copied(vec, i, int(n))
	}
	values := array.NewSlice(p.batch.Column(i), p.at, p.at+n)
	defer values.Release()
	f := p.batch.Schema().Field(i)
	if kinds.Has(f.Type, isZonedNanos) {
		f.Type = unzoned(f.Type)
		data, err := withType(values.Data(), f.Type)
		if err != nil {
			return err
		}
		defer data.Release()
		values = array.MakeFromData(data)
		defer values.Release()
	}
	one := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{f}, nil), []arrow.Array{values}, n)
	defer one.Release()
	conn, err := converter()
	if err != nil {
		return err
	}
	in, failure := arrowmapping.DataChunkFromArrow(conn, one, p.scan.types[i])
	defer mapping.DestroyDataChunk(&in)
	if err := errorOf(failure); err != nil {
		return err
	}
	mapping.VectorReferenceVector(vec, mapping.DataChunkGetVector(in, 0))
	return nil
}

// next is the next batch that is not empty, or nil. The first call opens the source, with the columns of the chunk.
func (s *scan) next(chunk *duckdb.DataChunk) (arrow.RecordBatch, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.ended {
		return nil, nil
	}
	if s.src == nil {
		if err := s.open(projection(chunk)); err != nil {
			s.ended = true
			return nil, err
		}
	}
	for {
		batch, err := s.src.Next(s.ctx)
		if err != nil || batch == nil {
			s.ended = true
			return nil, err
		}
		if f := s.b.s.o.Scanned; f != nil {
			f(batch.NumRows())
		}
		if batch.NumRows() > 0 {
			return batch, nil
		}
		batch.Release()
	}
}

var pathEscapes = strings.NewReplacer(`\`, `\\`, `.`, `\.`)

// open opens the source. columns has the position in the schema for each column of the result.
func (s *scan) open(columns []int) (err error) {
	o := table.ScanOptions{Columns: []string{}, Filter: s.b.s.hints[s.b.location], BatchRows: 16 * duckdb.GetDataChunkCapacity(), Dictionaries: true}
	for _, c := range columns {
		o.Columns = append(o.Columns, pathEscapes.Replace(s.b.schema.Field(c).Name))
	}
	o.Decimals64 = o.Columns
	if s.src, err = s.b.t.Reader(s.ctx, o); err != nil {
		return err
	}
	got := s.src.Schema()
	if got.NumFields() != len(columns) {
		return fmt.Errorf("%s: %d columns of %d were read", s.b.location, got.NumFields(), len(columns))
	}
	conn, err := converter()
	if err != nil {
		return err
	}
	converting.Lock()
	defer converting.Unlock()
	for i, f := range got.Fields() {
		if want := s.b.schema.Field(columns[i]); f.Name != want.Name || !arrow.TypeEqual(kinds.Decoded(arrowutil.RecordedType(f)), kinds.Decoded(want.Type)) {
			return fmt.Errorf("%s: column %q is %s of %s: %w", s.b.location, want.Name, f.Type, f.Name, errors.New("another column was asked for"))
		}
		if isCopied(f.Type) {
			s.types = append(s.types, arrowmapping.ArrowConvertedSchema{})
			continue
		}
		f.Type = unzoned(f.Type)
		t, failure := arrowmapping.SchemaFromArrow(conn, arrow.NewSchema([]arrow.Field{f}, nil))
		s.types = append(s.types, t)
		if err := errorOf(failure); err != nil {
			return fmt.Errorf("%s: column %q: %w", s.b.location, f.Name, err)
		}
	}
	return nil
}

// close ends the scan, of which no thread is active.
func (s *scan) close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.ended = true
	for i := range s.types {
		arrowmapping.DestroyArrowConvertedSchema(&s.types[i])
	}
	s.types = nil
	for _, p := range s.parts {
		p.close()
	}
	s.parts = nil
	if s.src == nil {
		return nil
	}
	return s.src.Close()
}

// projection has the position in the schema of each column that DuckDB asks for. Package duckdb keeps it to itself.
func projection(chunk *duckdb.DataChunk) []int {
	of := reflect.ValueOf(chunk).Elem().FieldByName("projection")
	columns := make([]int, 0, of.Len())
	for c := range of.Len() {
		if at := int(of.Index(c).Int()); at >= 0 {
			for len(columns) <= at {
				columns = append(columns, -1)
			}
			columns[at] = c
		}
	}
	return columns
}

// handle is the chunk as the C interface knows it. Package duckdb has no vectors that refer to other memory.
func handle(chunk *duckdb.DataChunk) mapping.DataChunk {
	return mapping.DataChunk{Ptr: reflect.ValueOf(chunk).Elem().FieldByName("chunk").FieldByName("Ptr").UnsafePointer()}
}

// converting is held while types are converted, which DuckDB does in a transaction of the connection.
var converting sync.Mutex

// converter is a connection to an empty database: DuckDB asks for one to convert arrays. It is open until the process ends.
var converter = sync.OnceValues(func() (mapping.Connection, error) {
	var db mapping.Database
	var conn mapping.Connection
	if mapping.Open("", &db) != mapping.StateSuccess || mapping.Connect(db, &conn) != mapping.StateSuccess {
		return conn, errors.New("DuckDB has no memory for a database")
	}
	return conn, nil
})

// errorOf is an error of the C interface, which is freed.
func errorOf(e mapping.ErrorData) error {
	defer mapping.DestroyErrorData(&e)
	if !mapping.ErrorDataHasError(e) {
		return nil
	}
	return errors.New(mapping.ErrorDataMessage(e))
}
