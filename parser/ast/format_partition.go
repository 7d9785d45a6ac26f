package ast

import "strconv"

func (p *printer) partitionKey(k *PartitionKey) {
	p.put(" PARTITION BY ")
	p.ident(k.Strategy)
	p.put(" (")
	for i, e := range k.Elems {
		p.putIf(i > 0, ", ")
		p.indexElem(&e)
	}
	p.put(")")
}

func (p *printer) partitionBound(b *PartitionBound) {
	list := func(xs []Expr) {
		p.put(" (")
		p.exprs(xs)
		p.put(")")
	}
	switch {
	case b.Default:
		p.put(" DEFAULT")
	case b.Hash:
		p.put(" FOR VALUES WITH (MODULUS ", strconv.Itoa(b.Modulus), ", REMAINDER ", strconv.Itoa(b.Remainder), ")")
	case b.In != nil:
		p.put(" FOR VALUES IN")
		list(b.In)
	default:
		p.put(" FOR VALUES FROM")
		list(b.From)
		p.put(" TO")
		list(b.To)
	}
}

// partitionOf writes the parent, the changed columns and constraints, the bound.
func (p *printer) partitionOf(s *CreateTable) {
	p.put(" PARTITION OF ")
	p.name(*s.PartitionOf)
	p.columnOptions(s)
	p.partitionBound(s.Bound)
}

func (p *printer) columnOptions(s *CreateTable) {
	if len(s.Columns)+len(s.Constraints) > 0 {
		p.put(" (")
		for i := range s.Columns {
			p.putIf(i > 0, ", ")
			p.ident(s.Columns[i].Name)
			p.indexSuffix(s.Columns[i].Collate, nil)
			for k := range s.Columns[i].Constraints {
				p.put(" ")
				p.constraint(&s.Columns[i].Constraints[k], true)
			}
		}
		for i := range s.Constraints {
			p.putIf(i > 0 || len(s.Columns) > 0, ", ")
			p.constraint(&s.Constraints[i], false)
		}
		p.put(")")
	}
}
