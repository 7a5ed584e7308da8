package shard

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// TestRecoverCut cuts a shard at many lengths. Every stripe whose record is before the cut is recovered.
func TestRecoverCut(t *testing.T) {
	ctx := context.Background()
	data := numbered(1000, 6)
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		dir := t.TempDir()
		location := filepath.Join(dir, "s")
		writeTable(t, location, data, WriterOptions{Layout: layout, StripeRows: 200, CreationTime: created, Properties: []Property{{Name: "k", Value: "v"}}}, 300)
		b, err := os.ReadFile(location)
		require.NoError(t, err)
		last := 0
		for cut := 0; cut < len(b); cut += 1 + len(b)/60 {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "cut"), b[:cut], 0o666))
			r, err := Recover(ctx, filepath.Join(dir, "cut"), filepath.Join(dir, "saved"), RecoverOptions{Layout: layout, Overwrite: true})
			if err != nil {
				require.ErrorIs(t, err, ErrCorrupt)
				require.Zero(t, last)
				continue
			}
			require.True(t, r.Unfinished)
			require.GreaterOrEqual(t, r.Saved, last)
			require.Empty(t, r.Lost)
			last = r.Saved
			s, err := Open(ctx, filepath.Join(dir, "saved"), OpenOptions{})
			require.NoError(t, err)
			part := data
			part.rows = 200 * r.Saved
			requireScan(t, s, part, ScanOptions{})
			p, err := s.Properties(ctx)
			require.NoError(t, err)
			v, _ := p.Get("k")
			require.Equal(t, "v", v)
			require.Equal(t, created, p.CreatedMin)
			require.NoError(t, s.Close())
		}
		require.Equal(t, 5, last)
	}
}

// TestRecoverDamage damages one stripe of a finished shard. The others are recovered.
func TestRecoverDamage(t *testing.T) {
	ctx := context.Background()
	data := numbered(1000, 3)
	store := storage.NewMemory()
	writeTable(t, "mem://x/s", data, WriterOptions{Store: store, StripeRows: 200}, 1000)
	s, err := Open(ctx, "mem://x/s", OpenOptions{Store: store})
	require.NoError(t, err)
	d, err := s.file.Stripe(2).Descriptor(ctx, 0)
	require.NoError(t, err)
	at := d.Encodings[0].GetNative().Buffers[0].Buffer.Range.Start + 20
	r, err := store.Open(ctx, "mem://x/s")
	require.NoError(t, err)
	b, _, err := r.ReadSuffix(ctx, 1<<30)
	require.NoError(t, err)
	b = bytes.Clone(b)
	b[at] ^= 4
	require.NoError(t, store.Put("mem://x/s", b))

	rep, err := Recover(ctx, "mem://x/s", "mem://x/saved", RecoverOptions{Open: OpenOptions{Store: store}, Store: store})
	require.NoError(t, err)
	require.False(t, rep.Unfinished)
	require.Equal(t, 4, rep.Saved)
	require.EqualValues(t, 800, rep.Rows)
	require.Len(t, rep.Lost, 1)
	require.Equal(t, 2, rep.Lost[0].Stripe)
	var flipped *FlippedBit
	require.ErrorAs(t, rep.Lost[0].Problems[0], &flipped)
	require.Equal(t, FlippedBit{Artifact: "mem://x/s", Offset: int64(at), Bit: 2, Err: flipped.Err}, *flipped)
	saved, err := Open(ctx, "mem://x/saved", OpenOptions{Store: store})
	require.NoError(t, err)
	values, _ := scanned(t, saved, ScanOptions{})
	require.Len(t, values, 800)
	require.EqualValues(t, 600, values[400])
	v, err := Verify(ctx, "mem://x/saved", OpenOptions{Store: store}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, v.OK(), "%v", v.Problems)

	_, err = Recover(ctx, "mem://x/none", "mem://x/other", RecoverOptions{Open: OpenOptions{Store: store}, Store: store})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestRecoverEdition recovers shards that are not damaged: the new ones are of the same edition, and have the same bytes.
func TestRecoverEdition(t *testing.T) {
	ctx := context.Background()
	for _, e := range []Edition{Edition2026, EditionReference} {
		store := storage.NewMemory()
		bytesAt := func(location string) []byte {
			r, err := store.Open(ctx, location)
			require.NoError(t, err)
			b, _, err := r.ReadSuffix(ctx, 1<<30)
			require.NoError(t, err)
			return b
		}
		for _, stripeRows := range []int64{400, 1000} {
			writeTable(t, "mem://x/s", numbered(1000, 3), WriterOptions{Store: store, Edition: e, StripeRows: stripeRows, CreationTime: created, Overwrite: true}, 1000)
			_, err := Recover(ctx, "mem://x/s", "mem://x/saved", RecoverOptions{Open: OpenOptions{Store: store}, Store: store, Overwrite: true})
			require.NoError(t, err)
			require.True(t, bytes.Equal(bytesAt("mem://x/s"), bytesAt("mem://x/saved")), "%v, %d", e, stripeRows)
		}
	}
}

// TestKill kills a process while it writes a shard. No shard appears, and the complete stripes can be recovered
// from the temporary file.
func TestKill(t *testing.T) {
	if dir := os.Getenv("AMUDAI_TEST_KILL"); dir != "" {
		writeForever(t, dir)
		return
	}
	ctx := context.Background()
	for round := range 3 {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "AMUDAI_TEST_KILL="+dir)
		require.NoError(t, cmd.Start())
		waitFor(t, filepath.Join(dir, "stripes"), round+1)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()

		require.NoFileExists(t, filepath.Join(dir, "s"))
		hidden, err := filepath.Glob(filepath.Join(dir, ".s.*.tmp"))
		require.NoError(t, err)
		require.Len(t, hidden, 1)
		r, err := Recover(ctx, hidden[0], filepath.Join(dir, "saved"), RecoverOptions{})
		require.NoError(t, err)
		require.Positive(t, r.Saved)
		s, err := Open(ctx, filepath.Join(dir, "saved"), OpenOptions{})
		require.NoError(t, err)
		row := int64(0)
		for i := range s.NumStripes() {
			values, _ := scanned(t, s, ScanOptions{Stripes: []int{i}})
			require.EqualValues(t, int64(i)*100_000, values[0])
			row += int64(len(values))
		}
		require.Equal(t, r.Rows, row)
		require.NoError(t, s.Close())
	}
}

// writeForever writes stripes until the process is killed, and their number to a file.
func writeForever(t *testing.T, dir string) {
	ctx := context.Background()
	data := numbered(100_000, 2)
	w, err := Create(ctx, filepath.Join(dir, "s"), data.schema, WriterOptions{})
	require.NoError(t, err)
	for i := 0; ; i++ {
		values := numberedFrom(i*100_000, data)
		require.NoError(t, w.Write(ctx, values.batch(0, values.rows)))
		require.NoError(t, w.CutStripe(ctx))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "stripes"), []byte(fmt.Sprint(i)), 0o666))
	}
}

func waitFor(t *testing.T, path string, n int) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if k, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && k >= n {
			return
		}
	}
	t.Fatal("the process writes nothing")
}
