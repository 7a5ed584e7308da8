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
