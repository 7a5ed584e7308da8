package shard

import (
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// Edition names the set of features that a shard may use (docs/format.md §13). Its String is the
// name in options of the command and in properties of shards.
type Edition = edition.Edition

// The editions.
const (
	Edition2026      = edition.E2026     // all of docs/format.md; the default
	EditionReference = edition.Reference // the features that the reference implementation in Rust reads, too
)

// TimeEncoding is the stored form of timestamps, dates and durations (docs/arrow-types.md).
type TimeEncoding = arrowmap.TimeEncoding

// The encodings of times.
const (
	TimesAuto       = arrowmap.TimesAuto       // integers for nanoseconds, ticks for all others; the default
	TimesAsTicks    = arrowmap.TimesAsTicks    // multiples of 100 ns, which all readers show as times; other values are errors
	TimesAsIntegers = arrowmap.TimesAsIntegers // Arrow's integers, which hold every value; readers of other authors show numbers
)

// TypeOptions choose the Arrow types of columns without a recorded Arrow type, such as those of
// shards that the reference implementation wrote. The zero value suits most programs;
// docs/arrow-types.md has the table.
//
//	type TypeOptions struct {
//		IgnoreAnnotations bool        // ignore recorded Arrow types, too
//		Decimals          DecimalType // type of decimals
//		DecimalPrecision  int32       // of decimal128 (0: 38) and decimal256 (0: 76)
//		DecimalScale      int32       // used if DecimalPrecision is not 0
//		DateTimes         TickType    // type of points in time
//		TimeSpans         TickType    // type of durations
//		Dynamics          DynamicType // type of dynamic values
//		Range             func(id uint32) (TickRange, bool) // bounds of a schema node; nil: the statistics of the shard
//	}
type TypeOptions = arrowmap.ReadOptions

// DecimalType is an Arrow type for decimals. A value that does not fit is an error with its row.
type DecimalType = arrowmap.DecimalType

// The Arrow types of decimals.
const (
	DecimalsAs128  = arrowmap.DecimalsAs128  // decimal128; the default
	DecimalsAs256  = arrowmap.DecimalsAs256  // decimal256
	DecimalsAsText = arrowmap.DecimalsAsText // large_utf8: every value fits
	DecimalsRaw    = arrowmap.DecimalsRaw    // the 16 bytes that are stored, with the extension name KustoDecimal
)

// TickType is an Arrow type for columns that count steps of 100 ns.
type TickType = arrowmap.TickType

// The Arrow types of ticks.
const (
	TicksAuto    = arrowmap.TicksAuto    // nanoseconds if the statistics fit or are missing, else microseconds; the default
	TicksAsNanos = arrowmap.TicksAsNanos // timestamp[ns] or duration[ns]
	TicksAsMicro = arrowmap.TicksAsMicro // timestamp[us] or duration[us]
	TicksRaw     = arrowmap.TicksRaw     // integers with the extension name KustoDateTime or KustoTimeSpan
)

// DynamicType is an Arrow type for dynamic (JSON) values.
type DynamicType = arrowmap.DynamicType

// The Arrow types of dynamic values.
const (
	DynamicsAsJSON = arrowmap.DynamicsAsJSON // extension arrow.json; the default
	DynamicsAsText = arrowmap.DynamicsAsText // large_utf8
	DynamicsRaw    = arrowmap.DynamicsRaw    // large_binary with the extension name KustoDynamic
)

// Policy decides about references of a shard to files outside the folder of its root file. The zero
// value refuses them all, so that an untrusted shard cannot make its reader open other files or
// hosts (docs/format.md §2.5).
//
//	type Policy struct {
//		Allow func(absolute string) error // asked about each absolute URL; an error refuses it
//	}
type Policy = container.Policy

// ByteRange is the range of bytes of a file from Start up to, but not including, End.
//
//	type ByteRange struct{ Start, End int64 }
type ByteRange = shardfile.Range
