// Package blockpack reads and writes Blockpack files: spans of OpenTelemetry traces in columns, with indexes for the lookup of traces
// and for queries. docs/blockpack.md describes the format.
package blockpack
