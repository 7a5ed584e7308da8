package search

// Shape is what values have that were put together in one way: parts that follow each other from their beginning to their end.
type Shape []Part

// Part is a part of all values of a shape: a text, or a field, which differs from value to value.
type Part struct {
	Kind PartKind
	Text []byte // of a Constant
	Max  int    // the most characters of Digits and hexadecimal digits
	Min  int    // the least
}

// PartKind is what is known about a part.
type PartKind uint8

// The kinds of parts.
const (
	Constant PartKind = iota // the text is the same in all values
	Anything                 // any bytes
	Digits                   // decimal digits
	HexLower                 // hexadecimal digits
	HexUpper
)

// Decide tells of the values of a shape whether some may meet a condition, and whether all of them do.
type Decide = func(s Shape) (some, all bool)
