package session

import (
	"iter"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
	"kvsqld/parser/ast"
)

// copyFormat is the form of COPY data.
type copyFormat uint8

const (
	copyText copyFormat = iota
	copyCSV
	copyBinary
)

// copyHeader says what the first line is.
type copyHeader uint8

const (
	headerNone  copyHeader = iota
	headerLine             // written, or skipped
	headerMatch            // must name the columns
)

// copyOptions are the options of a COPY, complete with their defaults.
type copyOptions struct {
	format        copyFormat
	delim         byte
	quote, escape byte // of csv
	null          string
	header        copyHeader
	forceQuoteAll bool
	forceQuote    []string
	forceNotNull  []string
	forceNull     []string
	freeze        bool
	enc           *charset.Encoding // of the data; nil: UTF-8
}

// copyOptionParser reads the options one by one and then judges them together.
type copyOptionParser struct {
	from  bool
	out   copyOptions // enc is the client's until an option says otherwise
	given map[string]bool
	delim string
	quote string
	esc   string
}

// parseCopyOptions reads the options of COPY FROM or COPY TO. Columns of the
// force options are names only here.
func parseCopyOptions(list []ast.Option, from bool, enc *charset.Encoding) (*copyOptions, error) {
	p := &copyOptionParser{from: from, given: map[string]bool{}, out: copyOptions{enc: enc}}
	for i := range list {
		o := &list[i]
		if p.given[o.Name] {
			return nil, sqlerr.New(sqlerr.SyntaxError, "conflicting or redundant options").At(o.Pos())
		}
		if err := p.option(o); err != nil {
			return nil, err
		}
		p.given[o.Name] = true
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return &p.out, nil
}

func (p *copyOptionParser) option(o *ast.Option) (err error) {
	switch o.Name {
	case "format":
		var name string
		if name, err = optionText(o); err != nil {
			return err
		}
		switch name {
		case "text":
		case "csv":
			p.out.format = copyCSV
		case "binary":
			p.out.format = copyBinary
		default:
			return sqlerr.New(sqlerr.InvalidParameterValue, "COPY format \"%s\" not recognized", name).At(o.Pos())
		}
	case "freeze":
		on, ok := optionBool(o)
		if !ok {
			return sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", o.Name)
		}
		p.out.freeze = on
	case "delimiter":
		p.delim, err = optionText(o)
	case "null":
		p.out.null, err = optionText(o)
	case "quote":
		p.quote, err = optionText(o)
	case "escape":
		p.esc, err = optionText(o)
	case "header":
		err = p.header(o)
	case "force_quote":
		if x, ok := o.X.(*ast.ColumnRef); ok && x.Star {
			p.out.forceQuoteAll = true
			return nil
		}
		p.out.forceQuote, err = optionColumns(o)
	case "force_not_null":
		p.out.forceNotNull, err = optionColumns(o)
	case "force_null":
		p.out.forceNull, err = optionColumns(o)
	case "encoding":
		err = p.encoding(o)
	default:
		return sqlerr.New(sqlerr.SyntaxError, "option \"%s\" not recognized", o.Name).At(o.Pos())
	}
	return err
}

func (p *copyOptionParser) header(o *ast.Option) error {
	if text, err := optionText(o); err == nil && strings.EqualFold(text, "match") {
		if !p.from {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot use \"match\" with HEADER in COPY TO")
		}
		p.out.header = headerMatch
		return nil
	}
	on, ok := optionBool(o)
	if !ok {
		return sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value or \"match\"", o.Name)
	}
	if on {
		p.out.header = headerLine
	}
	return nil
}

