package session

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
)

// maxRefusals bounds the features that are told apart. Messages name objects of
// the client's choice, so that their number has no bound of its own.
const maxRefusals = 1000

// refusals counts statements that were refused because of a feature that is not
// supported, since the server's start: the rows of kvsqld.refused. No text of a
// statement is kept, since statements hold secrets.
type refusals struct {
	mu     sync.Mutex
	counts map[refusal]int64
}

type refusal struct{ feature, state, application string }

// add counts err if it is a refusal.
func (r *refusals) add(err error, application string) {
	var e *sqlerr.Error
	if !errors.As(err, &e) || !e.Refused {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[refusal]int64{}
	}
	k := refusal{e.Message, string(e.Code), application}
	if _, known := r.counts[k]; !known && len(r.counts) >= maxRefusals {
		k = refusal{"(others)", string(e.Code), ""}
	}
	r.counts[k]++
}

// rows are the rows of kvsqld.refused, the most frequent first.
func (r *refusals) rows() []pgcatalog.RefusedInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]pgcatalog.RefusedInfo, 0, len(r.counts))
	for k, n := range r.counts {
		out = append(out, pgcatalog.RefusedInfo{Feature: k.feature, SQLState: k.state, Application: k.application, Count: n})
	}
	slices.SortFunc(out, func(a, b pgcatalog.RefusedInfo) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Feature, b.Feature), cmp.Compare(a.Application, b.Application))
	})
	return out
}
