package index

import (
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/shard/internal/index/scored"
)

// Ranked is an index that rows can be ranked by.
type Ranked interface {
	// Column is the words of a field; nil if the index has no frequencies.
	Column(field int) ranking.Column
}

// HasScores tells from its description whether an index has frequencies.
func HasScores(d *shardpb.IndexDescriptor) bool { return property(d, PropertyScores) == true }

func (x *termIndex) Column(field int) ranking.Column {
	if field >= x.Scored {
		return nil
	}
	return &scored.Column{Index: x.Index, Field: field, Words: x.settings.tokenizers[field], BM25: x.settings.bm25, Known: &x.lengths[field]}
}
