package session

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
)

// functionConfig is the parameters that a function's SET options give values for the
// time of a call.
type functionConfig struct {
	s     *Session
	f     *catalog.Function
	old   []settingChange // what the transaction's layer had
	dirty int             // how many reported settings had changed
	outer uint64          // the epoch outside, and that of the call
	inner uint64
}

// configured gives the parameters of a function their values until leave is called,
// and but for the time in which rows are given out.
func (s *Session) configured(f *catalog.Function, yield func(*vec.Batch) (bool, error)) (inner func(*vec.Batch) (bool, error), leave func(), err error) {
	c := &functionConfig{s: s, f: f}
	if err := c.enter(); err != nil {
		return nil, nil, err
	}
	inside := true
	leave = func() {
		if inside {
			c.leave()
		}
	}
	if yield == nil {
		return nil, leave, nil
	}
	return func(b *vec.Batch) (bool, error) {
		c.leave()
		inside = false
		more, err := yield(b)
		if back := c.enter(); back != nil {
			return false, back
		}
		inside = true
		return more, err
	}, leave, nil
}

// configEpoch names the settings of a function that is called under the settings of
// an epoch: plans of its body are valid for this pair.
type configEpoch struct {
	f     *catalog.Function
	outer uint64
}

// innerEpochs is where the epochs of calls begin; others never reach it.
const innerEpochs = 1 << 63

// epochOf returns the epoch of a call, the same one for the same settings.
func (s *Session) epochOf(f *catalog.Function, outer uint64) uint64 {
	k := configEpoch{f, outer}
	if e, ok := s.configEpochs[k]; ok {
		return e
	}
	if s.configEpochs == nil || len(s.configEpochs) >= maxBodies {
		s.configEpochs = make(map[configEpoch]uint64)
	}
	s.lastConfig++
	s.configEpochs[k] = innerEpochs + s.lastConfig
	return s.configEpochs[k]
}

// enter gives the parameters their values.
func (c *functionConfig) enter() error {
	g := c.s.settings
	c.outer, c.dirty, c.old = g.epoch, len(g.dirty), c.old[:0]
	for _, kv := range c.f.Config {
		name, v, _ := strings.Cut(kv, "=")
		key := strings.ToLower(name)
		if d := findSetting(name); d != nil {
			canonical, err := d.canonical(c.s, v)
			if err != nil {
				c.leave()
				return err
			}
			v = canonical
		} else {
			g.custom[key] = true
		}
		was, had := g.local[key]
		c.old = append(c.old, settingChange{name: key, old: was, had: had})
		g.local[key] = v
		c.s.settingChanged(key)
	}
	c.inner = c.s.epochOf(c.f, c.outer)
	g.epoch = c.inner
	return nil
}

// leave gives the parameters the values they had.
func (c *functionConfig) leave() {
	g := c.s.settings
	changed := c.inner != 0 && g.epoch != c.inner // by the body
	for i := len(c.old) - 1; i >= 0; i-- {
		o := c.old[i]
		if o.had {
			g.local[o.name] = o.old
		} else {
			delete(g.local, o.name)
		}
		c.s.settingChanged(o.name)
	}
	if !changed {
		g.dirty = g.dirty[:min(c.dirty, len(g.dirty))]
	}
	g.epoch = c.outer
	if changed {
		g.epoch++
	}
}
