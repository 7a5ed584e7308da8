package root

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

func isSchema(p shardfile.Property) bool { return p.Name == arrowmap.SchemaProperty }

// WithArrowSchema adds the Arrow schema to the properties if it has metadata, which no other
// place stores. A property of the same name in the options takes precedence.
func WithArrowSchema(list []shardfile.Property, s *arrow.Schema) ([]shardfile.Property, error) {
	if s.Metadata().Len() == 0 || slices.ContainsFunc(list, isSchema) {
		return list, nil
	}
	text, err := arrowmap.EncodeIPC(s)
	if err != nil {
		return nil, err
	}
	return append(slices.Clip(list), shardfile.Property{Name: arrowmap.SchemaProperty, Value: text}), nil
}

// WithNewColumns has the Arrow schema among the properties, if there is one, tell of the columns of a stored schema. Readers take its metadata only.
func WithNewColumns(list []shardfile.Property, now *schema.Schema) ([]shardfile.Property, error) {
	i := slices.IndexFunc(list, isSchema)
	if i < 0 {
		return list, nil
	}
	text, _ := list[i].Value.(string)
	list = slices.Delete(slices.Clone(list), i, i+1)
	meta, err := arrowmap.MetadataFromIPC(text)
	if err != nil { // it says nothing to readers
		return list, nil
	}
	s, _, err := arrowmap.ToArrow(now, arrowmap.ReadOptions{})
	if err != nil {
		s = arrow.NewSchema(nil, nil) // of columns that this version does not read
	}
	return WithArrowSchema(list, arrow.NewSchema(s.Fields(), &meta))
}
