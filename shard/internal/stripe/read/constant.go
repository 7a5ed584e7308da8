package read

import (
	"github.com/apache/arrow-go/v18/arrow"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

// constant gives the reader of a node whose values are all equal or all null
// (docs/format.md §10.2), nil if the node is not constant.
func (n *openNode) constant() (nodeReader, error) {
	switch n.col.Stored.Type {
	case schema.List, schema.Map, schema.Struct, schema.FixedSizeList, schema.Union:
		return nil, nil
	}
	f := n.field
	if f.DictionarySize != nil {
		return nil, nil
	}
	allNull := f.NullCount != nil && f.GetNullCount() == f.GetPositionCount()
	if _, isNull := f.GetConstantValue().GetKind().(*commonpb.AnyValue_NullValue); isNull || f.ConstantValue == nil {
		if isNull && f.NullCount != nil && !allNull {
			return nil, fault.Corruptf("constant null, but %d nulls among %d positions", f.GetNullCount(), f.GetPositionCount())
		}
		if isNull || allNull {
			return work.Nulls(n.col.Plain), nil
		}
		return nil, nil
	}
	if f.GetNullCount() > 0 {
		return nil, fault.Corruptf("constant value, but %d nulls among %d positions", f.GetNullCount(), f.GetPositionCount())
	}
	one, err := rules.Constant(n.col, f.GetConstantValue())
	if err != nil {
		return nil, err
	}
	return work.Constant(one), nil
}

// ValueOf is an array of one value out of statistics, of the column's physical type
// (see [stripe.Physical]): the bound of a range, or a constant.
func ValueOf(col arrowmap.Column, v *commonpb.AnyValue) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	physical, _ := stripe.Physical(col)
	return rules.Constant(&physical, v)
}
