package session

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
	"kvsqld/parser"
)

// checkOf returns the rule of a single parameter, beyond that of its type, or
// nil.
func checkOf(name string) func(*Session, string) (string, error) {
	switch name {
	case "datestyle":
		return checkDateStyle
	case "timezone":
		return checkTimeZone
	case "client_encoding":
		return checkClientEncoding
	case "search_path":
		return checkNames
	case "restrict_nonsystem_relation_kind":
		return checkRestrictedKinds
	case "application_name":
		return checkApplication
	case "quote_all_identifiers":
		return only("quote_all_identifiers", "off")
	case "default_with_oids":
		return checkNoOids
	case "default_tablespace":
		return checkTablespace
	case "temp_tablespaces":
		return checkTablespaces
	case "default_table_access_method":
		return checkAccessMethod
	case "default_text_search_config":
		return checkSearchConfig
	case "timezone_abbreviations":
		return known("timezone_abbreviations", "Default", "Australia", "India")
	case "lc_messages", "lc_monetary", "lc_numeric", "lc_time":
		return known(name, "", "C", "POSIX", "C.UTF-8", "C.utf8", "en_US.UTF-8", "en_US.utf8")
	}
	return nil
}

// checkNoOids refuses tables with OIDs, as PostgreSQL has since version 12.
func checkNoOids(_ *Session, v string) (string, error) {
	if v == "on" {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "tables declared WITH OIDS are not supported")
	}
	return v, nil
}

// chosenOrder is the order of fields that a word of DateStyle names, "" for none.
func chosenOrder(w string) string {
	switch {
	case w == "YMD" || w == "DMY" || w == "MDY":
		return w
	case strings.HasPrefix(w, "EURO"):
		return "DMY"
	case w == "US" || strings.HasPrefix(w, "NONEURO"):
		return "MDY"
	}
	return ""
}

func checkDateStyle(s *Session, v string) (string, error) {
	style, order, ordered := "", "", false
	chosen := "" // by a word of v
	if s != nil {
		style, order, _ = strings.Cut(s.settings.get("datestyle"), ", ")
	}
	words, ok := splitNames(v)
	if !ok {
		return "", badValue("DateStyle", v).WithDetail("List syntax is invalid.")
	}
	for _, word := range words {
		w := strings.ToUpper(word)
		if w == "ISO" || w == "SQL" || w == "GERMAN" || strings.HasPrefix(w, "POSTGRES") {
			if chosen != "" && chosen != w {
				return "", badValue("DateStyle", v).WithDetail("Conflicting \"datestyle\" specifications.")
			}
			chosen = w
		}
		switch {
		case ordered && chosenOrder(w) != "" && chosenOrder(w) != order:
			return "", badValue("DateStyle", v).WithDetail("Conflicting \"datestyle\" specifications.")
		case w == "ISO" || w == "SQL":
			style = w
		case strings.HasPrefix(w, "POSTGRES"):
			style = "Postgres"
		case w == "GERMAN":
			style = "German"
			if !ordered { // German implies an order, which another word may change
				order = "DMY"
			}
		case chosenOrder(w) != "":
			order, ordered = chosenOrder(w), true
		case w == "DEFAULT":
			style, order = "ISO", "MDY"
		default:
			return "", badValue("DateStyle", v).WithDetail("Unrecognized key word: \"%s\".", word)
		}
	}
	if style == "" {
		style = "ISO"
	}
	if order == "" {
		order = "MDY"
	}
	return style + ", " + order, nil
}

func checkTimeZone(_ *Session, v string) (string, error) {
	loc, err := types.LoadZone(v)
	if err != nil {
		return "", badValue("TimeZone", v)
	}
	if name := "posix/" + loc.String(); strings.EqualFold(name, strings.TrimSpace(v)) {
		return name, nil
	}
	return loc.String(), nil
}

func checkClientEncoding(_ *Session, v string) (string, error) {
	e := charset.Find(v)
	switch {
	case e == nil:
		return "", badValue("client_encoding", v)
	case !e.Convertible():
		err := badValue("client_encoding", v)
		err.Code = sqlerr.FeatureNotSupported
		return "", err.Refusal().WithDetail("Conversion between %s and UTF8 is not supported.", e.Name)
	case v == "UNICODE": // some clients ask whether it is what they have set
		return v, nil
	}
	return e.Name, nil
}

// only refuses every value but one: what another asks for is not there.
func only(name, want string) func(*Session, string) (string, error) {
	return func(_ *Session, v string) (string, error) {
		if v != want {
			return "", sqlerr.Unsupported(-1, "%s = %s", name, v)
		}
		return v, nil
	}
}

// known refuses values that are not in a list.
func known(name string, values ...string) func(*Session, string) (string, error) {
	return func(_ *Session, v string) (string, error) {
		if !slices.Contains(values, v) {
			return "", badValue(name, v)
		}
		return v, nil
	}
}

func isTablespace(name string) bool { return name == "pg_default" || name == "pg_global" }

