package shard

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/shardfile"
)

// ticksOf is a bound of a DateTime or timespan column.
func ticksOf(v *commonpb.AnyValue) (uint64, bool) {
	switch k := v.GetKind().(type) {
	case *commonpb.AnyValue_U64Value:
		return k.U64Value, true
	case *commonpb.AnyValue_I64Value:
		return uint64(k.I64Value), true
	}
	return 0, false
}

// withArrowSchema adds the Arrow schema to the properties if it has metadata,
// which is kept nowhere else. A property of that name given by the user stays.
func withArrowSchema(list []Property, s *arrow.Schema) ([]Property, error) {
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
	return append(list[:len(list):len(list)], Property{Name: arrowmap.SchemaProperty, Value: text}), nil
}

// metadata is that of the Arrow schema kept with the shard, nil if there is none.
// One that cannot be read is as good as none: no value depends on it.
func (s *Shard) metadata(ctx context.Context) (*arrow.Metadata, error) {
	if s.o.Types.IgnoreKept {
		return nil, nil
	}
	m, err := s.file.Properties(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range m.CustomProperties {
		if p.Name != arrowmap.SchemaProperty {
			continue
		}
		text, ok := shardfile.ValueFromProto(p.Value).(string)
		if !ok {
			return nil, nil
		}
		meta, err := arrowmap.MetadataFromIPC(text)
		if err != nil || meta.Len() == 0 {
			return nil, nil
		}
		return &meta, nil
	}
	return nil, nil
}
