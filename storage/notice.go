package storage

import "context"

type noticeKey struct{}

// WithNotice returns a context whose calls tell notice what makes them wait, such as a server that is overloaded. It may be called by several goroutines at
// the same time.
func WithNotice(ctx context.Context, notice func(text string)) context.Context {
	return context.WithValue(ctx, noticeKey{}, notice)
}

// Notify tells whoever has made ctx by [WithNotice] what a call waits for. It is for stores.
func Notify(ctx context.Context, text string) {
	if notice, ok := ctx.Value(noticeKey{}).(func(string)); ok {
		notice(text)
	}
}

type hedgeKey struct{}

// WithHedging returns a context in which a read of a store that is late, beside those before it, is sent a second time: at most one in 32 is, and the
// answer that comes first counts. Without it each read is sent once, and again only after a failure.
func WithHedging(ctx context.Context) context.Context {
	return context.WithValue(ctx, hedgeKey{}, true)
}

// Hedges reports whether ctx was made by [WithHedging]. It is for stores.
func Hedges(ctx context.Context) bool { return ctx.Value(hedgeKey{}) != nil }
