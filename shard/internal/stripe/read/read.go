// Package read turns the encoded buffers of a stripe into Arrow arrays. Each kind of
// node has its file. A [Column] reads any set of rows, tells which bytes of storage that
// takes, and finds rows by conditions on encoded values.
package read

import "github.com/amudai/amudai-go/storage"

// Options are the options of [OpenColumn].
type Options struct {
	// MaxBlockBytes bounds the decoded size of one block; beyond it reading fails
	// with an error that wraps fault.ErrLimit. Zero means 64 MiB, for blocks of
	// more than 256 KiB 256 times their size, and never more than 1 GiB.
	// MaxDictionaryBytes bounds a value dictionary; zero means 1 GiB.
	MaxBlockBytes      int64
	MaxDictionaryBytes int64
	// Prefetched has bytes that were read before, for several columns at once; others
	// are read when they are needed. An open column does not keep them.
	Prefetched storage.Prefetched
}
