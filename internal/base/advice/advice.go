// Package advice has errors that tell callers what to do: their mistakes, and hints in errors.
package advice

import (
	"errors"
	"fmt"
)

// Error is a mistake of the caller, such as a wrong option.
type Error struct {
	err  error
	hint string
}

func (e Error) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e Error) Unwrap() error { return e.err }

// Hint is the way to correct the mistake, or "".
func (e Error) Hint() string { return e.hint }

// Errorf returns an [Error] with a hint, which may be "".
func Errorf(hint, format string, args ...any) error {
	return Error{err: fmt.Errorf(format, args...), hint: hint}
}

// hinted adds a hint to an error that has none.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }
func (e hinted) Hint() string  { return e.hint }

// WithHint adds a hint to err, unless it has one. A nil err stays nil.
func WithHint(err error, format string, args ...any) error {
	if err == nil || Hint(err) != "" {
		return err
	}
	return hinted{err, fmt.Sprintf(format, args...)}
}

// Hint is the hint of an error, or "".
func Hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// plain replaces the text of an error.
type plain struct {
	error
	text, hint string
}

func (e plain) Error() string { return e.text }
func (e plain) Unwrap() error { return e.error }
func (e plain) Hint() string  { return e.hint }

// Plain returns an error with another text than its cause, which may be nil, and a hint, which may be "".
func Plain(cause error, text, hint string) error { return plain{cause, text, hint} }
