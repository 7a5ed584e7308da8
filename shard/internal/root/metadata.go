package root

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// WithArrowSchema adds the Arrow schema to the properties if it has metadata, which no other
// place stores. A property of the same name in the options takes precedence.
func WithArrowSchema(list []shardfile.Property, s *arrow.Schema) ([]shardfile.Property, error) {
	for _, p := range list {
		if p.Name == arrowmap.SchemaProperty {
			return list, nil
		}
	}
	if s.Metadata().Len() == 0 {
		return list, nil
	}
	text, err := arrowmap.EncodeIPC(s)
	if err != nil {
		return nil, err
	}
	return append(list[:len(list):len(list)], shardfile.Property{Name: arrowmap.SchemaProperty, Value: text}), nil
}
