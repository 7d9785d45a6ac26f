package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
)

// asciiOf lists what stands for the bytes from 128 on, in each encoding that to_ascii
// knows. It reads the bytes of its argument as they are, whatever the encoding of the
// database.
var asciiOf = map[string]string{
	"LATIN1":  "                                  cL Y  \"Ca  -R     'u .,      ?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooooo/ouuuuyty",
	"LATIN2":  "                                 A L LS \"SSTZ-ZZ a,l'ls ,sstz\"zzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoooo/ruuuuyt.",
	"LATIN9":  "                                  cL YS sCa  -R     Zu .z   EeY?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooooo/ouuuuyty",
	"WIN1250": "  ' \"    %S<STZZ `'\"\".--  s>stzz   L A  \"CS  -RZ  ,l'u .,as L\"lzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoooo/ruuuuyt ",
}

func toASCIIFuncs(r *registry) {
	r.add(fn1(func(_ *callCtx, s []byte) ([]byte, error) { return toASCII(s, "UTF8") }), "to_ascii_default")
	r.add(fn2(func(_ *callCtx, s, name []byte) ([]byte, error) {
		e := charset.Find(string(name))
		if e == nil {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "%s is not a valid encoding name", name)
		}
		return toASCII(s, e.Name)
	}), "to_ascii_encname")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		e := charset.ByID(a[1].I)
		if e == nil {
			return null, sqlerr.New(sqlerr.UndefinedObject, "%d is not a valid encoding code", a[1].I)
		}
		b, err := toASCII(a[0].B, e.Name)
		return textDatum(b), err
	}), "to_ascii_enc")
}

func toASCII(s []byte, encoding string) ([]byte, error) {
	table := asciiOf[encoding]
	if table == "" {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "encoding conversion from %s to ASCII not supported", encoding)
	}
	out := make([]byte, len(s))
	for i, b := range s {
		if out[i] = b; b >= 128 {
			out[i] = table[b-128]
		}
	}
	return out, nil
}
