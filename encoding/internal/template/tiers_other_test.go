//go:build !amd64 || purego

package template

func tiers() []string { return []string{"go"} }

func use(string) {}
