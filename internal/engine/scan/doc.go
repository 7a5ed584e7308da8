// Package scan is the engine that reads rows of a table: scans with filters and
// projections, takes of single rows, counts, and explanations of all of these. It knows no
// file format. What it reads is a [Table] of stripes with columns, each read by a
// [ColumnReader]; package shardtable makes one of a shard.
//
// A scan cuts the rows it is asked for into tasks of one batch each, or of several batches
// if a filter is to leave few rows. Tasks become jobs of a queue, and a pool of workers
// takes the rows of a job to filter, or some of its columns to decode:
//
//	plan ── tasks ──▶ queue                                       ──▶ batches, in order or as ready
//	                  job 4          job 5          job 6
//	                  filter rows    filter rows    filter rows
//	                  c0 c1 c2 c3    c0 c1 c2 c3    c0 c1 c2 c3
//	                  done           done  w1 w2    w3 -- -- --
//	                        ▲              ▲
//	                        │              └ read windows: bytes of several batches, read ahead
//	                        └ budget: bytes of batches and read windows
//
// Filter rows: the sources of a stripe (package source) say for each condition which rows it
// is true for, and which rows have to be looked at. Columns of the filter are then decoded
// one after the other, each for the rows that are left, or searched in their encoded form.
// The other columns are decoded for the rows that remain.
//
// The types that lock:
//
//	queue         the jobs, how far each is, and the plan that they come from
//	budget        counters of bytes
//	readWindows   bytes of one stripe that were read ahead
//	stripeScan    columns of one stripe, each opened once
//
// A lock of an upper row may be held while one of a lower row is taken.
package scan