// finish sets the defaults and refuses what does not go together.
func (p *copyOptionParser) finish() error {
	o := &p.out
	csv := o.format == copyCSV
	refuse := func(code sqlerr.Code, text string) error { return sqlerr.New(code, "%s", text) }
	if o.format == copyBinary {
		switch {
		case p.given["delimiter"]:
			return refuse(sqlerr.SyntaxError, "cannot specify DELIMITER in BINARY mode")
		case p.given["null"]:
			return refuse(sqlerr.SyntaxError, "cannot specify NULL in BINARY mode")
		}
	}
	if !p.given["delimiter"] {
		p.delim = "\t"
		if csv {
			p.delim = ","
		}
	}
	if !p.given["null"] && !csv {
		o.null = `\N`
	}
	if !p.given["quote"] {
		p.quote = `"`
	}
	if !p.given["escape"] {
		p.esc = p.quote
	}
	if len(p.delim) != 1 {
		return refuse(sqlerr.FeatureNotSupported, "COPY delimiter must be a single one-byte character")
	}
	o.delim = p.delim[0]
	switch {
	case o.delim == '\n' || o.delim == '\r':
		return refuse(sqlerr.InvalidParameterValue, "COPY delimiter cannot be newline or carriage return")
	case strings.ContainsAny(o.null, "\r\n"):
		return refuse(sqlerr.InvalidParameterValue, "COPY null representation cannot use newline or carriage return")
	case !csv && strings.IndexByte(`\.abcdefghijklmnopqrstuvwxyz0123456789`, o.delim) >= 0:
		return refuse(sqlerr.InvalidParameterValue, "COPY delimiter cannot be \""+p.delim+"\"")
	case o.format == copyBinary && o.header != headerNone:
		return refuse(sqlerr.FeatureNotSupported, "cannot specify HEADER in BINARY mode")
	case !csv && p.given["quote"]:
		return refuse(sqlerr.FeatureNotSupported, "COPY quote available only in CSV mode")
	case len(p.quote) != 1:
		return refuse(sqlerr.FeatureNotSupported, "COPY quote must be a single one-byte character")
	case csv && p.delim == p.quote:
		return refuse(sqlerr.InvalidParameterValue, "COPY delimiter and quote must be different")
	case !csv && p.given["escape"]:
		return refuse(sqlerr.FeatureNotSupported, "COPY escape available only in CSV mode")
	case len(p.esc) != 1:
		return refuse(sqlerr.FeatureNotSupported, "COPY escape must be a single one-byte character")
	}
	o.quote, o.escape = p.quote[0], p.esc[0]
	for _, f := range []struct{ name, text, dir string }{
		{"force_quote", "force quote", "TO"}, {"force_not_null", "force not null", "FROM"}, {"force_null", "force null", "FROM"},
	} {
		switch {
		case !p.given[f.name]:
		case !csv:
			return refuse(sqlerr.FeatureNotSupported, "COPY "+f.text+" available only in CSV mode")
		case p.from != (f.dir == "FROM"):
			return refuse(sqlerr.FeatureNotSupported, "COPY "+f.text+" only available using COPY "+f.dir)
		}
	}
	switch {
	case o.format != copyBinary && strings.IndexByte(o.null, o.delim) >= 0:
		return refuse(sqlerr.FeatureNotSupported, "COPY delimiter must not appear in the NULL specification")
	case csv && strings.IndexByte(o.null, o.quote) >= 0:
		return refuse(sqlerr.FeatureNotSupported, "CSV quote character must not appear in the NULL specification")
	}
	return nil
}

// optionText is an option's value as text.
func optionText(o *ast.Option) (string, error) {
	switch x := o.X.(type) {
	case *ast.Const:
		return x.Val, nil
	case *ast.ColumnRef:
		return strings.Join(x.Parts, "."), nil
	}
	return "", sqlerr.New(sqlerr.SyntaxError, "%s requires a parameter", o.Name)
}

// optionBool is an option's value as a boolean, true when it has none.
func optionBool(o *ast.Option) (v, ok bool) {
	if o.X == nil && o.List == nil {
		return true, true
	}
	text, err := optionText(o)
	if err != nil {
		return false, false
	}
	switch strings.ToLower(text) {
	case "true", "on", "1":
		return true, true
	case "false", "off", "0":
		return false, true
	}
	return false, false
}

// optionColumns is an option's list of column names.
func optionColumns(o *ast.Option) ([]string, error) {
	names := make([]string, 0, len(o.List))
	for _, x := range o.List {
		switch x := x.(type) {
		case *ast.Const:
			names = append(names, x.Val)
		case *ast.ColumnRef:
			names = append(names, strings.Join(x.Parts, "."))
		}
	}
	if len(names) == 0 || len(names) < len(o.List) {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "argument to option \"%s\" must be a list of column names", o.Name).At(o.Pos())
	}
	return names, nil
}

// encoding reads the option ENCODING.
func (p *copyOptionParser) encoding(o *ast.Option) error {
	name, err := optionText(o)
	if err != nil {
		return err
	}
	e := charset.Find(name)
	switch {
	case e == nil:
		return sqlerr.New(sqlerr.InvalidParameterValue, "argument to option \"%s\" must be a valid encoding name", o.Name).At(o.Pos())
	case !e.Convertible():
		return sqlerr.Unsupported(o.Pos(), "COPY in encoding %s", e.Name)
	case e.Plain():
		e = nil
	}
	p.out.enc = e
	return nil
}

// binaryText refuses binary data with text that would have to be converted.
func (o *copyOptions) binaryText(cols iter.Seq[types.T]) error {
	for t := range cols {
		if o.enc != nil && (t.Textual() || t.HoldsText()) {
			return sqlerr.Unsupported(-1, "COPY of text in binary format with encoding %s", o.enc.Name)
		}
	}
	return nil
}
