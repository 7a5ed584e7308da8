// Package option fills in the defaults of options.
package option

import "fmt"

// SetDefault sets an option that is 0 to its default. It refuses negative values; name is for the error.
func SetDefault[T ~int | ~int64](name string, option *T, byDefault T) error {
	if *option < 0 {
		return fmt.Errorf("%s is negative: %d", name, *option)
	}
	if *option == 0 {
		*option = byDefault
	}
	return nil
}
