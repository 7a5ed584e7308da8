package shardwriter_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// misplacedShard returns the bytes and all messages of a shard of two stripes with the same number of rows.
func misplacedShard(t *testing.T) (data []byte, messages []shardfile.MessageRef) {
	ctx := context.Background()
	location := filepath.Join(t.TempDir(), "x")
	w, err := shardwriter.Create(ctx, location, testSchema(t), shardwriter.Options{CreationTime: created})
	require.NoError(t, err)
	for _, text := range []string{"one", "two"} {
		f := testStripe(t, 10, text)
		require.NoError(t, w.AppendStripe(ctx, f, shardwriter.StripeOptions{Properties: []shardfile.Property{{Name: "text", Value: text}}}))
		f.Release()
	}
	require.NoError(t, w.Close(ctx))
	data, err = os.ReadFile(location)
	require.NoError(t, err)
	f := openShard(t, location, shardfile.OpenOptions{})
	require.NoError(t, f.Messages(ctx, func(m shardfile.MessageRef, err error) error {
		messages = append(messages, m)
		return err
	}))
	return data, messages
}

// A valid message that is shorter than its reference, such as an older one in a misplaced sector, is damage.
func TestShorterMessage(t *testing.T) {
	data, messages := misplacedShard(t)
	store := storage.NewMemory()
	for _, m := range messages {
		n := int(m.Range.End-m.Range.Start) - container.FrameExtra
		for _, payload := range [][]byte{nil, data[m.Range.Start+4 : m.Range.Start+4+int64(n)/2]} {
			if len(payload) == n {
				continue
			}
			b := bytes.Clone(data)
			copy(b[m.Range.Start:], container.AppendFrame(nil, payload))
			require.NoError(t, store.Put("mem://x/shard", b))
			_, err := readAll(context.Background(), store, "mem://x/shard")
			require.ErrorIs(t, err, fault.ErrCorrupt, m.Element)
			require.ErrorContains(t, err, "message", m.Element)
		}
	}
}

// A valid message of the same length from another stripe or column is detected by its number of rows, or by
// references to later bytes.
func TestMessageOfAnotherPlace(t *testing.T) {
	data, messages := misplacedShard(t)
	store := storage.NewMemory()
	swapped := 0
	for i, to := range messages {
		for _, from := range messages[i+1:] {
			n := to.Range.End - to.Range.Start
			if from.Range.End-from.Range.Start != n || bytes.Equal(data[to.Range.Start:to.Range.End], data[from.Range.Start:from.Range.End]) {
				continue
			}
			first, last := to, from // of the two in the file
			if first.Range.Start > last.Range.Start {
				first, last = last, first
			}
			b := bytes.Clone(data)
			copy(b[first.Range.Start:first.Range.End], data[last.Range.Start:last.Range.End])
			require.NoError(t, store.Put("mem://x/shard", b))
			if !refersToBytes(first.Element) {
				continue
			}
			swapped++
			_, err := readAll(context.Background(), store, "mem://x/shard")
			require.ErrorIs(t, err, fault.ErrCorrupt, "%s in the place of %s", last.Element, first.Element)
		}
	}
	require.NotZero(t, swapped)
}

// A field list in place of that of a later stripe refers to valid descriptors before it, but of another stripe.
func TestFieldListOfAnotherStripe(t *testing.T) {
	data, messages := misplacedShard(t)
	var lists []shardfile.Range
	for _, m := range messages {
		if m.Element == "field list" && m.Stripe >= 0 {
			lists = append(lists, m.Range)
		}
	}
	require.Len(t, lists, 2)
	require.Equal(t, lists[0].End-lists[0].Start, lists[1].End-lists[1].Start)
	copy(data[lists[1].Start:], data[lists[0].Start:lists[0].End])
	store := storage.NewMemory()
	require.NoError(t, store.Put("mem://x/shard", data))
	_, err := readAll(context.Background(), store, "mem://x/shard")
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "of another place")
}

func refersToBytes(element string) bool {
	return bytes.HasPrefix([]byte(element), []byte("stripe ")) && !bytes.HasSuffix([]byte(element), []byte("properties"))
}
