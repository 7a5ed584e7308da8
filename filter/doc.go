// Package filter holds conditions on the rows of Arrow data: expressions made in
// Go or from text, checked against a schema, evaluated on arrays, and held
// against statistics to know without looking which rows they can be true for.
package filter
