// Package read has Parquet files as tables of the engine.
//
//	File      the footer: columns as Arrow types, row groups
//	Table     a File as a table: row groups are its stripes
//	assembled columns that are nested, and others, which arrow-go assembles, from some row on
//
// Sources of knowledge about rows are the statistics of row groups, Bloom filters, dictionaries and column indexes.
package read
