//go:build !(amd64 || arm64) || purego

package fastlanes

func tiers() []string { return []string{"go"} }

func use(string) {}
