package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// check refuses options that measure nothing or contradict each other. args are the arguments
// after the options.
func (c config) check(args []string) error {
	switch {
	case len(args) > 0:
		return fmt.Errorf("%q is no option: see -help", args[0])
	case c.rounds < 1 || c.cores < 1 || c.rows < 0:
		return errors.New("-rounds and -cores are at least 1, -rows is not negative")
	}
	var ops []string
	for _, set := range slices.Concat(c.sets, setNames("all")) {
		for _, op := range named(set).Operations() {
			if !slices.Contains(ops, op) {
				ops = append(ops, op)
			}
		}
	}
	for _, op := range strings.Split(c.ops, ",") {
		if one := (config{ops: op}); !slices.ContainsFunc(ops, one.wants) {
			return fmt.Errorf("-ops: no operation %q: there are %s", op, strings.Join(ops, ", "))
		}
	}
	var names []string
	for _, k := range contenders() {
		names = append(names, k.Name())
	}
	names = append(names, peerNames...)
	for _, part := range strings.Split(c.only, ",") {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, part) }) {
			return fmt.Errorf("-contenders: no contender %q: there are %s", part, strings.Join(names, ", "))
		}
	}
	return nil
}
