package connectedapp

// Twin is the service of the same site in another process: it shares nothing
// with s but the database.
func Twin(s *Service) *Service {
	return New(Config{
		Store: s.store, Catalog: s.catalog, Documents: s.documents, Secret: s.secret, Egress: s.egress,
		Now: s.now, Base: s.base, Setting: s.setting, Logger: s.log,
	})
}
