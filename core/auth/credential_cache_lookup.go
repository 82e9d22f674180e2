package auth

import "context"

// Remember returns what lookUp found under key since credentials last changed,
// and asks it if there is nothing yet: for tokens and whatever else counts as long
// as the site's epoch stays the same. An error is not kept, so that guessing fills
// no memory. Errors: those of lookUp; Unavailable when the epoch cannot be read.
func (s *Service) Remember(ctx context.Context, key string, lookUp func(ctx context.Context) (any, error)) (any, error) {
	g, err := s.known.generation(ctx)
	if err != nil {
		return nil, err
	}
	if v := g.other(key); v != nil {
		return v, nil
	}
	v, err := lookUp(ctx)
	if err != nil {
		return nil, err
	}
	g.putOther(key, v)
	return v, nil
}

func (g *generation) other(key string) any {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.others[key]
}

func (g *generation) putOther(key string, v any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.others == nil || len(g.others) >= maxKnown {
		g.others = map[string]any{}
	}
	g.others[key] = v
}
