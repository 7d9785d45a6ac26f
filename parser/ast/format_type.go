package ast

import "strings"

// grammarNames are the types that the grammar spells in words.
var grammarNames = map[string]string{
	"int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double precision",
	"bool": "boolean", "numeric": "numeric", "bit": "bit", "varbit": "bit varying", "varchar": "character varying",
	"bpchar": "character", "time": "time", "timetz": "time", "timestamp": "timestamp", "timestamptz": "timestamp",
	"interval": "interval",
}

func (p *printer) typeName(t TypeName) {
	p.putIf(t.In, "IN ")
	p.putIf(t.SetOf, "SETOF ")
	p.baseType(t)
	p.putIf(t.PctType, "%TYPE")
	p.put(strings.Repeat("[]", t.Dims))
}

// baseType writes the name and modifiers: in words where these give the same
// tree, else as any other name.
func (p *printer) baseType(t TypeName) {
	word, zone := "", ""
	if len(t.Name.Parts) == 2 && t.Name.Parts[0] == "pg_catalog" {
		word = grammarNames[t.Name.Parts[1]]
	}
	switch name := t.Name.Last(); {
	case word == "":
	case name == "numeric", name == "varbit", name == "bit" && len(t.Mods) > 0:
	case name == "varchar" && oneInt(t.Mods, 0), name == "bpchar" && oneInt(t.Mods, 1):
	case name == "interval":
		if !oneInt(t.Mods, 0) || (len(t.Mods) == 1 && t.Interval != "" && !strings.HasSuffix(t.Interval, "SECOND")) {
			word = ""
		}
	case strings.HasPrefix(name, "time") && oneInt(t.Mods, 0):
		if strings.HasSuffix(name, "tz") {
			zone = " with time zone"
		}
	case len(t.Mods) == 0 && name != "bpchar" && name != "bit":
	default:
		word = ""
	}
	switch {
	case word == "":
		p.name(t.Name)
	case word == "interval" && t.Interval != "":
		p.put(word)
		p.intervalFields(t)
		return
	default:
		p.put(word)
	}
	if len(t.Mods) > 0 {
		p.parenExprs(t.Mods)
	}
	p.put(zone)
}

// oneInt reports whether the modifiers are at most one plain integer, and at
// least min of them.
func oneInt(mods []Expr, min int) bool {
	if len(mods) == 0 {
		return min == 0
	}
	c, ok := mods[0].(*Const)
	return len(mods) == 1 && ok && c.Kind == ConstInt && c.Val[0] != '-'
}

// intervalFields writes DAY TO SECOND(3) and the like with a blank in front.
func (p *printer) intervalFields(t TypeName) {
	if t.Interval == "" {
		return
	}
	p.put(" ", t.Interval)
	if len(t.Mods) > 0 {
		p.parenExprs(t.Mods)
	}
}
