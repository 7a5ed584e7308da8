// Package sql asks tables in any format, at any location, in SQL. The engine is DuckDB, linked in, which needs cgo.
//
//	connector, err := sql.NewConnector("", sql.Options{})
//	if err != nil {
//		return err
//	}
//	db := databasesql.OpenDB(connector) // of database/sql
//	defer db.Close()
//	rows, err := db.QueryContext(ctx, `select origin, avg(delay) from 'flights.amudai.shard' where delay > 0 group by all`)
//
// A name in FROM that is no table of the database is a location, as [table.Open] takes it: a file, a folder, a pattern, an object of a
// store. DuckDB reads Parquet, CSV and JSON files by itself; amudai_scan('x.csv') reads any location by package table, and ntuple('x.root', 'Events') a
// table in a file of several.
//
// Only the columns of a query are read, and of those only what may hold its rows: the conditions that DuckDB would push down to a table of
// its own filter the scan, too. DuckDB checks them again.
//
// The build needs cgo and the tag duckdb_arrow; without them the package is empty. See docs/sql.md.
package sql
