package arrowutil

// Keys of the metadata of fields in tables of spans. These have a column for each type of the values of an attribute, so that several may have one name.
const (
	ColumnType = "blockpack.type" // the type of the column: "string", "int64", "uint64", "float64", "bool", "bytes"
	ColumnName = "blockpack.name" // the name of the column, where it is not the name of the field
)
