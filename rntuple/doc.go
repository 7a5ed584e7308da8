// Package rntuple reads RNTuples, the columnar tables of ROOT files in high-energy physics, into
// Arrow record batches. It needs no ROOT installation.
//
// [Open] opens an ntuple of a file. [NTuple.Scan] reads its entries with a projection and a filter,
// [NTuple.Take] single entries. Fields become Arrow columns (docs/rntuple.md has the table): vectors
// become lists, classes structs, std::optional nullable values, std::variant dense unions. The metadata
// of an Arrow field has the C++ type and the description of the field.
//
// Formats 1.0 (ROOT 6.34 and later) and 0.2 (ROOT 6.30 to 6.33) are read. Checksums of metadata are
// always compared, those of pages unless [Options] say otherwise.
//
// The package is a format of package table, too: importing it registers ".root".
package rntuple
