// Package usage has the errors about a command line, hints in errors, and flags with a fixed set of values.
package usage

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// OneOf returns the value of a flag that is the name of one of some values.
func OneOf[T any](flag, name string, names []string, values ...T) (T, error) {
	i := slices.Index(names, name)
	if i < 0 {
		var none T
		return none, Errorf("", "%s %q: use %s", flag, name, strings.Join(names, ", "))
	}
	return values[i], nil
}

// Parsed adds a flag whose text is parsed to a value where it is given. Errors of parse get the name of the flag, unless they are of type [Error]. An empty
// default stands for the zero value.
func Parsed[T any](cmd *cobra.Command, to *T, flag, byDefault, help string, parse func(text string) (T, error)) {
	if byDefault != "" {
		*to, _ = parse(byDefault) // as it would be given
	}
	cmd.Flags().Var(&parsed[T]{to, flag, byDefault, byDefault, parse}, flag, help)
}

// parsed is the value of a flag. It implements [pflag.Value].
type parsed[T any] struct {
	to                    *T
	flag, text, byDefault string
	parse                 func(string) (T, error)
}

func (p *parsed[T]) String() string { return p.text }
func (p *parsed[T]) Type() string   { return "string" }

// Set parses a text.
func (p *parsed[T]) Set(text string) (err error) {
	if p.text = text; text == p.byDefault && text == "" {
		var none T
		*p.to = none
		return nil
	}
	*p.to, err = p.parse(text)
	if _, told := err.(Error); err != nil && !told {
		err = Errorf("", "--%s: %w", p.flag, err)
	}
	return err
}

// Choice adds a flag that is one of some names, each for a value.
func Choice[T any](cmd *cobra.Command, to *T, flag, byDefault, help string, names []string, values ...T) {
	Parsed(cmd, to, flag, byDefault, help, func(text string) (T, error) { return OneOf("--"+flag, text, names, values...) })
	Complete(cmd, flag, names...)
}

// Complete notes the values of a flag for shell completion.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.Flags().SetAnnotation(flag, completion, values) // it fails only for an unknown flag
}

// completion is the annotation of a flag that has its values. Cobra keeps registered completions, with their flags and commands, as long as
// the process lives, in which a session runs many commands.
const completion = "completion"

// RegisterCompletions registers the values that Complete has noted for flags of a command.
func RegisterCompletions(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if values := f.Annotations[completion]; values != nil {
			// It fails only for an unknown flag, or if it is called twice for a flag.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	})
}
