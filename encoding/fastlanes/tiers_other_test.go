//go:build !amd64 || purego

package fastlanes

func tiers() []string { return []string{"go"} }

func use(string) {}
