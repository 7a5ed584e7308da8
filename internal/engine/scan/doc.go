// Package scan reads the rows of a table in batches, with filters and projections. It also counts rows, and explains how a
// scan finds its rows. It knows no file format: package table has the interfaces of what it reads.
//
// A scan cuts its rows into tasks of one batch each, or of several batches if there is a filter. Each task becomes a job in
// a queue. A worker of the pool filters the rows of a job, or decodes some of its columns:
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
// Package rowfilter finds the rows that the filter is true for. The columns of the result are then decoded for these rows
// only.
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
