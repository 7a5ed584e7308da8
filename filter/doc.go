// Package filter holds conditions on the rows of Arrow data: expressions that are
// made in Go or parsed from text ([Parse]). Scans and takes of shards and of other
// tables accept them; [Bind] evaluates one on record batches of your own.
//
// # Text
//
//	origin = 'SFO' and delay > 300 and date >= '2001-01-05'
//
//	condition  = and { ("or" | "||") and } .
//	and        = not { ("and" | "&&") not } .
//	not        = ("not" | "!") not | "(" condition ")" | predicate | function .
//	predicate  = operand [ compare operand
//	                     | ["not"] "in" "(" [ operand { "," operand } ] ")"
//	                     | ["not"] "between" operand "and" operand
//	                     | ["not"] text operand
//	                     | "is" ["not"] ("null" | "nan") ] .
//	compare    = "=" | "==" | "<>" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "~*" | "!~" | "!~*" .
//	text       = ["i"] ("equals" | "starts with" | "ends with" | "contains" | "like" | "matches") .
//	function   = ["i"] ("equals" | "starts_with" | "ends_with" | "contains" | "like" | "matches") "(" operand "," operand ")"
//	           | ("is_null" | "is_nan") "(" operand ")" .
//	operand    = column | literal .
//	column     = name { "." name } .
//	name       = letter { letter | digit | "_" | `\.` | `\\` } | '"' { any } '"' | "`" { any } "`" .
//	literal    = "null" | "true" | "false" | [sign] number | string | bytes .
//	number     = digits ["." digits] ["e" [sign] digits] | "0x" hexdigits | "0b" bits .
//	string     = "'" { any } "'" | "e'" { any | escape } "'" .
//	bytes      = "x'" { hexdigit hexdigit } "'" .
//
// Words are read in any case. A quote that belongs to what is quoted stands
// twice. Escapes, in e'…' only, are \n \t \r \b \f \0 \\ \' \" \xHH \uHHHH
// \UHHHHHHHH. ~ is matches, ~* imatches, !~ their negation. A type may stand
// before a string, date '2001-01-05', and changes nothing. A name of a field of a
// struct follows a dot; a dot in a name needs a backslash or quotes. Reserved,
// and so in need of quotes as names, are and, or, not, in, is, between, like,
// ilike, null, true and false.
//
// # Truth
//
// A condition is true, false or unknown for a row, as in SQL: comparing with null
// is unknown, also x = null and x <> null; "is null" never is. Not leaves unknown
// as it is; and is false where a part is, else unknown where a part is; or
// likewise with true. "x in (…)" is "x = … or x = …", "x between a and b" is
// "x >= a and x <= b". Rows are chosen where the condition is true.
//
// # Values
//
// A literal takes the type of the column that it is compared with, exactly: one
// between two values of the type is not rounded but compares as it is, and so
// does one that the type cannot hold. For a column of int8, x < 1.5 is x <= 1,
// x = 1.5 is true for none, and x < 1000 for all but null.
//
//   - Integers, decimals: numbers. Decimals compare by value, whatever the scale.
//   - Floats: a number with a point or an exponent is the float of the column's
//     width nearest to it, as decimal fractions are hardly ever floats: x = 0.1
//     finds what 0.1 was stored as. A whole number without them stays as it is.
//     'inf', '-inf' and 'nan' are strings.
//   - NaN compares as IEEE 754 has it: it equals nothing, itself included, is
//     neither less nor greater, and differs (<>) from everything. "x is nan" finds
//     it. -0.0 equals 0.0.
//   - Booleans: true and false; a column of them is a condition by itself.
//   - Strings and byte strings: strings or x'…', in the order of their bytes.
//   - Dates and timestamps: '2001-12-31', '2001-12-31 23:59:59.5' (or with a T),
//     with 'Z' or '+01:00' behind it. Without that the time is in the zone of the
//     column, and in UTC if it has none.
//   - Times of day: '23:59:59.5'. Durations: '1d2h3m4.5s' or '01:02:03', with
//     ms, us and ns too, '-' before it if negative.
//   - UUIDs: '00112233-4455-6677-8899-aabbccddeeff'.
//   - Dictionaries, runs and other extension types: as what they hold. Lists,
//     maps, structs, intervals and null columns are only asked whether they are
//     null.
//
// Two columns are compared if they are of the same type.
//
// "starts with", "ends with" and "contains" compare bytes. In a pattern of like,
// % stands for anything, _ for one character of UTF-8, or one byte that is none;
// a backslash takes the meaning from what follows. Regular expressions are those
// of package regexp, and match anywhere unless they say ^ or $. The forms with an
// i before them ignore case, by Unicode's simple case folding: no language's own
// rules, and ß differs from ss.
package filter
