package shard

import (
	"github.com/amudai/amudai-go/shard/internal/inspect"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// PropertyEdition is the standard property with the edition of the encodings of a shard.
const PropertyEdition = shardfile.PropertyEdition

// PlainValue converts a value of a [Property] that JSON cannot represent to text.
func PlainValue(v any) any { return inspect.PlainValue(v) }

func (s *Shard) recorded() inspect.Recorded {
	return inspect.Recorded{File: s.file, Schema: s.schema, Table: s.table}
}
