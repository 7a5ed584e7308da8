//go:build cgo && duckdb_arrow

package sql

import (
	"context"
	databasesql "database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/duckdb/duckdb-go/v2"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// planner finds the conditions that DuckDB would push down to tables of its own. Its C interface does not tell a function of conditions, and names
// in the filters of a plan may be aliases. So a database in memory has an empty table of the same columns for each location, and DuckDB's plan of the query
// there tells the conditions on each, by the names of its columns. What may differ there, such as views and macros of the user, is unknown there: then
// nothing is pushed down.
type planner struct {
	duck *duckdb.Connector
	db   *databasesql.DB

	// Whoever has the only connection has these.
	known   map[string]string // table by location, of the query that is planned
	missing string            // a location that has no table yet
}

func newPlanner(o Options) (_ *planner, err error) {
	p := &planner{}
	o.Scanned = nil
	p.duck, err = open("", o, func(location string) (string, []any, error) {
		if name := p.known[location]; name != "" {
			return "query_table", []any{name}, nil
		}
		p.missing = location
		return "", nil, errors.New("no table yet")
	})
	if err != nil {
		return nil, err
	}
	p.db = databasesql.OpenDB(p.duck)
	p.db.SetMaxOpenConns(1)
	// Without rows, statistics would say that conditions are never true.
	_, err = p.db.Exec("set disabled_optimizers = '" + idle + "'; set threads = 1")
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// idle are optimizers that a plan of conditions does without. Without rows, statistics would say that conditions are never true.
const idle = "statistics_propagation,join_order,build_side_probe_side,common_subexpressions,common_aggregate,column_lifetime,compressed_materialization,duplicate_groups," +
	"late_materialization,limit_pushdown,reorder_filter,row_group_pruner,sampling_pushdown,top_n,top_n_window_elimination,sum_rewriter,window_self_join"

func (p *planner) close() error { return p.db.Close() }

// unsettled are functions whose values may differ from one statement to the next, or from one database to another, those whose questions are in texts, and
// those whose scans a hint is not for.
var unsettled = setOf(`current_connection_id current_database current_date current_query current_query_id current_schema current_schemas current_setting current_transaction_id
	currval error gen_random_uuid get_current_time get_current_timestamp getenv getvariable in_search_path nextval now random setseed sleep_ms stats today transaction_timestamp
	txid_current uuid uuidv4 uuidv7 write_log
	query query_table amudai_scan`)

// bare are those that may be written like columns.
var bare = setOf("current_catalog current_date current_schema current_time current_timestamp localtime localtimestamp")

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// hint adds the conditions of a query to a statement. Queries that cannot be planned have none.
func (p *planner) hint(ctx context.Context, real *Conn, s *statement, query string) error {
	ctx = context.WithValue(ctx, statementKey{}, s)
	s.ctx = ctx
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	parsed, onlyReads := parse(ctx, conn, query)
	s.changes = !onlyReads
	if s.changes || parsed.statements != 1 || parsed.unsettled {
		return nil
	}
	p.known = map[string]string{}
	if _, err := conn.ExecContext(ctx, "begin"); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "rollback")
	for name := range parsed.tables {
		if isLocation(name) {
			p.addTable(ctx, conn, s, name) // one that is no location is none of the plan, or it has the error
		}
	}
	plan, ok := p.explain(ctx, conn, s, query)
	if !ok || len(p.known) == 0 || real.differs(ctx, p.known) {
		return ctx.Err()
	}
	names := map[string]string{}
	for location, name := range p.known {
		names[name] = location
	}
	found := map[string][][]string{} // conditions of each scan, by location
	var walk func(nodes []node)
	walk = func(nodes []node) {
		for _, n := range nodes {
			if location := names[n.Info.Table[strings.LastIndexByte(n.Info.Table, '.')+1:]]; location != "" {
				found[location] = append(found[location], n.Info.Filters)
			}
			walk(n.Children)
		}
	}
	walk(plan)
	s.hints = map[string]filter.Expr{}
	for location, scans := range found {
		schema, err := s.tables[location].Schema(ctx)
		if err != nil {
			return err
		}
		if e, ok := anyOf(schema, scans); ok {
			s.hints[location] = e
		}
	}
	return nil
}

// parsed is what the text of a query names.
type parsed struct {
	statements int
	unsettled  bool // it calls a function without a settled value
	tables     map[string]bool
}

// parse parses a text, which only reads if all of its statements are questions.
func parse(ctx context.Context, conn *databasesql.Conn, query string) (p parsed, onlyReads bool) {
	var text string
	if conn.QueryRowContext(ctx, "select json_serialize_sql(?::varchar)::varchar", query).Scan(&text) != nil {
		return p, false
	}
	var all struct {
		Error      bool
		Statements []json.RawMessage
	}
	if json.Unmarshal([]byte(text), &all) != nil || all.Error {
		return p, false
	}
	p = parsed{statements: len(all.Statements), tables: map[string]bool{}}
	p.collect(text)
	return p, true
}

// reads reports whether a text has only questions.
func (p *planner) reads(ctx context.Context, query string) bool {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	_, onlyReads := parse(ctx, conn, query)
	return onlyReads
}

// collect adds the names in a tree of JSON without spaces. A quote in a text has a backslash before it, so that no text looks like a key.
func (p *parsed) collect(tree string) {
	for _, key := range []string{`"table_name":"`, `"function_name":"`, `"column_names":["`} {
		for rest := tree; ; {
			_, after, found := strings.Cut(rest, key)
			if !found {
				break
			}
			rest = after
			end := 0
			for after[end] != '"' {
				if after[end] == '\\' {
					end++
				}
				end++
			}
			var name string
			if json.Unmarshal([]byte(`"`+after[:end+1]), &name) != nil {
				p.unsettled = true
			}
			switch key[1] {
			case 't':
				p.tables[name] = true
			case 'f':
				p.unsettled = p.unsettled || unsettled[strings.ToLower(name)]
			default:
				p.unsettled = p.unsettled || after[end+1] == ']' && bare[strings.ToLower(name)]
			}
		}
	}
}

// explain is the plan of a query, for which tables are made of its locations one by one.
func (p *planner) explain(ctx context.Context, conn *databasesql.Conn, s *statement, query string) ([]node, bool) {
	for {
		p.missing = ""
		var key, text string
		err := conn.QueryRowContext(ctx, "explain (format json) "+query).Scan(&key, &text)
		if err == nil {
			var plan []node
			return plan, json.Unmarshal([]byte(text), &plan) == nil
		}
		if p.missing == "" {
			return nil, false
		}
		if p.known[p.missing] != "" || !p.addTable(ctx, conn, s, p.missing) {
			return nil, false
		}
	}
}

// addTable makes an empty table with the columns of a location.
func (p *planner) addTable(ctx context.Context, conn *databasesql.Conn, s *statement, location string) bool {
	t, err := s.table(ctx, location)
	if err != nil {
		return false
	}
	schema, err := t.Schema(ctx)
	if err != nil {
		return false
	}
	columns := make([]string, schema.NumFields())
	columnsOf := ""
	for i, f := range schema.Fields() {
		kind := nameOf(f.Type)
		if kind == "" { // DuckDB itself has to say it, which takes three times as long
			columnsOf = " as from amudai_scan('" + strings.ReplaceAll(location, "'", "''") + "') limit 0"
			break
		}
		columns[i] = `"` + strings.ReplaceAll(f.Name, `"`, `""`) + `" ` + kind
	}
	if columnsOf == "" {
		columnsOf = "(" + strings.Join(columns, ",") + ")"
	}
	name := fmt.Sprintf("location_%d", len(p.known))
	if _, err := conn.ExecContext(ctx, "create table "+name+columnsOf); err != nil {
		return false
	}
	p.known[location] = name
	return true
}

// node is an operator of a plan.
type node struct {
	Children []node
	Info     struct {
		Table   string
		Filters texts
	} `json:"extra_info"`
}

// texts are one text, or a list of them.
type texts []string

func (t *texts) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(t))
	}
	*t = make([]string, 1)
	return json.Unmarshal(b, &(*t)[0])
}

