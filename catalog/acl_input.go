package catalog

import (
	"strings"

	"kvsqld/catalog/sqlerr"
)

// ReadACLItem reads what a user writes as an aclitem: [group|user] grantee =
// privileges [/ grantor], where blanks may stand around names. Grantor is "" where
// it was left out; garbage says that more follows, which is an error behind those of
// the roles, of which nothing is checked here.
func ReadACLItem(s string) (it ACLItem, garbage bool, err error) {
	bad := func(format string, args ...any) (ACLItem, bool, error) {
		return it, false, sqlerr.New(sqlerr.InvalidTextRepresentation, format, args...)
	}
	name, rest, err := aclInputName(s)
	if err != nil {
		return it, false, err
	}
	if !strings.HasPrefix(rest, "=") {
		if name != "group" && name != "user" {
			return it, false, sqlerr.New(sqlerr.InvalidTextRepresentation, "unrecognized key word: \"%s\"", name).
				WithHint("ACL key word must be \"group\" or \"user\".")
		}
		if name, rest, err = aclInputName(rest); err != nil {
			return it, false, err
		}
		if name == "" {
			return it, false, sqlerr.New(sqlerr.InvalidTextRepresentation, "missing name").
				WithHint("A name must follow the \"group\" or \"user\" key word.")
		}
	}
	if !strings.HasPrefix(rest, "=") {
		return bad("missing \"=\" sign")
	}
	it.Grantee = name
	var last Priv
	for rest = rest[1:]; rest != "" && (rest[0] == '*' || rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z'); rest = rest[1:] {
		if rest[0] == '*' {
			it.Grant |= last
			continue
		}
		i := strings.IndexByte(privLetters, rest[0])
		if i < 0 {
			return bad("invalid mode character: must be one of \"%s\"", privLetters)
		}
		last = 1 << i
		it.Privs |= last
	}
	if strings.HasPrefix(rest, "/") {
		if it.Grantor, rest, err = aclInputName(rest[1:]); err != nil {
			return it, false, err
		}
		if it.Grantor == "" {
			return bad("a name must follow the \"/\" sign")
		}
	}
	return it, strings.Trim(rest, " \t\n\r\v\f") != "", nil
}

// aclInputName reads a name, quoted or of letters, digits and underscores, with
// the blanks around it.
func aclInputName(s string) (name, rest string, err error) {
	const blanks = " \t\n\r\v\f"
	s = strings.TrimLeft(s, blanks)
	var b strings.Builder
	quoted := false
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			i++
			b.WriteByte('"')
		case c == '"':
			quoted = !quoted
		case quoted || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80:
			b.WriteByte(c)
		default:
			return clippedRole(b.String(), strings.TrimLeft(s[i:], blanks))
		}
	}
	return clippedRole(b.String(), "")
}

func clippedRole(name, rest string) (string, string, error) {
	if len(name) >= 64 {
		return "", "", sqlerr.New(sqlerr.NameTooLong, "identifier too long").WithDetail("Identifier must be less than 64 characters.")
	}
	return name, rest, nil
}
