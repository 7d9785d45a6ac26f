package expr

import (
	"unicode/utf8"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
)

// findEncoding returns the encoding of a name; role is source or destination.
func findEncoding(name []byte, role string) (*charset.Encoding, error) {
	e := charset.Find(string(name))
	switch {
	case e == nil && role == "":
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, `invalid encoding name "%s"`, name)
	case e == nil:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, `invalid %s encoding name "%s"`, role, name)
	case !e.Convertible():
		return nil, sqlerr.Unsupported(-1, "encoding %s", e.Name)
	}
	return e, nil
}

// conversion reports whether PostgreSQL has one between two encodings.
func conversion(from, to *charset.Encoding) bool {
	if from == to || from.ID == charset.SQLASCII || to.ID == charset.SQLASCII {
		return true
	}
	for _, c := range catalog.Conversions() {
		if c.From == from.ID && c.To == to.ID {
			return true
		}
	}
	return false
}

func encodingFuncs(r *registry) {
	toASCIIFuncs(r)
	r.add(fn2(func(_ *callCtx, b, name []byte) ([]byte, error) {
		e, err := findEncoding(name, "source")
		if err != nil {
			return nil, err
		}
		return e.Decode(b)
	}), "pg_convert_from")
	r.add(fn2(func(_ *callCtx, s, name []byte) ([]byte, error) {
		e, err := findEncoding(name, "destination")
		if err != nil {
			return nil, err
		}
		return e.Encode(s)
	}), "pg_convert_to")
	r.add(fn3(func(_ *callCtx, b, from, to []byte) ([]byte, error) {
		src, err := findEncoding(from, "source")
		if err != nil {
			return nil, err
		}
		dst, err := findEncoding(to, "destination")
		if err != nil {
			return nil, err
		}
		s, err := src.Decode(b)
		if err != nil || src == dst {
			return b, err
		}
		if !conversion(src, dst) {
			return nil, sqlerr.New(sqlerr.UndefinedFunction, `default conversion function for encoding "%s" to "%s" does not exist`, src.Name, dst.Name)
		}
		return dst.Encode(s)
	}), "pg_convert")
	r.add(fn2(func(_ *callCtx, b, name []byte) (int64, error) {
		e, err := findEncoding(name, "")
		if err != nil {
			return 0, err
		}
		s, err := e.Decode(b)
		return int64(utf8.RuneCount(s)), err
	}), "length_in_encoding")
	r.add(fn1(func(_ *callCtx, a int64) ([]byte, error) {
		if e := charset.ByID(a); e != nil {
			return []byte(e.Name), nil
		}
		return nil, nil
	}), "PG_encoding_to_char")
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) {
		if e := charset.Find(string(a)); e != nil {
			return int64(e.ID), nil
		}
		return -1, nil
	}), "PG_char_to_encoding")
}
