// Package shard reads and writes Amudai shards: immutable columnar files that hold Arrow data.
//
// # Writing
//
//	w, err := shard.Create(ctx, "t.amudai.shard", schema, shard.WriterOptions{})
//	defer w.Abort(ctx)                         // does nothing after Close
//	err = w.Write(ctx, batch)                  // any number of times, any number of rows
//	err = w.Close(ctx)                         // publishes the shard
//
// [NewWriter] writes to an [io.Writer]. [CreateOf] begins a [WriterOf] for rows that are Go structs, which table.RowsOf reads.
//
// # Reading
//
//	s, err := shard.Open(ctx, "t.amudai.shard", shard.OpenOptions{})
//	defer s.Close()
//	expensive, err := filter.Parse("price > 100 and item starts with 'a'")
//	for batch, err := range s.Scan(ctx, shard.ScanOptions{Columns: []string{"price"}, Filter: expensive}) { … }
//	n, err := s.Count(ctx, expensive)
//	rows, err := s.Take(ctx, []int64{17, 4}, shard.TakeOptions{})
//
// [OpenReaderAt] reads from an [io.ReaderAt]. [Shard.Reader] is a scan as an Arrow record reader.
// [Verify] checks a shard, and [Recover] saves the complete stripes of an unfinished or damaged one.
// Package table has further questions, such as how a scan finds its rows, and what is recorded of columns.
//
// # Changing
//
// [Delete], [Edit], [AddIndex], [Compact] and [Restore] change a shard: they publish a new root over the old one, which refers to the data where they are. [Merge] and [Split]
// publish roots at other places in the same way; [Relocate] moves data, and [Collect] removes what no root refers to. Readers go on with the root that they
// opened. Of two writers the slower one makes its change anew of what the other one left, or gets an error that wraps storage.ErrChanged (docs/life.md).
//
// # Locations
//
// A location is a path, a file:// URL or a mem:// URL. Programs that read http:// and https://
// locations import package storage/http for its side effect. Package storage describes stores.
//
// # Columns
//
// A column is named by its path: "price", "address.city" for the field of a struct, "orders.id" for
// a field of the structs in a list, "prices.key" and "prices.value" for a map. A dot or backslash
// inside a name has a backslash before it. Of several columns named a, the first is "a" and the
// second "a#2"; the first column without a name is "#1" (docs/filters.md).
//
// # Memory
//
// Record batches are counted by reference, as everywhere in arrow-go. The batches of a scan belong
// to the scan and are valid until its next step; Retain keeps one. The batch of [Shard.Take] belongs
// to the caller, who releases it. [Writer.Write] keeps no reference to its batch.
//
// # Errors
//
// An error that is caused by the bytes of a shard wraps [ErrCorrupt], [ErrChecksum],
// [ErrUnsupported] or [ErrLimit], and errors.As finds an [*Error] in it with the place: artifact,
// stripe, column, buffer, block and byte offset. An artifact that does not exist is an error that
// wraps [io/fs.ErrNotExist]. Errors of the store and of the context are wrapped, too. Unknown columns,
// rows outside of the shard and options out of range are plain errors.
//
// # Concurrency
//
// A [Shard] may be used by many goroutines at once. A [Writer] and a record reader belong to one
// goroutine each. Every call takes a context and stops soon after it ends.
package shard
