// Package table is the floor for programs: it reads tables in any format, at any location, as one.
//
//	import (
//		"github.com/amudai/amudai-go/table"
//		_ "github.com/amudai/amudai-go/table/formats" // all of them; or single ones, such as table/parquet
//	)
//
// # Open
//
// Locations are files, folders, glob patterns and objects of stores. Several are one table: columns are united by name, with
// the smallest type that holds the values of all parts, and are null where a part lacks them. Formats are recognized by
// names or first bytes.
//
//	t, err := table.Open(ctx, "flights.parquet", "more/*.csv", "s3://bucket/x.amudai.shard", "run.root:Events")
//	if err != nil {
//		return err
//	}
//	defer t.Close()
//
// # Scan
//
// A filter and the positions of rows choose rows; formats with statistics and indexes read only what may match.
//
//	late, err := filter.Parse("delay > 300 and origin = 'SFO'")
//	for batch, err := range t.Scan(ctx, table.ScanOptions{Columns: []string{"date", "delay"}, Filter: late}) {
//		// a batch is valid until the next step
//	}
//
// [RowsOf] gives rows as Go structs, with the columns that these have fields for.
//
//	for flight, err := range table.RowsOf[Flight](ctx, t, table.ScanOptions{Filter: late}) {
//
// # Ask
//
// Questions are options whose zero value asks for everything: [ScanOptions], [TakeOptions], [SampleOptions], [TailOptions],
// [SortOptions], [DistinctOptions], [GroupOptions]. Each has a method of [Table] that iterates over the rows of the answer. [Table.Reader]
// gives them as a source, with their schema before the first batch.
//
//	for batch, err := range t.Group(ctx, table.GroupOptions{By: "origin", Aggregates: "count(), avg(delay)", Sort: "-count", Limit: 10}) {
//	for batch, err := range t.Sort(ctx, table.SortOptions{By: "-delay,origin", Limit: 3}) {
//
// Expressions of groups, orders and filters are described in docs/filters.md and docs/aggregates.md.
//
// # Search
//
// [Table.Search] finds rows by words, phrases and regular expressions (docs/search.md), with rows around them. Shards with an index of words
// are asked by it, other files are scanned.
//
//	for rows, err := range t.Search(ctx, table.SearchOptions{Query: "failed (disk OR 10.1.2.3)", Before: 2}) {
//		fmt.Println(rows.Positions, rows.Column(0))
//
// # Explain
//
// [Table.Explain] tells how the rows of a scan are found, [Table.Statistics] what files record of their columns, and [Table.Inspect] how
// they are built. Each answers for every input, in the order of [Table.Locations], and with nil for one that does not tell.
// [Table.Plan] divides a scan among several readers.
//
// # Compare
//
// [Diff] compares two tables in any formats, by position or by a key.
//
//	c, err := table.Diff(ctx, monday, tuesday, table.DiffOptions{Key: "user,day"})
//	for row, err := range c.Rows(ctx) {
//
// # Check
//
// [Table.Verify] checks files in formats that have checksums, counts or statistics against their data.
//
//	reports, err := t.Verify(ctx, table.VerifyOptions{})
//	for i, r := range reports {
//		if r != nil && !r.OK() {
//			fmt.Println(t.Locations()[i], r.Problems)
//
// What only one format has is in its package: package shard recovers damaged shards, and adds indexes to them.
package table
