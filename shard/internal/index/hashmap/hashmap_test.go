package hashmap

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard/internal/index/hash"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

var ctx = context.Background()

// The indexes of the reference answer all recorded questions.
func TestGolden(t *testing.T) {
	names := []string{"hashmap-3"}
	if testdata.AllGoldens(t) {
		names = append(names, "hashmap-600")
	}
	for _, name := range names {
		var g struct {
			PartitionCount int `json:"partition_count"`
			Span           int64
			Keys           int
			Partitions     []struct{ Buckets int64 }
			Answers        []struct {
				Hash      string
				Positions [][2]int64
				NotFound  bool `json:"not_found"`
			}
		}
		require.NoError(t, json.Unmarshal(testdata.ReadGolden(t, "indexes/"+name+"/answers.json"), &g))
		var files []*shardfile.File
		for i := range g.PartitionCount {
			f, err := shardfile.Open(ctx, filepath.Join(testdata.Goldens(t), "indexes", name, fmt.Sprintf("part%d.shard", i)), shardfile.OpenOptions{})
			require.NoError(t, err)
			defer f.Close()
			files = append(files, f)
		}
		x, err := Open(ctx, len(files), func(i int) (*shardfile.File, error) { return files[i], nil }, g.Span)
		require.NoError(t, err)
		for i, p := range x.parts {
			require.Equal(t, g.Partitions[i].Buckets, p.buckets)
		}
		for _, a := range g.Answers {
			hash, err := strconv.ParseUint(a.Hash, 16, 64)
			require.NoError(t, err)
			var want []rowset.Range
			for _, r := range a.Positions {
				want = append(want, rowset.Range{From: r[0], To: r[1]})
			}
			got, err := x.Find(ctx, hash)
			require.NoError(t, err)
			require.Equal(t, rowset.Of(want...).String(), got.String(), a.Hash)
			require.Equal(t, a.NotFound, got.Empty())
		}
		hashes, total := make([]int, len(x.parts)), 0
		require.NoError(t, x.Each(ctx, func(hash uint64, _ rowset.Set) error {
			hashes[partitionOf(hash, len(x.parts))]++
			total++
			return nil
		}))
		require.Equal(t, g.Keys, total)
		for i, p := range x.parts {
			require.EqualValues(t, p.buckets, bucketsOf(hashes[i]))
		}
	}
}

// build makes an index.
func build(t require.TestingT, partitions int, limit int64, entries []entry) (files []*bytes.Buffer) {
	b := hash.NewBuilder(limit, func() *storage.Spool { return storage.NewSpool(nil, "") })
	for _, e := range entries {
		require.NoError(t, b.Add(e.hash, e.row))
	}
	require.NoError(t, Write(ctx, func(string) io.Writer {
		files = append(files, new(bytes.Buffer))
		return files[len(files)-1]
	}, partitions, "", b))
	require.NoError(t, b.Close())
	return files
}

func open(files [][]byte, rows int64) (*Index, error) {
	return Open(ctx, len(files), func(i int) (*shardfile.File, error) {
		return columns.File(ctx, storage.ByteRange{Reader: storage.FromBytes(fmt.Sprint(i), files[i]), Size: int64(len(files[i]))})
	}, rows)
}

func contents(files []*bytes.Buffer) (out [][]byte) {
	for _, f := range files {
		out = append(out, f.Bytes())
	}
	return out
}

// An index has all rows of all hashes, however many partitions it has.
func TestWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows, keys := rapid.SampledFrom([]int{1, 30, 3000}).Draw(t, "rows"), rapid.SampledFrom([]int{1, 10, 2000}).Draw(t, "keys")
		var entries []entry
		want := map[uint64][]int64{}
		for i := range rows {
			hash := uint64(rnd.IntN(keys)) * 0x9e3779b97f4a7c15
			entries = append(entries, entry{hash, uint32(i)})
			want[hash] = append(want[hash], int64(i))
		}
		partitions := rapid.SampledFrom([]int{1, 2, 8, 64}).Draw(t, "partitions")
		files := build(t, partitions, rapid.SampledFrom([]int64{1000, 1 << 30}).Draw(t, "limit"), entries)
		x, err := open(contents(files), int64(rows))
		require.NoError(t, err)
		require.Equal(t, partitions, x.Partitions())
		n := 0
		require.NoError(t, x.Each(ctx, func(hash uint64, set rowset.Set) error {
			require.Equal(t, rowset.FromRows(want[hash]).String(), set.String())
			n++
			return nil
		}))
		require.Equal(t, len(want), n)
		for hash, rows := range want {
			got, err := x.Find(ctx, hash)
			require.NoError(t, err)
			require.Equal(t, rowset.FromRows(rows).String(), got.String())
			got, err = x.Find(ctx, hash+1)
			require.NoError(t, err)
			require.Equal(t, rowset.FromRows(want[hash+1]).String(), got.String())
			break
		}
	})
}

func TestBuckets(t *testing.T) {
	for hashes, want := range map[int]uint64{0: 2, 1: 2, 3: 2, 4: 2, 5: 2, 6: 4, 8: 4, 9: 4, 10: 8, 128: 64, 130: 128} {
		require.Equal(t, want, bucketsOf(hashes), "%d", hashes)
	}
	for _, n := range []int{0, 3, 2 * MaxPartitions} {
		_, err := Open(ctx, n, nil, 1)
		require.Error(t, err)
	}
}

func FuzzPartition(f *testing.F) {
	f.Add(build(f, 1, 1<<30, []entry{{5, 1}, {5, 2}, {8, 0}, {9, 3}})[0].Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := open([][]byte{b}, 4)
		if err != nil {
			return
		}
		if x.parts[0].buckets > 1000 {
			return
		}
		_ = x.Each(ctx, func(uint64, rowset.Set) error { return nil })
		for hash := range uint64(10) {
			if rows, err := x.Find(ctx, hash); err == nil {
				require.LessOrEqual(t, rows.Bounds().To, int64(4))
			}
		}
	})
}
