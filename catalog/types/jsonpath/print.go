package jsonpath

import (
	"strconv"
)

// String returns the path as PostgreSQL prints it. quote appends a JSON string.
func (p *Path) String(quote func(buf, text []byte) []byte) string {
	w := printer{quote: quote}
	if p.Strict {
		w.buf = append(w.buf, "strict "...)
	}
	w.item(p.Root, false, true)
	return string(w.buf)
}

type printer struct {
	buf   []byte
	quote func(buf, text []byte) []byte
}

func (w *printer) text(s string)   { w.buf = append(w.buf, s...) }
func (w *printer) quoted(s string) { w.buf = w.quote(w.buf, []byte(s)) }

// item prints an item and its accessors. accessor says that it follows another
// item, brackets that an operator stands in brackets.
func (w *printer) item(it *Item, accessor, brackets bool) {
	open := func() {
		if brackets {
			w.text("(")
		}
	}
	end := func() {
		if brackets {
			w.text(")")
		}
	}
	// Brackets that PostgreSQL leaves out before accessors would change the path.
	brackets = brackets || it.Next != nil
	operand := func(x *Item) { w.item(x, false, x.Kind.priority() <= it.Kind.priority()) }
	dot := func() {
		if accessor {
			w.text(".")
		}
	}
	switch it.Kind {
	case Null:
		w.text("null")
	case String:
		w.quoted(it.Text)
	case Number:
		if brackets = it.Next != nil; brackets {
			w.text("(" + it.Text + ")")
		} else {
			w.text(it.Text)
		}
	case Bool:
		w.text(strconv.FormatBool(it.Truth))
	case Variable:
		w.text("$")
		w.quoted(it.Text)
	case Root:
		w.text("$")
	case Current:
		w.text("@")
	case Last:
		w.text("last")
	case Key:
		dot()
		w.quoted(it.Text)
	case AnyKey:
		dot()
		w.text("*")
	case AnyArray:
		w.text("[*]")
	case Index:
		w.text("[")
		for i, s := range it.Subscripts {
			if i > 0 {
				w.text(",")
			}
			w.item(s.From, false, false)
			if s.To != nil {
				w.text(" to ")
				w.item(s.To, false, false)
			}
		}
		w.text("]")
	case Any:
		dot()
		w.levels(it)
	case Filter:
		w.text("?(")
		w.item(it.Left, false, false)
		w.text(")")
	case Exists:
		w.text("exists (")
		w.item(it.Left, false, false)
		w.text(")")
	case Not:
		w.text("!(")
		w.item(it.Left, false, false)
		w.text(")")
	case IsUnknown:
		w.text("(")
		w.item(it.Left, false, false)
		w.text(") is unknown")
	case LikeRegex:
		open()
		operand(it.Left)
		w.text(" like_regex ")
		w.quoted(it.Text)
		if it.Flags != "" {
			w.text(` flag "` + it.Flags + `"`)
		}
		end()
	case Plus, Minus:
		open()
		w.text(it.Kind.Operator())
		operand(it.Left)
		end()
	case Datetime:
		w.text(".datetime(")
		if it.Left != nil {
			w.item(it.Left, false, false)
		}
		w.text(")")
	default:
		if m := it.Kind.Method(); m != "" {
			w.text("." + m + "()")
			break
		}
		open()
		operand(it.Left)
		w.text(" " + it.Kind.Operator() + " ")
		operand(it.Right)
		end()
	}
	if it.Next != nil {
		w.item(it.Next, true, true)
	}
}

func (w *printer) levels(it *Item) {
	level := func(n int) {
		if n == AnyDepth {
			w.text("last")
			return
		}
		w.buf = strconv.AppendInt(w.buf, int64(n), 10)
	}
	w.text("**")
	switch {
	case it.First == 0 && it.Deep == AnyDepth:
	case it.First == it.Deep:
		w.text("{")
		level(it.First)
		w.text("}")
	default:
		w.text("{")
		level(it.First)
		w.text(" to ")
		level(it.Deep)
		w.text("}")
	}
}