func checkTablespace(_ *Session, v string) (string, error) {
	if v != "" && !isTablespace(v) {
		return "", badValue("default_tablespace", v).WithDetail("Tablespace \"%s\" does not exist.", v)
	}
	return v, nil
}

func checkTablespaces(_ *Session, v string) (string, error) {
	names, ok := splitNames(v)
	if !ok {
		return "", badValue("temp_tablespaces", v).WithDetail("List syntax is invalid.")
	}
	for _, n := range names {
		if n != "" && !isTablespace(n) {
			return "", sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", n)
		}
	}
	return v, nil
}

func checkAccessMethod(_ *Session, v string) (string, error) {
	switch v {
	case "heap":
		return v, nil
	case "":
		return "", badValue("default_table_access_method", v).WithDetail("default_table_access_method cannot be empty.")
	}
	if catalog.IsIndexMethod(v) {
		return "", sqlerr.New(sqlerr.ObjectNotInPrerequisite, "access method \"%s\" is not of type TABLE", v)
	}
	return "", badValue("default_table_access_method", v).WithDetail("Table access method \"%s\" does not exist.", v)
}

// checkSearchConfig knows the configurations that PostgreSQL comes with by the
// languages of its stemmers.
func checkSearchConfig(_ *Session, v string) (string, error) {
	name := strings.TrimPrefix(v, "pg_catalog.")
	if !slices.Contains(strings.Fields(searchConfigs), name) {
		return "", badValue("default_text_search_config", v)
	}
	return "pg_catalog." + name, nil
}

const searchConfigs = "simple arabic armenian basque catalan danish dutch english finnish french german greek hindi " +
	"hungarian indonesian irish italian lithuanian nepali norwegian portuguese romanian russian serbian spanish " +
	"swedish tamil turkish yiddish"

func checkNames(_ *Session, v string) (string, error) {
	if _, ok := splitNames(v); !ok {
		return "", badValue("search_path", v).WithDetail("List syntax is invalid.")
	}
	return v, nil
}

// checkRestrictedKinds knows the kinds of relations that a user may do without.
// There are no foreign tables, so that restricting them changes nothing.
func checkRestrictedKinds(_ *Session, v string) (string, error) {
	if _, ok := splitNames(v); !ok {
		return "", badValue("restrict_nonsystem_relation_kind", v).WithDetail("List syntax is invalid.")
	}
	for _, k := range restrictedKinds(v) {
		if k != "view" && k != "foreign-table" {
			return "", badValue("restrict_nonsystem_relation_kind", v).WithDetail("Unrecognized key word: \"%s\".", k)
		}
	}
	return v, nil
}

// restrictedKinds takes the value of restrict_nonsystem_relation_kind apart.
func restrictedKinds(v string) []string {
	names, _ := splitNames(v)
	for i := range names {
		names[i] = strings.ToLower(names[i])
	}
	return names
}

// checkApplication cuts a name that is too long and replaces what is not printable
// ASCII, as PostgreSQL does in names that appear in logs.
func checkApplication(s *Session, v string) (string, error) {
	cut := parser.CutName(v)
	if cut != v {
		s.tell(cutNotice(v, cut))
	}
	b := []byte(cut)
	for i, c := range b {
		if c < 32 || c > 126 {
			b[i] = '?'
		}
	}
	return string(b), nil
}

// splitNames takes a list of identifiers apart.
func splitNames(v string) (names []string, ok bool) {
	v = strings.TrimSpace(v)
	if v == "" {
		return nil, true
	}
	for {
		v = strings.TrimLeft(v, " \t\n")
		var name string
		if strings.HasPrefix(v, `"`) {
			var b strings.Builder
			i := 1
			for {
				if i >= len(v) {
					return nil, false
				}
				if v[i] == '"' {
					if i+1 < len(v) && v[i+1] == '"' {
						b.WriteByte('"')
						i += 2
						continue
					}
					break
				}
				b.WriteByte(v[i])
				i++
			}
			name, v = b.String(), v[i+1:]
		} else {
			i := strings.IndexAny(v, ", \t\n")
			if i < 0 {
				i = len(v)
			}
			if i == 0 {
				return nil, false
			}
			name, v = strings.ToLower(v[:i]), v[i:]
		}
		names = append(names, types.TruncateName(name))
		v = strings.TrimLeft(v, " \t\n")
		if v == "" {
			return names, true
		}
		if v[0] != ',' {
			return nil, false
		}
		v = v[1:]
	}
}

// parseDateStyle turns the canonical text into its two parts.
func parseDateStyle(v string) (types.DateStyle, types.DateOrder) {
	style, order, _ := strings.Cut(v, ", ")
	st := map[string]types.DateStyle{"ISO": types.DateISO, "SQL": types.DateSQL, "Postgres": types.DatePostgres, "German": types.DateGerman}[style]
	or := map[string]types.DateOrder{"MDY": types.OrderMDY, "DMY": types.OrderDMY, "YMD": types.OrderYMD}[order]
	return st, or
}

func atoi(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// compareFold orders names without case.
func compareFold(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
