// Package seq walks sequences that end with an error.
package seq

import "iter"

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
