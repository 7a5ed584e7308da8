package column

// Field describes a column in all blocks of a file.
type Field struct {
	Name  string
	Type  Type // String to Bytes
	Flags Traits
}

// Key is the name and type of the column.
func (f Field) Key() Key { return Key{f.Name, f.Type} }

// Traits are facts about all values of a column, by their bits in files. They decide about its Arrow type.
type Traits uint8

// Traits of columns.
const (
	Always  Traits = 1 << iota // every row has a value
	IDs                        // all values have the width of a trace id or span id: 16 or 8 bytes
	Large                      // some value is 2^63 or more
	NotUTF8                    // some string is not valid UTF-8
)

// Join are the traits of a column of several blocks.
func (t Traits) Join(u Traits) Traits { return t&u&(Always|IDs) | (t|u)&(Large|NotUTF8) }
