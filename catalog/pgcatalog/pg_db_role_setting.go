package pgcatalog

import (
	"slices"
	"strings"
	"sync"

	"kvsqld/catalog"
)

// settingNames are the parameters' names as they are shown, by lower case.
var settingNames = sync.OnceValue(func() map[string]string {
	m := make(map[string]string)
	for _, s := range catalog.Settings() {
		m[strings.ToLower(s.Name)] = s.Name
	}
	return m
})

// settingList is "name=value" for run-time parameters, whose names may have capitals.
func settingList(m map[string]string) []string {
	var out []string
	for k, v := range m {
		if n := settingNames()[k]; n != "" {
			k = n
		}
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

func rowsPgDbRoleSetting(w *writer) {
	if m := w.env.Snap.Everybody(); len(m) > 0 {
		w.oid(0).oid(0).strArray(settingList(m)).end()
	}
	for _, d := range w.env.Snap.Databases() {
		if len(d.Settings) > 0 {
			w.oid(d.OID).oid(0).strArray(settingList(d.Settings)).end()
		}
	}
	for _, r := range w.env.Snap.Roles() {
		if len(r.Settings) > 0 {
			w.oid(0).oid(r.OID).strArray(settingList(r.Settings)).end()
		}
		for _, d := range w.env.Snap.Databases() {
			if m := r.InDatabase[d.Name]; len(m) > 0 {
				w.oid(d.OID).oid(r.OID).strArray(settingList(m)).end()
			}
		}
	}
}
