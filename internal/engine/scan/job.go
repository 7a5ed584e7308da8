package scan

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// job is a batch in the making.
type job struct {
	task
	stripe    *stripeScan
	rows      rowset.Set                         // of the stripe; those of the task until they are filtered
	filtered  bool                               // there is no filter, or it is true for all rows
	parts     []filteredRows                     // how they were filtered, none without a filter
	following []*job                             // of rows of the task that this one leaves out, until they are queued
	looked    storage.Prefetched                 // what was read to filter the rows
	read      int64                              // bytes that were read for this job alone
	fetch     func() (storage.Prefetched, error) // reads the bytes of the columns, once
	arrays    []arrow.Array                      // by column
	size      int64                              // of them in bytes, once all are there
	counted   int64                              // of these, before they are there
	coming    int64                              // bytes that are yet to be read, as far as they are counted
	err       error                              // why there is no batch
}

// bytes is the size of the arrays.
func (j *job) bytes() (n int64) {
	for _, a := range j.arrays {
		if a != nil {
			n += int64(a.Data().SizeInBytes())
		}
	}
	return n
}

func (j *job) release() {
	arrowutil.ReleaseAll(j.arrays)
	j.arrays = nil
	for _, p := range j.parts {
		p.Release()
	}
	j.parts = nil
}
