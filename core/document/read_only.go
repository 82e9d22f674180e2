package document

import "armature/core/fault"

// ErrReadOnlySite refuses what a caller wants to write on a site that is read only for now.
var ErrReadOnlySite = fault.New(fault.Unavailable, "InReadOnlyMode", "The site is read only for now: nothing is stored")

// Writable refuses every write in the name of a caller while the site is read only: of
// documents here, and of whatever goes with them elsewhere. It is ErrReadOnlySite or nil.
// What the platform writes for itself, such as sessions, does not ask.
func (s *Service) Writable() error {
	if s.readOnly != nil && s.readOnly() {
		return ErrReadOnlySite
	}
	return nil
}
