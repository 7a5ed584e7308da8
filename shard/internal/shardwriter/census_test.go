package shardwriter_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/golden"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// readAll returns all metadata of a shard.
func readAll(ctx context.Context, store storage.Store, location string) ([]byte, error) {
	f, err := shardfile.Open(ctx, location, shardfile.OpenOptions{Store: store})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []byte
	add := func(m proto.Message, err error) error {
		if err != nil {
			return err
		}
		out, err = proto.MarshalOptions{Deterministic: true}.MarshalAppend(append(out, '|'), m)
		return err
	}
	if err := f.ReadFieldLists(ctx, nil); err != nil { // reads the header
		return nil, err
	}
	s, err := f.Schema(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, s.Bytes()...)
	if err := add(f.Properties(ctx)); err != nil {
		return nil, err
	}
	urls, err := f.URLs(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range urls {
		out = append(out, u...)
	}
	for id := range s.IDCount() {
		if err := add(f.FieldDescriptor(ctx, id)); err != nil {
			return nil, err
		}
	}
	for i := range f.NumStripes() {
		if err := add(f.Stripe(i).Properties(ctx)); err != nil {
			return nil, err
		}
		for id := range s.IDCount() {
			if err := add(f.Stripe(i).Descriptor(ctx, id)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func isFault(err error) bool {
	for _, kind := range []error{fault.ErrCorrupt, fault.ErrChecksum, fault.ErrUnsupported, fault.ErrLimit} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// TestFlipAndCutMetadata flips every bit of small shards, and cuts them at every length. Reading their metadata gives
// an error or the same result.
func TestFlipAndCutMetadata(t *testing.T) {
	ctx := context.Background()
	var shards [][]byte
	for _, stripes := range []int{0, 2} {
		location := filepath.Join(t.TempDir(), "x")
		writeShard(t, location, shardwriter.Options{Properties: []shardfile.Property{{Name: "k", Value: "v"}}}, stripes)
		b, err := os.ReadFile(location)
		require.NoError(t, err)
		shards = append(shards, b)
	}
	for _, g := range golden.Shards(t) {
		if g.File == "stripes/zero-row-stripe-first.amudai.shard" {
			b, err := os.ReadFile(g.Path(t))
			require.NoError(t, err)
			shards = append(shards, b)
		}
	}
	for _, b := range shards {
		store := storage.NewMemory()
		require.NoError(t, store.Put("mem://x/shard", b))
		want, err := readAll(ctx, store, "mem://x/shard")
		require.NoError(t, err)
		failed, same := 0, 0
		try := func(b []byte) bool {
			require.NoError(t, store.Put("mem://x/shard", b))
			got, err := readAll(ctx, store, "mem://x/shard")
			if err != nil {
				require.True(t, isFault(err), "%v", err)
				failed++
				return true
			}
			same++
			return bytes.Equal(got, want)
		}
		for i := range b {
			for bit := i % sweep.Step(8); bit < 8; bit += sweep.Step(8) { // one bit of each byte, or all
				b[i] ^= 1 << bit
				if !try(b) {
					t.Fatalf("bit %d of byte %d of %d changes what is read", bit, i, len(b))
				}
				b[i] ^= 1 << bit
			}
		}
		t.Logf("%d bytes: %d flips are errors, %d change nothing", len(b), failed, same)
		for n := 0; n < len(b); n += sweep.Step(7) {
			require.True(t, try(b[:n]), "cut at %d", n)
		}
	}
}