// Names of tables and views, and an empty one if there are macros or settings that give a query another meaning.
const (
	settings = `select '' where current_setting('default_collation') <> '' or current_setting('integer_division') or not current_setting('ieee_floating_point_ops')`
	macros   = ` union all select '' from duckdb_functions() where not internal and function_name <> 'ntuple'
		union all select table_name from duckdb_tables() union all select view_name from duckdb_views() where not internal`
)

// differs reports whether a query of some locations may have another meaning on a connection than in an empty database. A look at all functions takes a while,
// so the last one holds until something else than questions has run. A database in memory has no macros before.
func (c *Conn) differs(ctx context.Context, known map[string]string) bool {
	unseen, now := c.c.unseen.Load(), c.c.changes.Load()
	if c.names == nil || c.looked != now || unseen {
		query := settings
		if now > 0 || unseen {
			query += macros
		}
		r, err := c.conn.QueryContext(ctx, query, nil)
		if err != nil {
			return true
		}
		defer r.Close()
		names, row := map[string]bool{}, make([]driver.Value, 1)
		for err = r.Next(row); err == nil; err = r.Next(row) {
			names[strings.ToLower(fmt.Sprint(row[0]))] = true
		}
		if err != io.EOF {
			return true
		}
		c.names, c.looked = names, now
	}
	for location := range known {
		if c.names[strings.ToLower(location)] {
			return true
		}
	}
	return c.names[""]
}

