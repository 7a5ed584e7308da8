//go:build tools

// Package tools pins, beside the tools named in go.mod, the libraries that code generators in this module use.
package tools

import _ "github.com/mmcloughlin/avo/build"
