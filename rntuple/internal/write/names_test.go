package write

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTemplate(t *testing.T) {
	for name, want := range map[string][]string{
		"float":                                  {"float"},
		"std::vector<float>":                     {"std::vector", "float"},
		"std::map<std::pair<int,A<B> >, C<D,E>>": {"std::map", "std::pair<int,A<B> >", "C<D,E>"},
		"std::optional<>":                        {"std::optional", ""},
		"F<int(*)(int,int),2>":                   {"F", "int(*)(int,int)", "2"},
		"std::vector<float>::value_type":         {"std::vector<float>::value_type"},
		">":                                      {">"},
		"<":                                      {"<"},
		"<>":                                     {"", ""},
		"ElementLink<DataVector<xAOD::Jet_v1> >": {"ElementLink", "DataVector<xAOD::Jet_v1>"},
		"std::array<std::vector<std::uint8_t>,100>": {"std::array", "std::vector<std::uint8_t>", "100"},
	} {
		head, args := template(name)
		require.Equal(t, want, append([]string{head}, args...), name)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"a", "_0", ":_0", "EventInfoAux:", "größe", "a-b"} {
		require.NoError(t, checkName(name), name)
	}
	for _, name := range []string{"", "a.b", "a b", "a/b", `a\b`, "a\n", "\xff"} {
		require.Error(t, checkName(name), name)
	}
}
