package table

// OptionError is the error of an option with a bad value.
type OptionError struct {
	Option string // its name in the options, "" if several are meant
	Value  string // may be ""
	Err    error
	Advice string // how to correct it, or ""
}

// Error names the option and its value.
func (e *OptionError) Error() string {
	text := e.Option
	if e.Value != "" {
		text += " " + e.Value
	}
	if text == "" {
		return e.Err.Error()
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *OptionError) Unwrap() error { return e.Err }

// Hint is the way to correct the option, or "".
func (e *OptionError) Hint() string { return e.Advice }
