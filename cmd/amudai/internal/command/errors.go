package command

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/stripe"
)

// errProblems is the error of a check that has already printed its findings.
var errProblems = printedError{ExitFailure, "problems found"}

// errUnchecked is the error of a check that found no problem, but did not see everything, and has printed what it missed.
var errUnchecked = printedError{ExitUnchecked, "not fully checked"}

// printedError is an error that needs no further message: only the exit code is left to be told.
type printedError struct {
	code int
	text string
}

func (e printedError) Error() string { return e.text }

// report prints an error and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	var ue usage.Error
	var printed printedError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &printed):
		return printed.code
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		a.errs.Printf("amudai: interrupted\n")
		return ExitInterrupted
	case isBrokenPipe(err): // the reader of stdout has seen enough
		return ExitOK
	}
	a.printError(err)
	if errors.As(err, &ue) {
		return ExitUsage
	}
	return ExitFailure
}

// printError prints an error.
func (a *app) printError(err error) {
	a.errs.Printf("%s %s\n", a.errs.Paint(terminal.Red, "amudai:"), errorLine(err))
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
	switch hint := usage.Hint(err); {
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
	case known && f.Name != formats.Shard:
		return "amudai verify lists the damage"
	}
	return "amudai verify lists the damage, amudai recover saves the undamaged stripes"
}

// warn prints an error that does not end the command, nor changes what it prints.
func (a *app) warn(err error) {
	a.errs.Printf("%s %s\n", a.errs.Paint(terminal.Red, "amudai: warning:"), errorLine(err))
}

// notice prints a message that is not an error.
func (a *app) notice(text string) {
	if _, said := a.said.LoadOrStore(text, true); said { // by the first run of a command that runs again, for one
		return
	}
	a.errs.Printf("%s\n", a.errs.Paint(terminal.Dim, "note: "+text))
}

func (a *app) noticef(format string, args ...any) { a.notice(fmt.Sprintf(format, args...)) }

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
