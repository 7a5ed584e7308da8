// Package read reads the spans of a Blockpack file into Arrow arrays, block by block.
package read
