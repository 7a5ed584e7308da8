package verify

import (
	"bytes"

	"github.com/amudai/amudai-go/encoding/bytestring"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// textRange is the minimum and the maximum of strings or byte strings, in byte order. They are complete, unlike
// stored bounds.
type textRange struct {
	isString    bool
	some        bool
	least, most []byte
}

func (r *textRange) add(v bytestring.Values, valid bitmap.Bits) {
	for i := range v.N {
		if !valid.At(i) {
			continue
		}
		value := v.At(i)
		if !r.some || bytes.Compare(value, r.least) < 0 {
			r.least = append(r.least[:0], value...)
		}
		if !r.some || bytes.Compare(value, r.most) > 0 {
			r.most = append(r.most[:0], value...)
		}
		r.some = true
	}
}

func (r *textRange) stats() *shardpb.RangeStats {
	if !r.some {
		return &shardpb.RangeStats{}
	}
	return &shardpb.RangeStats{MinValue: r.value(r.least), MinInclusive: true, MaxValue: r.value(r.most), MaxInclusive: true}
}

func (r *textRange) value(b []byte) *commonpb.AnyValue {
	if r.isString {
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_StringValue{StringValue: string(b)}}
	}
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_BytesValue{BytesValue: b}}
}
