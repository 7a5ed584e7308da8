package term

import "context"

var tctx = context.Background()
