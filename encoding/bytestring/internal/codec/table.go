// Package codec has the encodings of byte strings, each in a file of its own: its layout drawn on top, then how it is parsed,
// decoded and written, and its row for the table.
package codec

import (
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/patterns"
)

// Table is all encodings of byte strings. A new one is a file and a line here. Encodings are tried in this order: FSST needs the result of
// LZ4 or FlatLZ, OnPair that of Zstd. Those of which a sample tells little come late, when it is known what they have to beat.
var Table = encode.NewTable(
	&plain,
	&singleValue,
	&decimalRow,
	&dictionary,
	&patterns.Template,
	&flatLZ,
	&lz4Block,
	&radixPack,
	&fsstStream,
	&zstandard,
	&frontCoding,
	&patterns.Fields,
	&onPair,
	&sharedPair,
)
