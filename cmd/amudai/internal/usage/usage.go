// Package usage has the errors about a command line, hints in errors, and flags with a fixed set of values.
package usage

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/base/advice"
)

// Error is a mistake in the command line.
type Error = advice.Error

// Errorf returns an [Error] with a hint, which may be "".
func Errorf(hint, format string, args ...any) error { return advice.Errorf(hint, format, args...) }

// WithHint adds a hint to err, unless it has one. A nil err stays nil.
func WithHint(err error, format string, args ...any) error {
	return advice.WithHint(err, format, args...)
}

// Hint is the hint of an error, or "".
func Hint(err error) string { return advice.Hint(err) }

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
