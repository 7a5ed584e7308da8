package shard

import (
	"context"

	"github.com/amudai/amudai-go/shard/internal/importer"
)

// ImportOptions are the options of [Import]. The zero value is the default.
//
//	type ImportOptions struct {
//		// Store has the Parquet files, and receives the shard. The default is the registered store of the location.
//		Store storage.Store
//		// Policy allows references to files outside the folder of the shard, and the folders in it. The default allows none, as that of
//		// [OpenOptions] does: who opens the shard has to allow them again.
//		Policy Policy
//		// Overwrite permits the replacement of an existing shard.
//		Overwrite bool
//		// CreationTime is recorded in the shard, by default the time of Import.
//		CreationTime time.Time
//		// Properties are the custom properties of the shard.
//		Properties []Property
//		// Program is recorded as the program that wrote the shard, by default this library.
//		Program string
//		// Parallelism is the number of files whose metadata is read at the same time, by default GOMAXPROCS.
//		Parallelism int
//	}
type ImportOptions = importer.Options

// Import makes a shard of Parquet files without a copy of their values: its stripes refer to the row groups, in the order of the files (docs/format.md
// §3.4). Only footers are read, and the values of columns of INT96, whose type depends on them. The shard is then scanned, filtered and searched as others
// are, by the pages, statistics and Bloom filters of the files, and may get indexes.
//
// The files must stay: one that is missing is an error of reads that need it, and one that was changed, too, which its size and a checksum of its footer
// show. Programs that import files, or read the shard, must import package table/parquet.
//
// All files must have the same columns, with the same types.
func Import(ctx context.Context, location string, files []string, o ImportOptions) error {
	return importer.Import(ctx, location, files, o)
}
