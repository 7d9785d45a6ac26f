package session

// portalSet is the portals of a session by name. The unnamed one, which most messages
// are about, is no matter of a map.
type portalSet struct {
	unnamed *portal
	named   map[string]*portal
}

// get returns the portal of a name, or nil.
func (ps *portalSet) get(name string) *portal {
	if name == "" {
		return ps.unnamed
	}
	return ps.named[name]
}

// put adds a portal; there is none of its name.
func (ps *portalSet) put(p *portal) {
	if p.name == "" {
		ps.unnamed = p
		return
	}
	if ps.named == nil {
		ps.named = make(map[string]*portal)
	}
	ps.named[p.name] = p
}

// drop removes a portal.
func (ps *portalSet) drop(p *portal) {
	if p.name == "" {
		ps.unnamed = nil
		return
	}
	delete(ps.named, p.name)
}

// all goes over the portals, which may be dropped meanwhile.
func (ps *portalSet) all(yield func(*portal) bool) {
	if ps.unnamed != nil && !yield(ps.unnamed) {
		return
	}
	if len(ps.named) == 0 {
		return
	}
	for _, p := range ps.named {
		if !yield(p) {
			return
		}
	}
}

// empty reports whether there is no portal.
func (ps *portalSet) empty() bool { return ps.unnamed == nil && len(ps.named) == 0 }
