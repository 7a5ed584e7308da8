package main

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/bench/zoo"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard"
)

// The bytes of a shard do not depend on what was written before, although encoders share memory.
func TestWritersLeaveNothing(t *testing.T) {
	type task struct {
		name    string
		batch   arrow.RecordBatch
		options shard.WriterOptions
	}
	var tasks []task
	names := []string{"zoo/prose_120", "zoo/log_apache", "zoo/uuid"}
	if sweep.All() {
		names = zooSets(zoo.Tuned())
	}
	for _, name := range names {
		d := named(name)
		require.NoError(t, makeData(t.Context(), d, config{shared: testdata.Shared(t), rows: 1 << 16}))
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression} {
			for _, rows := range []int64{5000, 1 << 16} {
				o := shard.WriterOptions{Profile: p, CreationTime: time.Unix(0, 0), Parallelism: 1}
				tasks = append(tasks, task{d.Name, d.Batches[0].NewSlice(0, rows), o})
			}
		}
	}
	write := func(x task) uint32 {
		var out bytes.Buffer
		w, err := shard.NewWriter(t.Context(), &out, x.batch.Schema(), x.options)
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), x.batch))
		require.NoError(t, w.Close(t.Context()))
		return crc32.ChecksumIEEE(out.Bytes())
	}
	sums := make([]uint32, len(tasks))
	for i, x := range tasks {
		sums[i] = write(x)
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(tasks)) {
		if got := write(tasks[i]); got != sums[i] {
			t.Errorf("%s of %d rows, %v: other bytes", tasks[i].name, tasks[i].batch.NumRows(), tasks[i].options.Profile)
		}
	}
}
