//go:build !amd64 || purego

package column

func tiers() []string { return []string{"go"} }

func use(string) {}
