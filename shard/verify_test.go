package shard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/golden"
)

// TestVerifyGoldens finds no problem in any shard of the reference.
func TestVerifyGoldens(t *testing.T) {
	var all Report
	for _, g := range golden.Shards(t) {
		t.Run(g.File, func(t *testing.T) {
			r, err := Verify(context.Background(), g.Path(t), VerifyOptions{})
			require.NoError(t, err)
			for _, f := range r.Problems {
				t.Errorf("%v", f)
			}
			for _, f := range r.Notes {
				t.Logf("note: %v", f)
			}
			all.Messages += r.Messages
			all.Buffers += r.Buffers
			all.Blocks += r.Blocks
			all.Values += r.Values
			all.Statistics += r.Statistics
			all.Dictionaries += r.Dictionaries
			all.RangeIndexes += r.RangeIndexes
			all.Filters += r.Filters
			all.Sketches += r.Sketches
			all.Constants += r.Constants
		})
	}
	t.Logf("%+v", all)
}
