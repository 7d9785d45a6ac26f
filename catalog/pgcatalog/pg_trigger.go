package pgcatalog

import (
	"fmt"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// trigger is one of the internal triggers by which PostgreSQL enforces a foreign key. Here
// writes check the keys themselves; the rows tell clients which constraint watches which
// table.
type trigger struct {
	oid, table, parent        types.OID
	action                    bool // on the referenced table
	update                    bool // or insert, on the referenced table delete
	function                  types.OID
	other, index, constraint  types.OID
	deferrable, initiallyDefd bool
	off                       bool // by DISABLE TRIGGER ALL
}

// The functions of foreign keys' triggers come in pairs, the second being that of updates.
const (
	oidRICheck    types.OID = 1644
	oidRICascade  types.OID = 1646
	oidRIRestrict types.OID = 1648
	oidRISetNull  types.OID = 1650
	oidRIDefault  types.OID = 1652
	oidRINoAction types.OID = 1654
)

// actionFunctions are the functions of pg_constraint.confdeltype and confupdtype.
var actionFunctions = map[byte]types.OID{'a': oidRINoAction, 'c': oidRICascade, 'r': oidRIRestrict, 'n': oidRISetNull, 'd': oidRIDefault}

func (t *trigger) name() string {
	side := 'c'
	if t.action {
		side = 'a'
	}
	return fmt.Sprintf("RI_ConstraintTrigger_%c_%d", side, t.oid)
}

// event is pg_trigger.tgtype: for each row, after the event.
func (t *trigger) event() int64 {
	const row, insert, del, update = 1, 4, 8, 16
	switch {
	case t.update:
		return row | update
	case t.action:
		return row | del
	}
	return row | insert
}

// triggers calls f for each trigger of the database.
func (env *Env) triggers(f func(*trigger)) {
	env.tables(func(_ types.OID, t *catalog.Table) {
		for _, k := range t.ForeignKeys {
			if k.Parent == 0 {
				env.actionTriggers(t, k, k.OID, 0, k.Unwatched, f)
			}
			for i := range k.Targets {
				x := &k.Targets[i]
				if ref := env.Snap.Table(x.Table); ref != nil {
					if narrowed := env.targetKey(t, k, ref); narrowed != nil {
						env.actionTriggers(t, narrowed, x.OID, env.targetParent(k, ref), x.Unwatched, f)
					}
				}
			}
			for _, update := range []bool{false, true} {
				g := trigger{table: t.OID, update: update, function: oidRICheck, other: k.RefTable, index: k.RefIndex, constraint: k.OID,
					deferrable: k.Deferrable, initiallyDefd: k.InitiallyDeferred, off: k.Unchecked}
				g.number(k.Parent)
				f(&g)
			}
		}
	})
}

// actionTriggers are the triggers of a foreign key on the referenced table; parent is the
// constraint that this one is a part of, or 0.
func (env *Env) actionTriggers(t *catalog.Table, k *catalog.ForeignKey, constraint, parent types.OID, off bool, f func(*trigger)) {
	for _, update := range []bool{false, true} {
		what := k.OnDelete
		if update {
			what = k.OnUpdate
		}
		g := trigger{table: k.RefTable, action: true, update: update, function: actionFunctions[what], other: t.OID, index: k.RefIndex, constraint: constraint,
			off: off}
		if g.function == oidRINoAction {
			g.deferrable, g.initiallyDefd = k.Deferrable, k.InitiallyDeferred
		}
		g.number(parent)
		f(&g)
	}
}

// number gives a trigger the OIDs that follow from its constraint's and from that of the
// constraint that it is a part of.
func (t *trigger) number(parent types.OID) {
	sub := 0
	if t.action {
		sub = 2
	}
	if t.update {
		t.function++
		sub++
	}
	t.oid = synthOID("trigger", t.constraint, sub)
	if parent != 0 {
		t.parent = synthOID("trigger", parent, sub)
	}
}

func rowsPgTrigger(w *writer) {
	w.env.triggers(func(t *trigger) {
		enabled := byte('O')
		if t.off {
			enabled = 'D'
		}
		w.oid(t.oid).oid(t.table).oid(t.parent).str(t.name()).oid(t.function).int(t.event()).chr(enabled).bool(true).
			oid(t.other).oid(t.index).oid(t.constraint).bool(t.deferrable).bool(t.initiallyDefd).int(0)
		vector(w, []int(nil))
		w.str("").nulls(3).end()
	})
}

// FirstTrigger is the name of the first trigger of a table, by name.
func (env *Env) FirstTrigger(table types.OID) string {
	first := ""
	env.triggers(func(t *trigger) {
		if n := t.name(); t.table == table && (first == "" || n < first) {
			first = n
		}
	})
	return first
}

// TriggerDef is pg_get_triggerdef; ok is false when there is no such trigger.
func (env *Env) TriggerDef(o types.OID, pretty bool) (def string, ok bool) {
	env.triggers(func(t *trigger) {
		if ok || t.oid != o {
			return
		}
		def, ok = env.triggerText(t, pretty), true
	})
	return def, ok
}

func (env *Env) triggerText(t *trigger, pretty bool) string {
	event, deferring := "INSERT", "NOT DEFERRABLE INITIALLY IMMEDIATE"
	switch {
	case t.update:
		event = "UPDATE"
	case t.action:
		event = "DELETE"
	}
	if t.deferrable {
		deferring = "DEFERRABLE INITIALLY IMMEDIATE"
		if t.initiallyDefd {
			deferring = "DEFERRABLE INITIALLY DEFERRED"
		}
	}
	on := env.regclassOut(t.table)
	if schema, name, ok := env.RelationName(t.table); ok && !pretty {
		on = catalog.QualifiedIdent(schema, name)
	}
	function, _ := env.procOut(t.function, false)
	return fmt.Sprintf("CREATE CONSTRAINT TRIGGER %s AFTER %s ON %s FROM %s %s FOR EACH ROW EXECUTE FUNCTION %s()",
		catalog.QuoteIdent(t.name()), event, on, env.regclassOut(t.other), deferring, function)
}

// triggers tells that a foreign key's triggers go with it.
func (d *dependWriter) triggers() {
	d.env.triggers(func(t *trigger) {
		self := object{class: oidPgTrigger, oid: t.oid}
		d.dep(self, constraintObject(t.constraint), 'i')
		d.part(self, object{class: oidPgTrigger, oid: t.parent}, t.table)
	})
}
