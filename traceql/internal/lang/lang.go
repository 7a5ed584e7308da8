// Package lang has TraceQL as text and as trees: it is parsed, checked and printed here.
package lang
