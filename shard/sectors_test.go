package shard

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/table/provider"
)

// misplace writes sector i of b to the place of sector j, in one of several ways.
var misplace = []struct {
	name string
	do   func(b []byte, size, i, j int)
}{
	{"duplicated", func(b []byte, size, i, j int) { copy(b[j*size:(j+1)*size], b[i*size:(i+1)*size]) }},
	{"swapped", func(b []byte, size, i, j int) {
		was := bytes.Clone(b[i*size : (i+1)*size])
		copy(b[i*size:(i+1)*size], b[j*size:(j+1)*size])
		copy(b[j*size:(j+1)*size], was)
	}},
	{"moved", func(b []byte, size, i, j int) { // those between move up or down
		was := bytes.Clone(b[i*size : (i+1)*size])
		if i < j {
			copy(b[i*size:], b[(i+1)*size:(j+1)*size])
		} else {
			copy(b[(j+1)*size:(i+1)*size], b[j*size:i*size])
		}
		copy(b[j*size:], was)
	}},
}

// TestMisplacedSectors writes sectors of 512 and of 4,096 bytes to wrong places, as faulty disks and controllers
// do. Reading all data must give an error or the same data. If a sector holds a whole buffer, and is replaced by
// the same buffer of another stripe, checksums cannot detect that, and Verify must find it by the statistics.
// AMUDAI_CENSUS=all tries up to 20,000 pairs of sectors of each shard.
func TestMisplacedSectors(t *testing.T) {
	pairs := sweep.Count(60, 400)
	if os.Getenv("AMUDAI_CENSUS") == "all" {
		pairs = 20_000
	}
	shards := smallShards(t)
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		shards[fmt.Sprintf("stripes %v", e)] = stripesAlike(t, e)
	}
	for name, b := range shards {
		for _, size := range []int{512, 4096} {
			if n := len(b) / size; n > 1 {
				t.Run(fmt.Sprintf("%s %d", name, size), func(t *testing.T) { misplaceSectors(t, b, size, n, pairs) })
			}
		}
	}
}

func misplaceSectors(t *testing.T, b []byte, size, n, pairs int) {
	want, err := readBatches(b)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(uint64(size), uint64(n)))
	for _, m := range misplace {
		var c census
		for k := range min(pairs, n*(n-1)) {
			i, j := k/(n-1), k%(n-1)
			if n*(n-1) > pairs {
				i, j = rng.IntN(n), rng.IntN(n-1)
			}
			if j >= i {
				j++
			}
			changed := bytes.Clone(b)
			m.do(changed, size, i, j)
			others := c.other
			err := c.try(changed, want)
			if c.other > others {
				r, verr := Verify(t.Context(), "mem://x/census", OpenOptions{Store: bytesStore{b: changed}}, provider.VerifyOptions{Parallelism: 1})
				require.NoError(t, verr)
				require.NotEmpty(t, r.Problems, "sector %d %s to %d of %d: other data, and Verify finds nothing", i, m.name, j, n)
			} else if err != nil {
				t.Errorf("sector %d %s to %d of %d: %v", i, m.name, j, n, err)
			}
		}
		t.Logf("%s: %+v", m.name, c)
		if strings.Contains(t.Name(), "2026") {
			require.Zero(t, c.other, "edition 2026 gives no other data, not even such that Verify finds")
		}
	}
}

// stripesAlike is a shard of many stripes with the same layout and different values.
func stripesAlike(t *testing.T, e edition.Edition) []byte {
	return smallShardOf(t, []arrow.DataType{
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean,
	}, 4000, WriterOptions{Edition: e, StripeRows: 250})
}
