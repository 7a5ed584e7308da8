// Package shardtable makes a shard a table that package scan can read: its schema becomes
// columns of Arrow types, its descriptors what sources know, and package stripe reads the
// columns.
package shardtable
