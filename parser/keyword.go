package parser

// Keyword is the number of a word of PostgreSQL's grammar; 0 is no keyword.
type Keyword uint16

// Category says where a keyword may stand as a name.
type Category uint8

// The categories of PostgreSQL's kwlist.
const (
	NotKeyword   Category = iota
	Unreserved            // any name
	ColName               // a column or table, not a function or type
	TypeFuncName          // a function or type, not a column or table
	Reserved              // only as a label after AS
)

// Code returns the one-letter code of pg_get_keywords, or 0 for NotKeyword.
func (c Category) Code() byte { return "\x00UCTR"[c] }

type keywordInfo struct {
	word string
	cat  Category
	bare bool // may be a column label without AS
}

// maxKeywordLen is the length of current_timestamp and current_catalog's kin.
const maxKeywordLen = 17

var keywordMap = func() map[string]Keyword {
	m := make(map[string]Keyword, len(keywordTable))
	for i, k := range keywordTable[1:] {
		m[k.word] = Keyword(i + 1)
	}
	return m
}()

// lookupKeyword finds a word, of any case, without allocating.
func lookupKeyword(word string) Keyword {
	if len(word) > maxKeywordLen || len(word) < 2 {
		return noKeyword
	}
	var buf [maxKeywordLen]byte
	for i := 0; i < len(word); i++ {
		c := word[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case (c < 'a' || c > 'z') && c != '_':
			return noKeyword
		}
		buf[i] = c
	}
	return keywordMap[string(buf[:len(word)])]
}

// Keywords calls f for each keyword, in byte order.
func Keywords(f func(word string, cat Category, bareLabel bool)) {
	for _, k := range keywordTable[1:] {
		f(k.word, k.cat, k.bare)
	}
}

// String returns the keyword in lower case.
func (k Keyword) String() string { return keywordTable[k].word }
