package term

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/index/analysis"
	"github.com/amudai/amudai-go/storage"
)

var tctx = context.Background()

func TestLogs(t *testing.T) {
	f, err := os.Open("/work/data/logs.arrow")
	require.NoError(t, err)
	r, err := ipc.NewFileReader(f)
	require.NoError(t, err)
	col := r.Schema().FieldIndices("line")[0]
	t0 := time.Now()
	var read time.Duration
	b := NewBuilder(0, []analysis.Tokenizer{analysis.Log}, 256<<20, func() *storage.Spool { return storage.NewSpool(nil, "") })
	row := uint32(0)
	for i := range r.NumRecords() {
		t1 := time.Now()
		rec, err := r.RecordBatchAt(i)
		require.NoError(t, err)
		read += time.Since(t1)
		c := rec.Column(col).(*array.String)
		for k := range c.Len() {
			require.NoError(t, b.Add(0, row, []byte(c.Value(k))))
			row++
		}
	}
	fmt.Println("add", time.Since(t0), "read", read, "mem", b.terms.size()>>20, len(b.spilled), "entries", cap(b.terms.entries)*entrySize>>20, "table", len(b.terms.table)*8>>20, "terms", cap(b.terms.terms)>>20, "pages", len(b.terms.pages)>>4)
	for _, coarse := range []int{1, 64, 256} {
		t0 = time.Now()
		out, _ := os.Create(fmt.Sprintf("/tmp/logs%d.term", coarse))
		require.NoError(t, Write(out, Options{Rows: int64(row), Coarse: coarse}, b))
		fi, _ := out.Stat()
		fmt.Println("write", coarse, time.Since(t0), fi.Size())
	}
}
