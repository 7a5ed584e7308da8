package encode

// Left is the work that trials of the last tree may still do, below zero what they did beyond that.
func (e *Workspace) Left() int64 { return e.left }
