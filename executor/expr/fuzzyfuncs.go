package expr

import (
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// maxLevenshtein is the greatest number of characters that levenshtein compares.
const maxLevenshtein = 255

// fuzzyFuncs are the functions of the extension fuzzystrmatch but for metaphone.
func fuzzyFuncs(r *registry) {
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		ins, del, sub := int64(1), int64(1), int64(1)
		if len(a) == 5 {
			ins, del, sub = a[2].I, a[3].I, a[4].I
		}
		d, err := levenshtein(string(a[0].B), string(a[1].B), ins, del, sub)
		return types.Datum{I: d}, err
	}), "fuzzystrmatch.levenshtein")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		ins, del, sub, most := int64(1), int64(1), int64(1), a[len(a)-1].I
		if len(a) == 6 {
			ins, del, sub = a[2].I, a[3].I, a[4].I
		}
		d, err := levenshtein(string(a[0].B), string(a[1].B), ins, del, sub)
		if most >= 0 && d > most {
			d = most + 1
		}
		return types.Datum{I: d}, err
	}), "fuzzystrmatch.levenshtein_less_equal")
	sound := fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		return types.Datum{B: []byte(soundex(a[0].B))}, nil
	})
	r.add(sound, "fuzzystrmatch.soundex")
	r.add(sound, "fuzzystrmatch.text_soundex")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		x, y, same := soundex(a[0].B), soundex(a[1].B), int64(0)
		for i := 0; i < soundexLen && i < len(x) && i < len(y); i++ {
			if x[i] == y[i] {
				same++
			}
		}
		if len(x) == 0 && len(y) == 0 {
			same = soundexLen
		}
		return types.Datum{I: same}, nil
	}), "fuzzystrmatch.difference")
}

// levenshtein is the least cost of insertions, deletions and substitutions of
// characters that make s into t (Wagner and Fischer, 1974).
func levenshtein(s, t string, ins, del, sub int64) (int64, error) {
	a, b := []rune(s), []rune(t)
	if len(a) > maxLevenshtein || len(b) > maxLevenshtein {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "levenshtein argument exceeds maximum length of %d characters", maxLevenshtein)
	}
	row := make([]int64, len(b)+1)
	for j := range row {
		row[j] = int64(j) * ins
	}
	for _, x := range a {
		diagonal := row[0]
		row[0] += del
		for j, y := range b {
			change := diagonal
			if x != y {
				change += sub
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+ins, diagonal+del)
		}
	}
	if d := row[len(b)]; d >= math.MinInt32 && d <= math.MaxInt32 {
		return d, nil
	}
	return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "levenshtein distance out of range")
}

const soundexLen = 4

// soundexCodes are the digits of A to Z; vowels, H, W and Y have none.
const soundexCodes = "01230120022455012623010202"

// soundex is the code of a name's sound: its first letter and three digits. A letter
// counts unless the character before it has its digit, or is it.
func soundex(name []byte) string {
	var out []byte
	last := byte(0)
	for _, c := range name {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c < 'A' || c > 'Z' {
			last = c
			continue
		}
		code := soundexCodes[c-'A']
		switch {
		case len(out) == 0:
			out = append(out, c)
		case code != last && code != '0':
			out = append(out, code)
		}
		last = code
		if len(out) == soundexLen {
			break
		}
	}
	for len(out) > 0 && len(out) < soundexLen {
		out = append(out, '0')
	}
	return string(out)
}
