// Package datafolder is the data folder of an installation: where things are in it,
// and how they are written there so that whoever looks finds them whole or not at all.
package datafolder
