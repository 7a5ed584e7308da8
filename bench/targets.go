package main

import "github.com/amudai/amudai-go/internal/bench/measure"

// limits are the maximum figures (for shares, the minimum) on each data set: in edition
// reference, and in edition 2026. 0 is no limit.
type limits map[string][2]float64

// goal is one line of the limits.
type goal struct {
	name    string
	profile string
	op      string // for peaks the limit is in MiB
	versus  string // the contender to compare with, "" for the base
	atLeast bool
	limits  limits
}

// both is a limit that holds in both editions, only26 one of edition 2026.
func both(v float64) [2]float64   { return [2]float64{v, v} }
func only26(v float64) [2]float64 { return [2]float64{0, v} }

const (
	balanced    = "Balanced"
	high        = "HighCompression"
	minimalSize = "MinimalSize"
)

// floors are the limits of the format.
var floors = []goal{
	{name: "size, Balanced", profile: balanced, op: measure.OpSize, limits: limits{
		"flights": {1.15, 1.0}, "lineitemi": {1.1, 1.05}, "lineitem": {1.15, 1.05}, "logs": both(1.8), "wide": both(1.3)}},
	{name: "size, HighCompression", profile: high, op: measure.OpSize, limits: limits{
		"flights": {1.06, 0.92}, "lineitemi": {1.0, 0.94}, "lineitem": {1.05, 0.94}, "logs": both(1.15)}},
	{name: "size, MinimalSize", profile: minimalSize, op: measure.OpSize, limits: limits{
		"flights": {1.04, 0.86}, "lineitemi": {0.88, 0.86}, "lineitem": {0.95, 0.86}, "logs": both(0.92)}},
	{name: "write, MinimalSize", profile: minimalSize, op: measure.OpWrite, limits: limits{
		"flights": both(5), "lineitemi": both(5), "lineitem": both(5), "logs": both(5)}},
	{name: "write, Balanced", profile: balanced, op: measure.OpWrite, limits: limits{
		"flights": both(0.7), "lineitemi": both(0.7), "lineitem": both(0.8), "logs": both(0.8), "wide": both(1.0)}},
	{name: "full scan", profile: balanced, op: measure.OpScan, limits: limits{
		"flights": both(0.25), "lineitemi": both(0.3), "lineitem": {0.35, 0.3}, "logs": both(0.4)}},
	{name: "open and read one column", profile: balanced, op: measure.OpOpen, limits: limits{"wide": both(0.05)}},
	{name: "peak MiB, write", profile: balanced, op: measure.OpPeakWrite, limits: limits{"lineitem": both(192)}},
	{name: "peak MiB, scan", profile: balanced, op: measure.OpPeakScan, limits: limits{"lineitem": both(96)}},
}

// targets are the limits of the scan engine.
var targets = []goal{
	{name: "full scan", profile: balanced, op: measure.OpScan, limits: limits{
		"flights": only26(0.10), "lineitem": only26(0.13), "lineitemi": only26(0.12), "logs": only26(0.20)}},
	{name: "… into reused memory", profile: balanced, op: measure.OpReuse, limits: limits{
		"flights": only26(0.10), "lineitem": only26(0.13), "lineitemi": only26(0.12), "logs": only26(0.20)}},
	{name: "… against parquet-go's pages", profile: balanced, op: measure.OpScan, versus: "parquet-go zstd", limits: faster},
	{name: "… against Arrow IPC lz4", profile: balanced, op: measure.OpScan, versus: "arrow ipc lz4", limits: faster},
	{name: "projection", profile: balanced, op: measure.OpProject, limits: limits{
		"flights": only26(0.08), "lineitem": only26(0.05), "lineitemi": only26(0.15), "logs": only26(0.25)}},
	{name: "… into reused memory", profile: balanced, op: measure.OpProjectReuse, limits: limits{
		"flights": only26(0.08), "lineitem": only26(0.05), "lineitemi": only26(0.15), "logs": only26(0.25)}},
	{name: "take 1,000", profile: balanced, op: measure.OpTake, limits: limits{
		"flights": only26(0.02), "lineitem": only26(0.03), "lineitemi": only26(0.03), "logs": only26(0.06)}},
	{name: "write, Balanced", profile: balanced, op: measure.OpWrite, limits: limits{
		"flights": only26(0.35), "lineitem": only26(0.35), "lineitemi": only26(0.35), "logs": only26(0.50), "wide": only26(0.4)}},
	{name: "size, Balanced", profile: balanced, op: measure.OpSize, limits: limits{
		"flights": only26(0.95), "lineitem": only26(1.0), "lineitemi": only26(1.0), "logs": only26(1.7), "wide": only26(1.1)}},
	{name: "size, HighCompression", profile: high, op: measure.OpSize, limits: limits{
		"flights": only26(0.88), "lineitem": only26(0.92), "lineitemi": only26(0.92), "logs": only26(1.05)}},
	{name: "… its scan", profile: high, op: measure.OpScan, limits: limits{
		"flights": only26(0.55), "lineitem": only26(0.55), "lineitemi": only26(0.55), "logs": only26(0.55)}},
	{name: "… its write", profile: high, op: measure.OpWrite, limits: limits{
		"flights": only26(0.8), "lineitem": only26(0.8), "lineitemi": only26(0.8), "logs": only26(0.8)}},
	{name: "size, MinimalSize", profile: minimalSize, op: measure.OpSize, limits: limits{
		"flights": only26(0.84), "lineitem": only26(0.85), "lineitemi": only26(0.85), "logs": only26(0.88)}},
	{name: "filter: an order", profile: balanced, op: measure.OpFilter + "orderkey", limits: limits{"lineitem": only26(0.08)}},
	{name: "filter: a month and quantity", profile: balanced, op: measure.OpFilter + "month", versus: lateName, limits: limits{"lineitem": only26(0.03)}},
	{name: "filter: origin", profile: balanced, op: measure.OpFilter + "SFO", limits: limits{"flights": only26(0.04)}},
	{name: "filter: delay", profile: balanced, op: measure.OpFilter + "delay", limits: limits{"flights": only26(0.04)}},
	{name: "filter: the needle", profile: balanced, op: measure.OpFilter + "needle", limits: limits{"logs": only26(0.25)}},
	{name: "open and read one column", profile: balanced, op: measure.OpOpen, limits: limits{"wide10k": only26(0.03), "wide": only26(0.015)}},
	{name: "scan, two threads' share", profile: balanced, op: measure.OpScanShare, atLeast: true, limits: limits{
		"flights": only26(0.9), "lineitem": only26(0.9), "lineitemi": only26(0.9), "logs": only26(0.9)}},
	{name: "write, two threads' share", profile: balanced, op: measure.OpWriteShare, atLeast: true, limits: limits{
		"flights": only26(0.9), "lineitem": only26(0.9), "lineitemi": only26(0.9), "logs": only26(0.9)}},
	{name: "peak MiB, write", profile: balanced, op: measure.OpPeakWrite, limits: limits{
		"lineitem": only26(128), "flights100m": only26(256)}},
	{name: "peak MiB, scan", profile: balanced, op: measure.OpPeakScan, limits: limits{
		"lineitem": only26(64), "flights100m": only26(64)}},
}

// faster is the goal to take less time than another contender.
var faster = limits{"flights": only26(1), "lineitem": only26(1), "lineitemi": only26(1), "logs": only26(1)}