// anyOf is the condition that some scan needs a row, or false if one may need any.
func anyOf(schema *arrow.Schema, scans [][]string) (filter.Expr, bool) {
	var any []filter.Expr
	for _, conditions := range scans {
		var every []filter.Expr
		for _, text := range conditions {
			for _, one := range conjuncts(text) {
				// A filter of a scan that is optional is a condition of the query all the same.
				if e, ok := condition(schema, strings.TrimPrefix(one, "optional: ")); ok {
					every = append(every, e)
				}
			}
		}
		if len(every) == 0 {
			return filter.Expr{}, false
		}
		any = append(any, filter.And(every...))
	}
	return filter.Or(any...), true
}

// conjuncts are the parts of a condition, which is divided only if no column has such a name.
func conjuncts(text string) []string {
	var parts []string
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], " AND "):
			parts = append(parts, text[from:i])
			from = i + len(" AND ")
			i = from - 1
		}
	}
	return append(parts, text[from:])
}

const (
	nameText    = `([A-Za-z_][A-Za-z0-9_]*)`
	literalText = `(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|'(?:[^']|'')*'(?:::(?:DATE|TIMESTAMP(?:_S|_MS|_NS| WITH TIME ZONE)?))?)`
)

var (
	name       = regexp.MustCompile(`^` + nameText + `$`)
	comparison = regexp.MustCompile(`(?s)^` + nameText + `(>=|<=|!=|=|<|>)` + literalText + `$`)
	notNull    = regexp.MustCompile(`^\(?` + nameText + ` IS NOT NULL\)?$`)
	isNull     = regexp.MustCompile(`^\(?` + nameText + ` IS NULL\)?$`)
	contained  = regexp.MustCompile(`(?s)^(contains|prefix|suffix)\(` + nameText + `, ('(?:[^']|'')*')\)$`)
	like       = regexp.MustCompile(`(?s)^\(` + nameText + ` (~~|!~~) ('(?:[^'\\]|'')*')\)$`)
	among      = regexp.MustCompile(`(?s)^\(?` + nameText + ` IN \(((?:` + literalText + `(?:, )?)+)\)\)?$`)
	literal    = regexp.MustCompile(`(?s)` + literalText)
)

