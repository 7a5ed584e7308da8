// Command typecheck checks the types of Go packages and of their tests for another system, without compiling them:
//
//	typecheck GOOS/GOARCH PATTERN...
//
// The bodies of functions outside of the named packages are not looked at.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	goos, arch, _ := strings.Cut(os.Args[1], "/")
	list, err := packages.Load(&packages.Config{
		Mode:  packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0"),
		Tests: true,
	}, os.Args[2:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if packages.PrintErrors(list) > 0 {
		os.Exit(1)
	}
	fmt.Printf("%s: %d packages\n", os.Args[1], len(list))
}
