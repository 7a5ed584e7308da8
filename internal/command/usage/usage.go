// Package usage has the errors about a command line, hints in errors, and flags with a fixed set of values.
package usage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Error is a mistake in the command line.
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

// OneOf returns the value of a flag that is the name of one of some values.
func OneOf[T any](flag, name string, names []string, values ...T) (T, error) {
	i := slices.Index(names, name)
	if i < 0 {
		var none T
		return none, Errorf("", "%s %q: use %s", flag, name, strings.Join(names, ", "))
	}
	return values[i], nil
}

// Complete registers the values of a flag for shell completion.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	// It fails only for an unknown flag, or if it is called twice for a flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
