// Package rntuple reads and writes RNTuples, the columnar tables of ROOT files in high-energy physics, as
// Arrow record batches. It needs no ROOT installation.
//
// Importing it registers the format ".root", so that package table opens an ntuple of a file, and scans its entries with a projection and
// a filter. "file.root:dir/Events" is the location of one of several ntuples, and "file.root:dir/Events:calibration" that of an attribute
// set, which annotates ranges of its entries. [New] is the format with other [Options]:
//
//	events, err := table.OpenWith(ctx, table.OpenOptions{Formats: []provider.Format{rntuple.New(rntuple.FormatOptions{})}}, "file.root")
//
// Fields become Arrow columns (docs/rntuple.md has the table): vectors
// become lists, classes structs, std::optional nullable values, std::variant dense unions (structs in the registered
// format). The metadata of an Arrow field has the C++ type and the description of the field.
//
// Formats 1.0 (ROOT 6.34 and later) and 0.2 (ROOT 6.30 to 6.33) are read. Checksums of metadata are
// always compared, those of pages unless [Options] say otherwise.
//
// # Writing
//
// [Create] and [NewWriter] write format 1.0.0.1, as ROOT 6.36 does. Arrow types become C++ types:
//
//	bool, int8 … uint64, float32, float64  bool, std::int8_t … std::uint64_t, float, double
//	utf8                                   std::string
//	binary                                 std::vector<std::byte>
//	list, fixed_size_list, map             std::vector, std::array, std::map
//	struct                                 a record without a type; a union is a std::variant
//	nullable fields                        std::optional, unless WriterOptions.NoNulls is set
//	dictionaries, runs, views, extensions  that of their values
//	float16                                float, in a column of halves
//	date32, time32, decimal32, months      std::int32_t
//	date64, time64, timestamp, duration    std::int64_t, like decimal64
//	other decimals and intervals           std::array<std::byte,N> of the bytes in Arrow, lowest first
//	fixed_size_binary                      std::array<std::byte,N>
//
// What is not a type of RNTuple is named at the end of the description of its field, and read back:
//
//	"time of the trigger [arrow: timestamp[us, UTC]]"
//	"[arrow: fixed_size_binary[16]] [arrow: extension "arrow.uuid" ""]"
//	"[arrow: union 0 "none", 5 "energy", 7 "label"]"
//	"[arrow: type dictionary[int32,ordered]/utf8_view]"
//
// Extension types that the program does not know, and those of nested values, come back as the keys ARROW:extension:name and
// ARROW:extension:metadata of their field, as in Arrow's files. Dictionaries have the values of their batch.
//
// A schema that was read from an ntuple makes an equal one: C++ types, aliases, descriptions, versions and
// projected fields are in its metadata, and so is the description of classes whose objects ROOT's streamers
// made. Unions come back dense, with the null field first, and the type null is refused.
//
// Other programs do not read all that the format has. uproot 5.7 reads all of it but blobs in several
// pieces ([WriterOptions].MaxKeySize), and values of variants behind the first cluster. JSROOT 7.11 reads
// no std::optional, no records without a C++ type, no projected fields, no fields of [Writer.Extend], no
// ntuple without entries, and only the first cluster of collections in collections.
//
// A record without a C++ type leaves a hole in the names of the types around it, such as std::optional<> and
// std::array<,2>. uproot writes them so, too; ROOT knows no such types.
package rntuple
