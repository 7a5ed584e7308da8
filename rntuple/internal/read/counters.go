package read

import (
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// input is what a read begins with: bytes that were read before, and the counters of its work.
type input struct {
	have     storage.Prefetched
	counters *counters // nil for none
	last     *lastPage // of the column that is being read
}

// lastPage is the decoded page that values were copied of last.
type lastPage struct {
	page   int
	values []byte
}

// counters are those of pages, by offset. A page that comes from the cache is not read.
type counters = table.BlockCounters[uint64]
