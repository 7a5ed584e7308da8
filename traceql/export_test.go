package traceql

// FewTraces is the number of traces from which on summaries are used.
var FewTraces = &fewTraces
