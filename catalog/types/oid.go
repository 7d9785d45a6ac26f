package types

// OIDs of the built-in types that the code names (pg_type of PostgreSQL 15).
const (
	OBool                    OID = 16
	OBytea                   OID = 17
	OChar                    OID = 18
	OName                    OID = 19
	OInt8                    OID = 20
	OInt2                    OID = 21
	OInt2Vector              OID = 22
	OInt4                    OID = 23
	ORegproc                 OID = 24
	OText                    OID = 25
	OOid                     OID = 26
	OTid                     OID = 27
	OXid                     OID = 28
	OCid                     OID = 29
	OOidVector               OID = 30
	OJSON                    OID = 114
	OXML                     OID = 142
	OPgNodeTree              OID = 194
	OPoint                   OID = 600
	OFloat4                  OID = 700
	OFloat8                  OID = 701
	OUnknown                 OID = 705
	OMoney                   OID = 790
	OMacaddr                 OID = 829
	OInet                    OID = 869
	OCidr                    OID = 650
	OAclitem                 OID = 1033
	OAclitemArr              OID = 1034
	OBpchar                  OID = 1042
	OVarchar                 OID = 1043
	ODate                    OID = 1082
	OTime                    OID = 1083
	OTimestamp               OID = 1114
	OTimestamptz             OID = 1184
	OInterval                OID = 1186
	OTimetz                  OID = 1266
	OBit                     OID = 1560
	OVarbit                  OID = 1562
	ONumeric                 OID = 1700
	ORefcursor               OID = 1790
	ORegprocedure            OID = 2202
	ORegoper                 OID = 2203
	ORegoperator             OID = 2204
	ORegclass                OID = 2205
	ORegtype                 OID = 2206
	ORegrole                 OID = 4096
	ORegnamespace            OID = 4089
	ORegconfig               OID = 3734
	ORegdictionary           OID = 3769
	ORegcollation            OID = 4191
	OUUID                    OID = 2950
	OJSONB                   OID = 3802
	ORecord                  OID = 2249
	ORecordArr               OID = 2287
	OCstring                 OID = 2275
	OAny                     OID = 2276
	OAnyarray                OID = 2277
	OVoid                    OID = 2278
	OTrigger                 OID = 2279
	OInternal                OID = 2281
	OAnyelement              OID = 2283
	OAnynonarray             OID = 2776
	OAnyenum                 OID = 3500
	OAnyrange                OID = 3831
	OAnymultirange           OID = 4537
	OAnycompatible           OID = 5077
	OAnycompatiblearray      OID = 5078
	OAnycompatiblenonarray   OID = 5079
	OAnycompatiblerange      OID = 5080
	OAnycompatiblemultirange OID = 4538

	OBoolArr    OID = 1000
	OByteaArr   OID = 1001
	OCharArr    OID = 1002
	ONameArr    OID = 1003
	OInt2Arr    OID = 1005
	OInt4Arr    OID = 1007
	OTextArr    OID = 1009
	OVarcharArr OID = 1015
	OInt8Arr    OID = 1016
	OFloat4Arr  OID = 1021
	OFloat8Arr  OID = 1022
	OOidArr     OID = 1028
	ONumericArr OID = 1231
)

// FirstUserOID is where OIDs of user objects start.
const FirstUserOID OID = 16384

// Types that the code names often.
var (
	TBool        = Of(OBool)
	TBytea       = Of(OBytea)
	TName        = Of(OName)
	TInt2        = Of(OInt2)
	TInt4        = Of(OInt4)
	TInt8        = Of(OInt8)
	TText        = Of(OText)
	TOid         = Of(OOid)
	TFloat4      = Of(OFloat4)
	TFloat8      = Of(OFloat8)
	TNumeric     = Of(ONumeric)
	TUnknown     = Of(OUnknown)
	TVarchar     = Of(OVarchar)
	TBpchar      = Of(OBpchar)
	TDate        = Of(ODate)
	TTime        = Of(OTime)
	TTimetz      = Of(OTimetz)
	TTimestamp   = Of(OTimestamp)
	TTimestamptz = Of(OTimestamptz)
	TInterval    = Of(OInterval)
	TUUID        = Of(OUUID)
	TVoid        = Of(OVoid)
	TRecord      = Of(ORecord)
	TTextArr     = Of(OTextArr)
	TNameArr     = Of(ONameArr)
	TInt2Arr     = Of(OInt2Arr)
	TInt4Arr     = Of(OInt4Arr)
	TOidArr      = Of(OOidArr)
	TInt2Vector  = Of(OInt2Vector)
	TOidVector   = Of(OOidVector)
	TRegclass    = Of(ORegclass)
	TRegtype     = Of(ORegtype)
)
