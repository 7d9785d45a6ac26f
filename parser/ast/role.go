package ast

// What stands for a role's name where a statement has a word instead: CURRENT_USER is not
// a role that is called so, which "current_user" is. No name has a byte of zero.
const (
	CurrentUser = "\x00CURRENT_USER"
	CurrentRole = "\x00CURRENT_ROLE"
	SessionUser = "\x00SESSION_USER"
	AllRoles    = "\x00ALL"
	// PublicRole is no name of a role either, quoted or not.
	PublicRole = "public"
)

// RoleWord is the word that stands for a role's name, "" for a name.
func RoleWord(role string) string {
	switch role {
	case CurrentUser, CurrentRole, SessionUser, AllRoles:
		return role[1:]
	}
	return ""
}
