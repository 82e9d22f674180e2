package fault

// Ungranted is what a plugin is told that has not got a grant, be it that it does not
// ask for it or that nobody has approved it: which one, as its manifest writes it.
func Ungranted(plugin, grant string) *Error {
	return Denied("The plugin %s is not granted %s on this site: add %s to grants in its manifest, and approve it where it waits", plugin, grant, grant)
}
