// Package folders is the registry of one machine: a folder for each site.
package folders
