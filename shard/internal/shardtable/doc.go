// Package shardtable implements the interfaces of package table for a shard. The schema becomes columns of Arrow types, and
// descriptors become facts for sources. Package stripe/read reads the columns.
package shardtable