// condition is a condition of a plan as a filter, which is true for all rows that the condition is true for. It is false if none is known.
func condition(schema *arrow.Schema, text string) (filter.Expr, bool) {
	var column, made string
	if f, ok := schema.FieldsByName(text); ok && f[0].Type.ID() == arrow.BOOL && name.MatchString(text) {
		column, made = text, quoted(text)+" = true"
	} else if m := comparison.FindStringSubmatch(text); m != nil {
		column = m[1]
		value, ok := literalOf(schema, column, m[3])
		if !ok {
			return filter.Expr{}, false
		}
		made = quoted(column) + " " + m[2] + " " + value
		of, known := schema.FieldsByName(column)
		if known && arrow.IsFloating(of[0].Type.ID()) && strings.ContainsRune(m[2], '>') { // DuckDB: NaN is greater than any number
			made += " or " + quoted(column) + " is nan"
		}
	} else if m := notNull.FindStringSubmatch(text); m != nil {
		column, made = m[1], quoted(m[1])+" is not null"
	} else if m := isNull.FindStringSubmatch(text); m != nil {
		column, made = m[1], quoted(m[1])+" is null"
	} else if m := contained.FindStringSubmatch(text); m != nil {
		column, made = m[2], quoted(m[2])+map[string]string{"contains": " contains ", "prefix": " starts with ", "suffix": " ends with "}[m[1]]+m[3]
	} else if m := like.FindStringSubmatch(text); m != nil {
		column, made = m[1], quoted(m[1])+map[string]string{"~~": " like ", "!~~": " not like "}[m[2]]+m[3]
	} else if m := among.FindStringSubmatch(text); m != nil {
		column = m[1]
		var values []string
		for _, one := range literal.FindAllString(m[2], -1) {
			value, ok := literalOf(schema, column, one)
			if !ok {
				return filter.Expr{}, false
			}
			values = append(values, value)
		}
		made = quoted(column) + " in (" + strings.Join(values, ", ") + ")"
	}
	if made == "" || len(schema.FieldIndices(column)) != 1 || strange(schema) {
		return filter.Expr{}, false
	}
	e, err := filter.Parse(made)
	if err == nil {
		_, err = filter.Bind(e, schema)
	}
	return e, err == nil
}

func quoted(column string) string { return `"` + column + `"` }

// strange reports whether the name of a column may be read as a condition of another.
func strange(schema *arrow.Schema) bool {
	for _, f := range schema.Fields() {
		if strings.ContainsAny(f.Name, `<>=!'(`) || strings.Contains(f.Name, " AND ") || strings.Contains(f.Name, " I") {
			return true
		}
	}
	return false
}

// literalOf is a literal of DuckDB as one of a filter on a column, if its type has the same order in both.
func literalOf(schema *arrow.Schema, column, text string) (string, bool) {
	fields, ok := schema.FieldsByName(column)
	if !ok {
		return "", false
	}
	value, kind, _ := strings.Cut(text, "::")
	if strings.HasSuffix(text, "'") {
		value, kind = text, ""
	}
	quotes := value[0] == '\''
	switch t := kinds.Decoded(fields[0].Type); t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return value, quotes && kind == ""
	case arrow.DATE32:
		return value, kind == "DATE"
	case arrow.TIMESTAMP:
		if t.(*arrow.TimestampType).TimeZone == "" {
			return value, kind != "" && kind != "DATE" && !strings.HasSuffix(kind, "ZONE")
		}
		if isZonedNanos(t) {
			return strings.TrimSuffix(value, "'") + "Z'", kind == "TIMESTAMP_NS"
		}
		at, utc := strings.CutSuffix(value, "+00'")
		return at + "Z'", utc && kind == "TIMESTAMP WITH TIME ZONE"
	case arrow.BOOL:
		return value, value == "true" || value == "false"
	case arrow.FLOAT32, arrow.FLOAT64:
		return value, !quotes
	default:
		return value, !quotes && (arrow.IsInteger(t.ID()) || arrow.IsDecimal(t.ID()))
	}
}
