package shard

import (
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/shardfile"
)

// Edition names the set of features that a shard may use. Its String is what options of
// the command and properties of shards say.
type Edition = edition.Edition

// The editions.
const (
	EditionReference = edition.Reference // what the reference implementation reads, with the same meaning; the default
	Edition2026      = edition.E2026     // all of docs/format.md
)

// ParseEdition reads the name of an edition: "reference" or "2026".
func ParseEdition(name string) (Edition, error) { return edition.Parse(name) }

// TimeEncoding says how timestamps, dates and durations are stored.
type TimeEncoding = arrowmap.TimeEncoding

// The encodings of times.
const (
	TimesAuto       = arrowmap.TimesAuto       // integers for nanoseconds, ticks for all others
	TimesAsTicks    = arrowmap.TimesAsTicks    // multiples of 100 ns, which other readers know as times; other values are refused
	TimesAsIntegers = arrowmap.TimesAsIntegers // Arrow's integers: every value fits, and other readers see numbers
)

// TypeOptions choose the Arrow types of columns whose Arrow type is not recorded, as in
// shards of the reference. The zero value suits most programs; docs/arrow-types.md has
// the table.
type TypeOptions = arrowmap.ReadOptions

// DecimalType is the Arrow type of decimals. A value that does not fit is an error with its row.
type DecimalType = arrowmap.DecimalType

// The Arrow types of decimals.
const (
	DecimalsAs128  = arrowmap.DecimalsAs128  // decimal128; the default
	DecimalsAs256  = arrowmap.DecimalsAs256  // decimal256
	DecimalsAsText = arrowmap.DecimalsAsText // large_utf8: every value fits
	DecimalsRaw    = arrowmap.DecimalsRaw    // the 16 bytes that are stored, with the extension name KustoDecimal
)

// TickType is the Arrow type of columns that count 100 ns.
type TickType = arrowmap.TickType

// The Arrow types of ticks.
const (
	TicksAuto    = arrowmap.TicksAuto    // nanoseconds, or microseconds if the statistics say that these do not reach; the default
	TicksAsNanos = arrowmap.TicksAsNanos // timestamp[ns] or duration[ns]
	TicksAsMicro = arrowmap.TicksAsMicro // timestamp[us] or duration[us]
	TicksRaw     = arrowmap.TicksRaw     // integers with the extension name KustoDateTime or KustoTimeSpan
)

// DynamicType is the Arrow type of dynamic (JSON) values.
type DynamicType = arrowmap.DynamicType

// The Arrow types of dynamic values.
const (
	DynamicsAsJSON = arrowmap.DynamicsAsJSON // extension arrow.json; the default
	DynamicsAsText = arrowmap.DynamicsAsText // large_utf8
	DynamicsRaw    = arrowmap.DynamicsRaw    // large_binary with the extension name KustoDynamic
)

// Policy says which references outside the folder of its root a shard may make. The zero
// value allows none: a shard of somebody else must not make its reader open other files
// or hosts.
type Policy = container.Policy

// ByteRange is a range of bytes of an artifact, from Start up to (not including) End.
type ByteRange = shardfile.Range
