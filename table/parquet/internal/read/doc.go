// Package read has Parquet files as tables of the engine.
//
//	File      the footer: columns as Arrow types, row groups
//	Table     a File as a table: row groups are its stripes
//	chunk     a column chunk: its pages, found by the offset index or by their headers, and its dictionary
//	flat      columns of scalars, read from the pages that have some of the rows
//	assembled other columns, which arrow-go assembles, from some row on
//
// Sources of knowledge about rows are the statistics of row groups, Bloom filters, dictionaries and column indexes.
package read
