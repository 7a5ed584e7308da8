package column

import "strconv"

// Kind is the encoding of a column's data, by its number in files. Sparse kinds are for columns of which most rows are
// null.
type Kind uint8

// The kinds.
const (
	Dictionary Kind = 1 + iota
	SparseDictionary
	InlineBytes
	SparseInlineBytes
	DeltaUint64
	RLEIndexes
	SparseRLEIndexes
	XORBytes
	SparseXORBytes
	PrefixBytes
	SparsePrefixBytes
	DeltaDictionary
	SparseDeltaDictionary
	kinds
)

var kindNames = [kinds]string{"", "Dictionary", "SparseDictionary", "InlineBytes", "SparseInlineBytes", "DeltaUint64",
	"RLEIndexes", "SparseRLEIndexes", "XORBytes", "SparseXORBytes", "PrefixBytes", "SparsePrefixBytes", "DeltaDictionary",
	"SparseDeltaDictionary"}

// Valid tells whether the number is one of the format's.
func (k Kind) Valid() bool { return k > 0 && k < kinds }

// String is the name in the specification.
func (k Kind) String() string {
	if k.Valid() {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// Dense tells whether there is an index, delta or inline value for null rows, too.
func (k Kind) Dense() bool {
	switch k {
	case Dictionary, InlineBytes, RLEIndexes, DeltaDictionary:
		return true
	}
	return false
}
