package shard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// seeds are small shards in a single file, split anew for every use.
type seeds [][]byte

func newSeeds(t testing.TB) (all seeds) {
	for _, rows := range []int{3, 40} {
		for _, k := range Kinds(t, rows) {
			if len(k.Files) == 1 {
				all = append(all, k.Root)
			}
		}
	}
	all = append(all, dictionarySeed(t), liesShard(t).Join(), textShard(t, "shared dictionary"))
	for i, batch := range Batches(40) {
		for _, o := range []shard.WriterOptions{{NullsApart: true, OffsetsApart: true}, {Packed: [][]string{{"*"}}}} {
			o.Profile = encoding.Profile(i % 5)
			all = append(all, NewKind(t, "feature", batch, o).Root)
		}
	}
	for _, b := range all {
		_, err := Split(b)
		require.NoError(t, err)
	}
	return all
}

// dictionarySeed has value dictionaries, which writers do not make for so few values.
func dictionarySeed(t testing.TB) []byte {
	for _, batch := range Batches(40) {
		if batch.NumCols() < 7 || batch.ColumnName(0) != "empty" {
			continue
		}
		p, err := Split(NewKind(t, "dictionary", batch, shard.WriterOptions{}).Root)
		require.NoError(t, err)
		for i, f := range p.Stripes[0].Fields {
			if f.Desc.Field.ConstantValue != nil {
				continue
			}
			var values [][]byte
			for row := range 40 {
				values = append(values, []byte(batch.Column(i).ValueStr(row)))
			}
			values[7], f.Desc.Field.NullCount = nil, nil
			f.SetDictionary(schema.String, 0, values)
		}
		return p.Join()
	}
	t.Fatal("no batch of strings")
	return nil
}

func (s seeds) parts(i int) *Parts {
	p, err := Split(s[i%len(s)])
	if err != nil {
		panic(err)
	}
	return p
}

// mutant returns a seed with the chosen changes and valid checksums.
func (s seeds) mutant(which byte, random []byte) []byte {
	c := choices(bytes.Clone(random))
	p := s.parts(int(which))
	mutate(&c, p, s.parts)
	b := p.Join()
	Mend(b)
	return b
}

// small has limits under which no small file takes much memory.
func small(store storage.Store) shard.OpenOptions {
	return shard.OpenOptions{Store: store, MaxMessageBytes: 1 << 20, MaxBlockBytes: 1 << 20, MaxDictionaryBytes: 1 << 20, CacheBytes: 1 << 20}
}

// hostileBound is the number of bytes that reading a mutant may allocate, freed memory included: each of its
// columns may reach the limits several times.
const hostileBound = 768 << 20

// survive opens, scans, verifies and recovers arbitrary bytes. It allows no panic, not even a recovered one, no
// unknown kind of error, no leaks, and a limited amount of memory. What cannot be read is never sound.
func survive(t testing.TB, b []byte) {
	ctx := context.Background()
	before := leaktest.Allocated()
	store, mem := OneFile(b), memory.NewCheckedAllocator(memory.DefaultAllocator)
	rows, failed := int64(0), error(nil)
	for _, types := range []arrowmap.ReadOptions{{}, {IgnoreAnnotations: true, Decimals: arrowmap.DecimalsAsText}} {
		o := small(store)
		o.Types = types
		n, err := scanSome(ctx, o, mem)
		rows = n
		requireKind(t, err)
		if isFault(err) && !isMisfit(err) { // verify asks no Arrow type to hold the values
			failed = err
		}
	}
	require.Zero(t, mem.CurrentAlloc())
	require.Zero(t, store.OpenReaders())
	if rows <= 100_000 { // more of them are constants, and only take time
		r, err := shard.Verify(ctx, Location, small(store), provider.VerifyOptions{Parallelism: 1})
		require.NoError(t, err)
		for _, f := range append(r.Problems, r.Notes...) {
			require.NotContains(t, f.Error(), "decoder failed")
		}
		require.NotEmpty(t, fmt.Sprint(r))
		require.False(t, failed != nil && r.OK(), "a shard that cannot be read is called sound: %v", failed)
		out := storage.NewMemory()
		_, err = shard.Recover(ctx, Location, "mem://x/out", shard.RecoverOptions{Open: small(store), Store: out, Parallelism: 1})
		requireKind(t, err)
	}
	require.Zero(t, store.OpenReaders())
	if used := leaktest.Allocated() - before; used > hostileBound {
		t.Fatalf("%d MiB allocated for %d bytes", used>>20, len(b))
	}
}

// scanSome reads properties, and the first and last rows.
func scanSome(ctx context.Context, o shard.OpenOptions, mem memory.Allocator) (rows int64, err error) {
	s, err := shard.Open(ctx, Location, o)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	_, perr := s.Properties(ctx)
	_, aerr := s.ArrowSchema(ctx)
	n := s.NumRows()
	ranges := []shard.RowRange{{From: 0, To: min(n, 500)}, {From: max(n-3, 0), To: n}}
	for _, err := range s.Scan(ctx, shard.ScanOptions{Parallelism: 1, MemoryLimit: 1 << 20, BatchRows: 200, Rows: ranges, Allocator: mem}) {
		if err != nil {
			return n, err
		}
	}
	return n, errors.Join(perr, aerr)
}

// isMisfit reports whether an error is about a value that does not fit the Arrow type.
func isMisfit(err error) bool {
	var row *convert.RowError
	var value *stripe.ValueError
	return errors.As(err, &row) || errors.As(err, &value)
}

// requireKind checks that an error is about the bytes, or about a value that does not fit the Arrow type.
func requireKind(t testing.TB, err error) {
	if err == nil {
		return
	}
	if !isFault(err) && !isMisfit(err) {
		t.Fatalf("unexpected kind of error: %v", err)
	}
	if strings.Contains(err.Error(), "decoder failed") {
		t.Fatalf("panic: %v", err)
	}
}

// TestMutants reads shards of every kind with random changes of blocks, maps, dictionaries, descriptors and
// schemas, and valid checksums. AMUDAI_MUTANTS is the number of mutants.
func TestMutants(t *testing.T) {
	count, seed := 1500, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("AMUDAI_MUTANTS")); err == nil {
		count, seed = n, rand.Uint64()
	}
	all := newSeeds(t)
	rng := rand.New(rand.NewPCG(seed, 2))
	choices := make([]byte, 64)
	for range count {
		for i := range choices {
			choices[i] = byte(rng.Uint32())
		}
		which, n := byte(rng.Uint32()), 8+rng.IntN(len(choices)-8)
		func() {
			defer func() {
				if r := recover(); r != nil || t.Failed() {
					t.Fatalf("mutant(%d, %q): %v", which, choices[:n], r)
				}
			}()
			survive(t, all.mutant(which, choices[:n]))
		}()
	}
	t.Logf("%d mutants of %d shards, seed %d", count, len(all), seed)
}

// FuzzMutant is TestMutants with changes of a fuzzer.
func FuzzMutant(f *testing.F) {
	all := newSeeds(f)
	for i := range all {
		f.Add(byte(i), []byte{byte(i * 7), 1, 2, 3, 4, 5, 6, 7, 8, 9, 200, 150, 3, 4, 5})
	}
	f.Fuzz(func(t *testing.T, which byte, choices []byte) {
		if len(choices) > 200 {
			return
		}
		survive(t, all.mutant(which, choices))
	})
}
