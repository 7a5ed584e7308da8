package scan

import (
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// minBatchRows is the fewest rows that a scan chooses for its batches. The cost of a batch matters if it has fewer.
const minBatchRows = 1024

// longValue is the size in bytes from which on values make batches shorter. A block of shorter values has so many rows that
// it would be decoded again for several batches.
const longValue = 128

// chooseBatchRows makes batches of long values shorter, unless the options name a number of
// rows. The long values of a batch then take about a quarter of the memory limit, so that
// some batches are decoded while another is in use. The first stripe of the scan stands for
// all. Faults of its metadata come out when its columns are opened.
func (sc *scanner) chooseBatchRows() error {
	if !sc.chooses {
		return nil
	}
	q := &sc.queue
	most := sc.o.MemoryLimit / 4
	if q.plan.ended || len(sc.columns) == 0 {
		return nil
	}
	st := sc.table.Stripe(q.plan.ahead.stripe)
	if bytes, known := st.RawRowBytes(); known && bytes <= most/DefaultBatchRows {
		return nil
	}
	columns := sc.columns[:min(len(sc.columns), table.GroupSize)]
	if err := sc.prefetchStripes(sc.ctx, st.Index()); err != nil {
		return fault.InStripe(err, st.Index())
	}
	if err := st.PrefetchMetadata(sc.ctx, columns); err != nil {
		return fault.InStripe(err, st.Index())
	}
	long := int64(0) // bytes of a row
	for i := range columns {
		if bytes := st.ValueBytes(sc.ctx, &columns[i]); bytes > longValue {
			long += bytes
		}
	}
	if long <= most/DefaultBatchRows {
		return nil
	}
	rows := int64(1) << (bits.Len64(uint64(max(most/long, minBatchRows))) - 1) // a power of two, as blocks have
	sc.o.BatchRows = int(rows)
	q.average = rows * long
	q.plan = sc.newPlan()
	return nil
}
