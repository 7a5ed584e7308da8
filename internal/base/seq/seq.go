// Package seq has what is done with all values of a sequence or a list that may have an error each.
package seq

import (
	"errors"
	"iter"
)

// Each calls f with the values of a sequence, up to an error of either.
func Each[T any](all iter.Seq2[T, error], f func(T) error) error {
	for v, err := range all {
		if err == nil {
			err = f(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CloseAll closes several, such as builders, which may be nil.
func CloseAll[C interface {
	comparable
	Close() error
}](all []C) error {
	var err error
	var none C
	for _, c := range all {
		if c != none {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}
