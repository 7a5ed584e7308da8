package inverted

import "context"

var ctx = context.Background()
