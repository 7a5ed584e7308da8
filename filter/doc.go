// Package filter holds conditions on the rows of Arrow data. A condition is an expression that is
// built in Go or parsed from text by [Parse]. Scans of shards and of other tables accept
// expressions, and [Bind] evaluates one on any record batch.
//
// # Text
//
//	origin = 'SFO' and delay > 300 and date >= '2001-01-05'
//
//	condition  = and { "or" and } .
//	and        = not { ("and" | "&&") not } .
//	not        = ("not" | "!") not | "(" condition ")" | predicate | function .
//	predicate  = operand [ compare operand
//	                     | ["not"] "in" "(" [ operand { "," operand } ] ")"
//	                     | ["not"] "between" operand "and" operand
//	                     | ["not"] text operand
//	                     | ["not"] ("has_any" | "has_all") "(" operand { "," operand } ")"
//	                     | "is" ["not"] ("null" | "nan") ] .
//	compare    = "=" | "==" | "<>" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "~*" | "!~" | "!~*" .
//	text       = ["i"] ("equals" | "starts with" | "ends with" | "contains" | "like" | "matches")
//	           | "has" | "has_prefix" | "has_phrase" | "has_fuzzy" .
//	function   = ["i"] ("equals" | "starts_with" | "ends_with" | "contains" | "like" | "matches") "(" operand "," operand ")"
//	           | ("has" | "has_prefix" | "has_phrase" | "has_fuzzy" | "has_any" | "has_all") "(" operand "," operand { "," operand } ")"
//	           | ("is_null" | "is_nan") "(" operand ")" .
//	operand    = product { ("+" | "-") product } .
//	product    = signed { ("*" | "/" | "//" | "%") signed } .
//	signed     = { "-" | "+" } value { "::" type | "[" operand "]" | "." name } .
//	value      = column | literal | "(" condition ")" | name "(" [ condition { "," condition } ] ")"
//	           | "cast" "(" condition "as" type ")" | case .
//	case       = "case" "when" condition "then" condition { "when" condition "then" condition } [ "else" condition ] "end" .
//	column     = name { "." name } .
//	name       = letter { letter | digit | "_" | `\.` | `\\` } | '"' { any } '"' | "`" { any } "`" .
//	literal    = "null" | "true" | "false" | [sign] number | string | bytes .
//	number     = digits ["." digits] ["e" [sign] digits] | "0x" hexdigits | "0b" bits .
//	string     = "'" { any } "'" | "e'" { any | escape } "'" .
//	bytes      = "x'" { hexdigit hexdigit } "'" .
//
// Keywords are case-insensitive. A quote inside a quoted text is doubled. The escapes \n \t \r \b \f
// \0 \\ \' \" \xHH \uHHHH \UHHHHHHHH have a meaning in e'…' only. The operator ~ is matches, ~* is
// imatches, and !~ and !~* are their negations. The name of a type before a string, as in
// date '2001-01-05', has no effect. A dot separates a struct from the name of its field; a dot
// inside a name needs a backslash or quotes. The names and, or, not, in, is, between, like, ilike,
// null, true and false are reserved and need quotes. A name before a parenthesis is a function; the same
// name alone is a column.
//
// # Expressions
//
// Operands may be computed: year(date) = 2013, price * 2 > cost, any(tags = 'x'). The functions, their types
// and their nulls are listed in docs/filters.md. A result that its type does not hold is an error of the
// evaluation, which names the values; it never wraps. Division by zero is null. Integers are computed as
// int64, or uint64 where both operands are; decimals exactly, with up to 38 digits; floats as float64.
//
// # Truth
//
// A condition is true, false or unknown for a row, as in SQL. Every comparison with null is
// unknown, including x = null and x <> null. The result of "is null" is never unknown. The negation
// of unknown is unknown. "a and b" is false if either is false, and otherwise unknown if either is
// unknown. "a or b" is true if either is true, and otherwise unknown if either is unknown.
// "x in (a, b)" is "x = a or x = b", and "x between a and b" is "x >= a and x <= b". The result of a
// scan is the rows for which the condition is true.
//
// # Values
//
// A literal is compared with the values of a column exactly. It is not rounded, even if it lies
// between two values of the column's type or outside of its range. For a column of int8, x < 1.5
// means x <= 1, x = 1.5 is true for no row, and x < 1000 is true for every row that is not null.
//
//   - Integers and decimals: numbers. Decimals compare by value, regardless of scale.
//   - Floats: a number with a point or an exponent stands for the nearest float of the column's
//     width, so that x = 0.1 finds the float nearest to 0.1. A whole number is exact. The literals
//     of infinities and NaN are the strings 'inf', '-inf' and 'nan'.
//   - NaN follows IEEE 754: it is not equal to, less than or greater than any value, itself
//     included, and x <> y is true if either is NaN. "x is nan" finds it. -0.0 equals 0.0.
//   - Booleans: true and false. A column of booleans is a condition by itself.
//   - Strings and byte strings: strings or x'…', in byte order.
//   - Dates and timestamps: '2001-12-31', '2001-12-31 23:59:59.5' or the same with a T, optionally
//     followed by 'Z' or an offset such as '+01:00'. Without these the time is in the time zone of
//     the column, or in UTC if the column has none.
//   - Times of day: '23:59:59.5'.
//   - Durations: '1d2h3m4.5s' or '01:02:03'. Units are d, h, m, s, ms, us and ns. A negative one
//     begins with '-'.
//   - UUIDs: '00112233-4455-6677-8899-aabbccddeeff'.
//   - Dictionaries, run-end encoded columns and other extension types: the literals of their value
//     or storage type.
//   - Lists and maps: any(…), all(…), contains(list, value), len(list) and elements such as list[1] and
//     map['key']. Structs, intervals and null columns: only "is null".
//   - JSON texts (arrow.json): a path goes on within them, as in payload.user.id = 42. The kind of the literal
//     decides: values of another kind are null.
//
// Two columns or expressions can be compared if both are numbers, strings, byte strings, booleans, times of day,
// durations, or dates and timestamps of which both have a time zone or none. Integers are compared with floats
// exactly, decimals as floats.
//
// "starts with", "ends with" and "contains" compare bytes. In a pattern of like, % matches any text,
// _ matches one UTF-8 character or one invalid byte, and a backslash makes the next character
// literal. Regular expressions have the syntax of package regexp, and match anywhere in the text
// unless they contain ^ or $. "has" looks for a text that begins and ends where words do, runs of letters and digits: it finds
// 'disk full' in "(Disk full)" but not in "disk fuller", which has_prefix finds. has_phrase finds the words of a text one
// behind the other, whatever stands between them; has_any and has_all ask for any or all of several texts. has_fuzzy finds words like one: with
// 'fialed~' those that differ from it in one edit, with 'fialed~2' in up to two (see [HasFuzzy]). These ignore case
// by its simple mapping to upper case. The operators that begin with i ignore case by Unicode's simple case
// folding, without the rules of any language: ß differs from ss.
package filter
