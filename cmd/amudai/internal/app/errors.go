package app

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
	"github.com/amudai/amudai-go/table"
)

// ErrProblems is the error of a check that has already printed its findings.
var ErrProblems = Printed{ExitFailure, "problems found"}

// ErrUnchecked is the error of a check that found no problem, but did not see everything, and has printed what it missed.
var ErrUnchecked = Printed{ExitUnchecked, "not fully checked"}

// Printed is an error that needs no further message: only the exit code is left to be told.
type Printed struct {
	Code int
	Text string
}

func (e Printed) Error() string { return e.Text }

// Report prints an error and returns the exit code.
func (a *App) Report(ctx context.Context, err error) int {
	var ue usage.Error
	var printed Printed
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &printed):
		return printed.Code
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		a.Errs.Printf("amudai: interrupted\n")
		return ExitInterrupted
	case IsBrokenPipe(err): // the reader of stdout has seen enough
		return ExitOK
	}
	a.PrintError(err)
	switch {
	case errors.As(err, &ue):
		return ExitUsage
	case errors.Is(err, storage.ErrChanged):
		return ExitChanged
	}
	return ExitFailure
}

// PrintError prints an error.
func (a *App) PrintError(err error) {
	a.Errs.Printf("%s %s\n", a.Errs.Paint(terminal.Red, "amudai:"), errorLine(err))
}

// errorLine is an error as one line, with its hint.
func errorLine(err error) string {
	message := err.Error()
	if hint := hintFor(err); hint != "" {
		message += " (hint: " + hint + ")"
	}
	return terminal.OneLine(message)
}

// hintFor is the hint of an error, or one that its cause suggests, or "".
func hintFor(err error) string {
	var misfit *stripe.MisfitError
	switch hint := advice.Hint(err); {
	case hint != "":
		return hint
	case errors.As(err, &misfit) && misfit.Decimal:
		return "--decimals text can read all decimals"
	case misfit != nil:
		return "--ticks raw can read all times"
	case errors.Is(err, schema.ErrNoField):
		return "amudai schema lists the columns"
	}
	return damageHint(err)
}

// damageHint tells what to do about damaged bytes of a file that can be verified.
func damageHint(err error) string {
	var e *fault.Error
	if !errors.Is(err, fault.ErrChecksum) && !errors.Is(err, fault.ErrCorrupt) || !errors.As(err, &e) || e.Place() == "" {
		return ""
	}
	f, known := formats.All().ByPath(e.Artifact)
	switch {
	case known && f.Verify == nil:
		return ""
	case known && !f.Recovers:
		return "amudai verify lists the damage"
	}
	return "amudai verify lists the damage, amudai recover saves the undamaged stripes"
}

// Warn prints an error that does not end the command, nor changes what it prints.
func (a *App) Warn(err error) {
	a.Errs.Printf("%s %s\n", a.Errs.Paint(terminal.Red, "amudai: warning:"), errorLine(err))
}

// IsBrokenPipe reports whether the reader of stdout has seen enough.
func IsBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// Flagged gives an error about an option of package table the name of its flag.
func Flagged(err error) error {
	var option *table.OptionError
	if !errors.As(err, &option) {
		return err
	}
	o := *option
	switch o.Option {
	case "":
	case "Aggregates": // an argument
		o.Option, o.Value = o.Value, ""
	default:
		o.Option = "--" + strings.ToLower(o.Option)
	}
	return usage.Errorf(o.Advice, "%w", &o)
}
