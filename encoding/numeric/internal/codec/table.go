// Package codec has the encodings of numbers, each in a file of its own: its layout drawn on top, then how it is parsed,
// decoded and written, and its row for the table, with its estimate and its description.
package codec

import (
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/packing"
)

// Table is all encodings of numbers. A new one is a file and a line here. The order decides between encodings that are
// expected to cost the same.
var Table = encode.NewTable(
	&plain,
	&singleValue,
	&packing.BitPack,
	&packing.FusedFrameOfReference,
	&runLength,
	&frameOfReference,
	&delta,
	&truncateU8,
	&truncateU16,
	&truncateU32,
	&truncateU64,
	&alpFloats,
	&alpSplit,
	&dictionary,
	&sparse,
	&zigZag,
	&lz4Block,
	&zstandard,
	&commonDivisor,
	&narrow,
	&packing.PatchedPack,
	&packing.TightPack,
	&bytePlanes,
	&packing.PrefixBins,
	&lagDelta,
)
