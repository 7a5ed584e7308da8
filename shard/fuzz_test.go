package shard

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/table/provider"
)

// layout has the places of the checksums of a shard, so that they can be corrected after a change of its bytes.
type layout struct {
	frames, blocks, dictionaries []shardfile.Range
}

func layoutOf(t testing.TB, b []byte) layout {
	ctx := context.Background()
	f, err := shardfile.Open(ctx, "mem://x/census", shardfile.OpenOptions{Store: bytesStore{b: b}})
	require.NoError(t, err)
	defer f.Close()
	var l layout
	require.NoError(t, f.Messages(ctx, func(m shardfile.MessageRef, err error) error {
		l.frames = append(l.frames, m.Range)
		return err
	}))
	s, err := f.Schema(ctx)
	require.NoError(t, err)
	for i := range f.NumStripes() {
		for id := range s.IDCount() {
			d, err := f.Stripe(i).Descriptor(ctx, id)
			require.NoError(t, err)
			for _, e := range stripe.NativeEncoding(d).GetBuffers() {
				l.addBuffer(t, b, e)
			}
		}
	}
	return l
}

func (l *layout) addBuffer(t testing.TB, b []byte, e *shardpb.EncodedBuffer) {
	if e.Buffer == nil {
		return // its blocks are in a packed group
	}
	start, end := int64(e.Buffer.Range.Start), int64(e.Buffer.Range.End)
	switch {
	case e.BlockMap != nil || len(e.InlineBlockMap) > 0:
		raw, at := e.InlineBlockMap, end
		if e.BlockMap != nil {
			at = int64(e.BlockMap.Range.Start)
			raw = b[at:end]
		}
		m, err := encoding.ParseBlockMap(raw, at-start)
		require.NoError(t, err)
		for _, k := range m.Append(nil, 0, m.Len()) {
			l.blocks = append(l.blocks, shardfile.Range{Start: start + k.Offset, End: start + k.Offset + int64(k.Size)})
		}
	case e.Kind == shardpb.BufferKind_VALUE_DICTIONARY:
		l.dictionaries = append(l.dictionaries, shardfile.Range{Start: start, End: end})
	}
}

// mend corrects every checksum whose range is still valid.
func (l *layout) mend(b []byte) {
	for _, r := range l.dictionaries {
		mendDictionary(b[r.Start:r.End])
	}
	for _, r := range l.blocks {
		k := b[r.Start:r.End]
		binary.LittleEndian.PutUint32(k[len(k)-4:], encoding.BlockChecksum(k[:len(k)-4]))
	}
	for _, r := range l.frames {
		frame := b[r.Start:r.End]
		n := len(frame) - container.FrameExtra
		binary.LittleEndian.PutUint32(frame[4+n:], container.Checksum(frame[4:4+n]))
	}
}

func mendDictionary(d []byte) {
	for _, field := range []int{14, 30, 46} {
		start, end := binary.LittleEndian.Uint64(d[field:]), binary.LittleEndian.Uint64(d[field+8:])
		if start > end || end > uint64(len(d)) || end-start < 12 {
			continue
		}
		section := d[start:end]
		if n := binary.LittleEndian.Uint64(section); n <= uint64(len(section)-12) {
			binary.LittleEndian.PutUint32(section[len(section)-4:], container.Checksum(section[8:8+n]))
		}
	}
	binary.LittleEndian.PutUint32(d[124:], container.Checksum(d[:124]))
}

// readHostile opens, scans and verifies arbitrary bytes. Memory is limited, errors are of the known kinds, and
// none of them is a recovered panic.
func readHostile(t testing.TB, b []byte) {
	ctx := context.Background()
	check := func(err error) {
		// A stored value may be one that the Arrow type cannot hold.
		var row *convert.RowError
		var value *stripe.ValueError
		if err != nil {
			require.True(t, fault.Is(err) || errors.As(err, &row) || errors.As(err, &value), "%v", err)
			require.False(t, strings.Contains(err.Error(), "decoder failed"), "%v", err)
		}
	}
	o := OpenOptions{
		Store: bytesStore{b: b}, Types: rawTypes,
		MaxMessageBytes: 1 << 20, MaxBlockBytes: 1 << 20, MaxDictionaryBytes: 1 << 20,
	}
	s, err := Open(ctx, "mem://x/census", o)
	check(err)
	if err == nil {
		rows := min(s.NumRows(), 1000)
		for _, err := range s.Scan(ctx, ScanOptions{Parallelism: 1, MemoryLimit: 4 << 20, Rows: []RowRange{{From: 0, To: rows}}}) {
			check(err)
		}
		require.NoError(t, s.Close())
		if s.NumRows() > 100_000 { // the claimed rows are missing or constant
			return
		}
	}
	r, err := Verify(ctx, "mem://x/census", o, provider.VerifyOptions{Parallelism: 1})
	require.NoError(t, err)
	for _, p := range append(r.Problems, r.Notes...) {
		require.NotContains(t, p.Error(), "decoder failed")
	}
}

// edit changes some bytes: each 4 bytes of edits are an offset and the change at this offset.
func mutate(b, edits []byte) {
	for ; len(edits) >= 4; edits = edits[4:] {
		at := int(binary.LittleEndian.Uint16(edits)) % len(b)
		switch edits[2] % 4 {
		case 0:
			b[at] ^= edits[3]
		case 1:
			b[at] = edits[3]
		case 2:
			for i := at; i < min(at+4, len(b)); i++ {
				b[i] = edits[3]
			}
		case 3:
			b[at] += edits[3]
		}
	}
}

// TestHostileShards reads shards with random changes and valid checksums.
func TestHostileShards(t *testing.T) {
	rounds := 200
	for name, b := range smallShards(t) {
		if !strings.HasPrefix(name, "ours") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			l := layoutOf(t, b)
			rng := rand.New(rand.NewPCG(1, uint64(len(name))))
			edits := make([]byte, 12)
			for range rounds {
				c := append([]byte(nil), b...)
				for i := range edits {
					edits[i] = byte(rng.Uint32())
				}
				mutate(c, edits[:4*(1+rng.IntN(3))])
				l.mend(c)
				readHostile(t, c)
			}
		})
	}
}

// FuzzShard changes a small shard, corrects its checksums and reads it.
func FuzzShard(f *testing.F) {
	var shards [][]byte
	var layouts []layout
	for _, group := range smallGroups() {
		b := smallShard(f, group, WriterOptions{})
		shards = append(shards, b)
		layouts = append(layouts, layoutOf(f, b))
	}
	f.Add(byte(0), []byte{100, 0, 0, 1})
	f.Fuzz(func(t *testing.T, which byte, edits []byte) {
		k := int(which) % len(shards)
		b := append([]byte(nil), shards[k]...)
		mutate(b, edits)
		layouts[k].mend(b)
		readHostile(t, b)
	})
}

// FuzzOpen reads arbitrary bytes.
func FuzzOpen(f *testing.F) {
	for _, group := range smallGroups() {
		f.Add(smallShard(f, group, WriterOptions{}))
	}
	f.Fuzz(func(t *testing.T, b []byte) { readHostile(t, b) })
}
