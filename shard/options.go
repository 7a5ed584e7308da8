package shard

import "fmt"

// setDefault gives an option its default if it is 0, and refuses negative ones.
func setDefault[T int | int64](name string, option *T, byDefault T) error {
	if *option < 0 {
		return fmt.Errorf("%s is negative: %d", name, *option)
	}
	if *option == 0 {
		*option = byDefault
	}
	return nil
}
