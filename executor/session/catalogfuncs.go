package session

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Catalog implements expr.SessionInfo.
func (s sessionInfo) Catalog(src string, args []types.Datum, ret types.T) (types.Datum, error) {
	return types.Datum{}, sqlerr.Unsupported(-1, "function %s", src)
}

// CatalogRows implements expr.SessionInfo.
func (s sessionInfo) CatalogRows(src string, args []types.Datum, cols []types.T) ([][]types.Datum, error) {
	return nil, sqlerr.Unsupported(-1, "function %s", src)
}
