package complete

import _ "embed"

// Bash is the script for bash. That of Cobra proposes nothing within quotes, where conditions are, and needs functions of another package.
//
//go:embed amudai.bash
var Bash string
