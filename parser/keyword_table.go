package parser

// The keywords of PostgreSQL 15, in byte order. noKeyword is "not a keyword".
const (
	noKeyword Keyword = iota
	kwAbort
	kwAbsolute
	kwAccess
	kwAction
	kwAdd
	kwAdmin
	kwAfter
	kwAggregate
	kwAll
	kwAlso
	kwAlter
	kwAlways
	kwAnalyse
	kwAnalyze
	kwAnd
	kwAny
	kwArray
	kwAs
	kwAsc
	kwAsensitive
	kwAssertion
	kwAssignment
	kwAsymmetric
	kwAt
	kwAtomic
	kwAttach
	kwAttribute
	kwAuthorization
	kwBackward
	kwBefore
	kwBegin
	kwBetween
	kwBigint
	kwBinary
	kwBit
	kwBoolean
	kwBoth
	kwBreadth
	kwBy
	kwCache
	kwCall
	kwCalled
	kwCascade
	kwCascaded
	kwCase
	kwCast
	kwCatalog
	kwChain
	kwChar
	kwCharacter
	kwCharacteristics
	kwCheck
	kwCheckpoint
	kwClass
	kwClose
	kwCluster
	kwCoalesce
	kwCollate
	kwCollation
	kwColumn
	kwColumns
	kwComment
	kwComments
	kwCommit
	kwCommitted
	kwCompression
	kwConcurrently
	kwConfiguration
	kwConflict
	kwConnection
	kwConstraint
	kwConstraints
	kwContent
	kwContinue
	kwConversion
	kwCopy
	kwCost
	kwCreate
	kwCross
	kwCsv
	kwCube
	kwCurrent
	kwCurrentCatalog
	kwCurrentDate
	kwCurrentRole
	kwCurrentSchema
	kwCurrentTime
	kwCurrentTimestamp
	kwCurrentUser
	kwCursor
	kwCycle
	kwData
	kwDatabase
	kwDay
	kwDeallocate
	kwDec
	kwDecimal
	kwDeclare
	kwDefault
	kwDefaults
	kwDeferrable
	kwDeferred
	kwDefiner
	kwDelete
	kwDelimiter
	kwDelimiters
	kwDepends
	kwDepth
	kwDesc
	kwDetach
	kwDictionary
	kwDisable
	kwDiscard
	kwDistinct
	kwDo
	kwDocument
	kwDomain
	kwDouble
	kwDrop
	kwEach
	kwElse
	kwEnable
	kwEncoding
	kwEncrypted
	kwEnd
	kwEnum
	kwEscape
	kwEvent
	kwExcept
	kwExclude
	kwExcluding
	kwExclusive
	kwExecute
	kwExists
	kwExplain
	kwExpression
	kwExtension
	kwExternal
	kwExtract
	kwFalse
	kwFamily
	kwFetch
	kwFilter
	kwFinalize
	kwFirst
	kwFloat
	kwFollowing
	kwFor
	kwForce
	kwForeign
	kwForward
	kwFreeze
	kwFrom
	kwFull
	kwFunction
	kwFunctions
	kwGenerated
	kwGlobal
	kwGrant
	kwGranted
	kwGreatest
	kwGroup
	kwGrouping
	kwGroups
	kwHandler
	kwHaving
	kwHeader
	kwHold
	kwHour
	kwIdentity
	kwIf
	kwIlike
	kwImmediate
	kwImmutable
	kwImplicit
	kwImport
	kwIn
	kwInclude
	kwIncluding
	kwIncrement
	kwIndex
	kwIndexes
	kwInherit
	kwInherits
	kwInitially
	kwInline
	kwInner
	kwInout
	kwInput
	kwInsensitive
	kwInsert
	kwInstead
	kwInt
	kwInteger
	kwIntersect
	kwInterval
	kwInto
	kwInvoker
	kwIs
	kwIsnull
	kwIsolation
	kwJoin
	kwKey
	kwLabel
	kwLanguage
	kwLarge
	kwLast
	kwLateral
	kwLeading
	kwLeakproof
	kwLeast
	kwLeft
	kwLevel
	kwLike
	kwLimit
	kwListen
	kwLoad
	kwLocal
	kwLocaltime
	kwLocaltimestamp
	kwLocation
	kwLock
	kwLocked
	kwLogged
	kwMapping
	kwMatch
	kwMatched
	kwMaterialized
	kwMaxvalue
	kwMerge
	kwMethod
	kwMinute
	kwMinvalue
	kwMode
	kwMonth
	kwMove
	kwName
	kwNames
	kwNational
	kwNatural
	kwNchar
	kwNew
	kwNext
	kwNfc
	kwNfd
	kwNfkc
	kwNfkd
	kwNo
	kwNone
	kwNormalize
	kwNormalized
	kwNot
	kwNothing
	kwNotify
	kwNotnull
	kwNowait
	kwNull
	kwNullif
	kwNulls
	kwNumeric
	kwObject
	kwOf
	kwOff
	kwOffset
	kwOids
	kwOld
	kwOn
	kwOnly
	kwOperator
	kwOption
	kwOptions
	kwOr
	kwOrder
	kwOrdinality
	kwOthers
	kwOut
	kwOuter
	kwOver
	kwOverlaps
	kwOverlay
	kwOverriding
	kwOwned
	kwOwner
	kwParallel
	kwParameter
	kwParser
	kwPartial
	kwPartition
	kwPassing
	kwPassword
	kwPlacing
	kwPlans
	kwPolicy
	kwPosition
	kwPreceding
	kwPrecision
	kwPrepare
	kwPrepared
	kwPreserve
	kwPrimary
	kwPrior
	kwPrivileges
	kwProcedural
	kwProcedure
	kwProcedures
	kwProgram
	kwPublication
	kwQuote
	kwRange
	kwRead
	kwReal
	kwReassign
	kwRecheck
	kwRecursive
	kwRef
	kwReferences
	kwReferencing
	kwRefresh
	kwReindex
	kwRelative
	kwRelease
	kwRename
	kwRepeatable
	kwReplace
	kwReplica
	kwReset
	kwRestart
	kwRestrict
	kwReturn
	kwReturning
	kwReturns
	kwRevoke
	kwRight
	kwRole
	kwRollback
	kwRollup
	kwRoutine
	kwRoutines
	kwRow
	kwRows
	kwRule
	kwSavepoint
	kwSchema
	kwSchemas
	kwScroll
	kwSearch
	kwSecond
	kwSecurity
	kwSelect
	kwSequence
	kwSequences
	kwSerializable
	kwServer
	kwSession
	kwSessionUser
	kwSet
	kwSetof
	kwSets
	kwShare
	kwShow
	kwSimilar
	kwSimple
	kwSkip
	kwSmallint
	kwSnapshot
	kwSome
	kwSql
	kwStable
	kwStandalone
	kwStart
	kwStatement
	kwStatistics
	kwStdin
	kwStdout
	kwStorage
	kwStored
	kwStrict
	kwStrip
	kwSubscription
	kwSubstring
	kwSupport
	kwSymmetric
	kwSysid
	kwSystem
	kwTable
	kwTables
	kwTablesample
	kwTablespace
	kwTemp
	kwTemplate
	kwTemporary
	kwText
	kwThen
	kwTies
	kwTime
	kwTimestamp
	kwTo
	kwTrailing
	kwTransaction
	kwTransform
	kwTreat
	kwTrigger
	kwTrim
	kwTrue
	kwTruncate
	kwTrusted
	kwType
	kwTypes
	kwUescape
	kwUnbounded
	kwUncommitted
	kwUnencrypted
	kwUnion
	kwUnique
	kwUnknown
	kwUnlisten
	kwUnlogged
	kwUntil
	kwUpdate
	kwUser
	kwUsing
	kwVacuum
	kwValid
	kwValidate
	kwValidator
	kwValue
	kwValues
	kwVarchar
	kwVariadic
	kwVarying
	kwVerbose
	kwVersion
	kwView
	kwViews
	kwVolatile
	kwWhen
	kwWhere
	kwWhitespace
	kwWindow
	kwWith
	kwWithin
	kwWithout
	kwWork
	kwWrapper
	kwWrite
	kwXml
	kwXmlattributes
	kwXmlconcat
	kwXmlelement
	kwXmlexists
	kwXmlforest
	kwXmlnamespaces
	kwXmlparse
	kwXmlpi
	kwXmlroot
	kwXmlserialize
	kwXmltable
	kwYear
	kwYes
	kwZone
)

// keywordTable is indexed by Keyword.
var keywordTable = [...]keywordInfo{
	{"", NotKeyword, false},
	{"abort", Unreserved, true},
	{"absolute", Unreserved, true},
	{"access", Unreserved, true},
	{"action", Unreserved, true},
	{"add", Unreserved, true},
	{"admin", Unreserved, true},
	{"after", Unreserved, true},
	{"aggregate", Unreserved, true},
	{"all", Reserved, true},
	{"also", Unreserved, true},
	{"alter", Unreserved, true},
	{"always", Unreserved, true},
	{"analyse", Reserved, true},
	{"analyze", Reserved, true},
	{"and", Reserved, true},
	{"any", Reserved, true},
	{"array", Reserved, false},
	{"as", Reserved, false},
	{"asc", Reserved, true},
	{"asensitive", Unreserved, true},
	{"assertion", Unreserved, true},
	{"assignment", Unreserved, true},
	{"asymmetric", Reserved, true},
	{"at", Unreserved, true},
	{"atomic", Unreserved, true},
	{"attach", Unreserved, true},
	{"attribute", Unreserved, true},
	{"authorization", TypeFuncName, true},
	{"backward", Unreserved, true},
	{"before", Unreserved, true},
	{"begin", Unreserved, true},
	{"between", ColName, true},
	{"bigint", ColName, true},
	{"binary", TypeFuncName, true},
	{"bit", ColName, true},
	{"boolean", ColName, true},
	{"both", Reserved, true},
	{"breadth", Unreserved, true},
	{"by", Unreserved, true},
	{"cache", Unreserved, true},
	{"call", Unreserved, true},
	{"called", Unreserved, true},
	{"cascade", Unreserved, true},
	{"cascaded", Unreserved, true},
	{"case", Reserved, true},
	{"cast", Reserved, true},
	{"catalog", Unreserved, true},
	{"chain", Unreserved, true},
	{"char", ColName, false},
	{"character", ColName, false},
	{"characteristics", Unreserved, true},
	{"check", Reserved, true},
	{"checkpoint", Unreserved, true},
	{"class", Unreserved, true},
	{"close", Unreserved, true},
	{"cluster", Unreserved, true},
	{"coalesce", ColName, true},
	{"collate", Reserved, true},
	{"collation", TypeFuncName, true},
	{"column", Reserved, true},
	{"columns", Unreserved, true},
	{"comment", Unreserved, true},
	{"comments", Unreserved, true},
	{"commit", Unreserved, true},
	{"committed", Unreserved, true},
	{"compression", Unreserved, true},
	{"concurrently", TypeFuncName, true},
	{"configuration", Unreserved, true},
	{"conflict", Unreserved, true},
	{"connection", Unreserved, true},
	{"constraint", Reserved, true},
	{"constraints", Unreserved, true},
	{"content", Unreserved, true},
	{"continue", Unreserved, true},
	{"conversion", Unreserved, true},
	{"copy", Unreserved, true},
	{"cost", Unreserved, true},
	{"create", Reserved, false},
	{"cross", TypeFuncName, true},
	{"csv", Unreserved, true},
	{"cube", Unreserved, true},
	{"current", Unreserved, true},
	{"current_catalog", Reserved, true},
	{"current_date", Reserved, true},
	{"current_role", Reserved, true},
	{"current_schema", TypeFuncName, true},
	{"current_time", Reserved, true},
	{"current_timestamp", Reserved, true},
	{"current_user", Reserved, true},
	{"cursor", Unreserved, true},
	{"cycle", Unreserved, true},
	{"data", Unreserved, true},
	{"database", Unreserved, true},
	{"day", Unreserved, false},
	{"deallocate", Unreserved, true},
	{"dec", ColName, true},
	{"decimal", ColName, true},
	{"declare", Unreserved, true},
	{"default", Reserved, true},
	{"defaults", Unreserved, true},
	{"deferrable", Reserved, true},
	{"deferred", Unreserved, true},
	{"definer", Unreserved, true},
	{"delete", Unreserved, true},
	{"delimiter", Unreserved, true},
	{"delimiters", Unreserved, true},
	{"depends", Unreserved, true},
	{"depth", Unreserved, true},
	{"desc", Reserved, true},
	{"detach", Unreserved, true},
	{"dictionary", Unreserved, true},
	{"disable", Unreserved, true},
	{"discard", Unreserved, true},
	{"distinct", Reserved, true},
	{"do", Reserved, true},
	{"document", Unreserved, true},
	{"domain", Unreserved, true},
	{"double", Unreserved, true},
	{"drop", Unreserved, true},
	{"each", Unreserved, true},
	{"else", Reserved, true},
	{"enable", Unreserved, true},
	{"encoding", Unreserved, true},
	{"encrypted", Unreserved, true},
	{"end", Reserved, true},
	{"enum", Unreserved, true},
	{"escape", Unreserved, true},
	{"event", Unreserved, true},
	{"except", Reserved, false},
	{"exclude", Unreserved, true},
	{"excluding", Unreserved, true},
	{"exclusive", Unreserved, true},
	{"execute", Unreserved, true},
	{"exists", ColName, true},
	{"explain", Unreserved, true},
	{"expression", Unreserved, true},
	{"extension", Unreserved, true},
	{"external", Unreserved, true},
	{"extract", ColName, true},
	{"false", Reserved, true},
	{"family", Unreserved, true},
	{"fetch", Reserved, false},
	{"filter", Unreserved, false},
	{"finalize", Unreserved, true},
	{"first", Unreserved, true},
	{"float", ColName, true},
	{"following", Unreserved, true},
	{"for", Reserved, false},
	{"force", Unreserved, true},
	{"foreign", Reserved, true},
	{"forward", Unreserved, true},
	{"freeze", TypeFuncName, true},
	{"from", Reserved, false},
	{"full", TypeFuncName, true},
	{"function", Unreserved, true},
	{"functions", Unreserved, true},
	{"generated", Unreserved, true},
	{"global", Unreserved, true},
	{"grant", Reserved, false},
	{"granted", Unreserved, true},
	{"greatest", ColName, true},
	{"group", Reserved, false},
	{"grouping", ColName, true},
	{"groups", Unreserved, true},
	{"handler", Unreserved, true},
	{"having", Reserved, false},
	{"header", Unreserved, true},
	{"hold", Unreserved, true},
	{"hour", Unreserved, false},
	{"identity", Unreserved, true},
	{"if", Unreserved, true},
	{"ilike", TypeFuncName, true},
	{"immediate", Unreserved, true},
	{"immutable", Unreserved, true},
	{"implicit", Unreserved, true},
	{"import", Unreserved, true},
	{"in", Reserved, true},
	{"include", Unreserved, true},
	{"including", Unreserved, true},
	{"increment", Unreserved, true},
	{"index", Unreserved, true},
	{"indexes", Unreserved, true},
	{"inherit", Unreserved, true},
	{"inherits", Unreserved, true},
	{"initially", Reserved, true},
	{"inline", Unreserved, true},
	{"inner", TypeFuncName, true},
	{"inout", ColName, true},
	{"input", Unreserved, true},
	{"insensitive", Unreserved, true},
	{"insert", Unreserved, true},
	{"instead", Unreserved, true},
	{"int", ColName, true},
	{"integer", ColName, true},
	{"intersect", Reserved, false},
	{"interval", ColName, true},
	{"into", Reserved, false},
	{"invoker", Unreserved, true},
	{"is", TypeFuncName, true},
	{"isnull", TypeFuncName, false},
	{"isolation", Unreserved, true},
	{"join", TypeFuncName, true},
	{"key", Unreserved, true},
	{"label", Unreserved, true},
	{"language", Unreserved, true},
	{"large", Unreserved, true},
	{"last", Unreserved, true},
	{"lateral", Reserved, true},
	{"leading", Reserved, true},
	{"leakproof", Unreserved, true},
	{"least", ColName, true},
	{"left", TypeFuncName, true},
	{"level", Unreserved, true},
	{"like", TypeFuncName, true},
	{"limit", Reserved, false},
	{"listen", Unreserved, true},
	{"load", Unreserved, true},
	{"local", Unreserved, true},
	{"localtime", Reserved, true},
	{"localtimestamp", Reserved, true},
	{"location", Unreserved, true},
	{"lock", Unreserved, true},
	{"locked", Unreserved, true},
	{"logged", Unreserved, true},
	{"mapping", Unreserved, true},
	{"match", Unreserved, true},
	{"matched", Unreserved, true},
	{"materialized", Unreserved, true},
	{"maxvalue", Unreserved, true},
	{"merge", Unreserved, true},
	{"method", Unreserved, true},
	{"minute", Unreserved, false},
	{"minvalue", Unreserved, true},
	{"mode", Unreserved, true},
	{"month", Unreserved, false},
	{"move", Unreserved, true},
	{"name", Unreserved, true},
	{"names", Unreserved, true},
	{"national", ColName, true},
	{"natural", TypeFuncName, true},
	{"nchar", ColName, true},
	{"new", Unreserved, true},
	{"next", Unreserved, true},
	{"nfc", Unreserved, true},
	{"nfd", Unreserved, true},
	{"nfkc", Unreserved, true},
	{"nfkd", Unreserved, true},
	{"no", Unreserved, true},
	{"none", ColName, true},
	{"normalize", ColName, true},
	{"normalized", Unreserved, true},
	{"not", Reserved, true},
	{"nothing", Unreserved, true},
	{"notify", Unreserved, true},
	{"notnull", TypeFuncName, false},
	{"nowait", Unreserved, true},
	{"null", Reserved, true},
	{"nullif", ColName, true},
	{"nulls", Unreserved, true},
	{"numeric", ColName, true},
	{"object", Unreserved, true},
	{"of", Unreserved, true},
	{"off", Unreserved, true},
	{"offset", Reserved, false},
	{"oids", Unreserved, true},
	{"old", Unreserved, true},
	{"on", Reserved, false},
	{"only", Reserved, true},
	{"operator", Unreserved, true},
	{"option", Unreserved, true},
	{"options", Unreserved, true},
	{"or", Reserved, true},
	{"order", Reserved, false},
	{"ordinality", Unreserved, true},
	{"others", Unreserved, true},
	{"out", ColName, true},
	{"outer", TypeFuncName, true},
	{"over", Unreserved, false},
	{"overlaps", TypeFuncName, false},
	{"overlay", ColName, true},
	{"overriding", Unreserved, true},
	{"owned", Unreserved, true},
	{"owner", Unreserved, true},
	{"parallel", Unreserved, true},
	{"parameter", Unreserved, true},
	{"parser", Unreserved, true},
	{"partial", Unreserved, true},
	{"partition", Unreserved, true},
	{"passing", Unreserved, true},
	{"password", Unreserved, true},
	{"placing", Reserved, true},
	{"plans", Unreserved, true},
	{"policy", Unreserved, true},
	{"position", ColName, true},
	{"preceding", Unreserved, true},
	{"precision", ColName, false},
	{"prepare", Unreserved, true},
	{"prepared", Unreserved, true},
	{"preserve", Unreserved, true},
	{"primary", Reserved, true},
	{"prior", Unreserved, true},
	{"privileges", Unreserved, true},
	{"procedural", Unreserved, true},
	{"procedure", Unreserved, true},
	{"procedures", Unreserved, true},
	{"program", Unreserved, true},
	{"publication", Unreserved, true},
	{"quote", Unreserved, true},
	{"range", Unreserved, true},
	{"read", Unreserved, true},
	{"real", ColName, true},
	{"reassign", Unreserved, true},
	{"recheck", Unreserved, true},
	{"recursive", Unreserved, true},
	{"ref", Unreserved, true},
	{"references", Reserved, true},
	{"referencing", Unreserved, true},
	{"refresh", Unreserved, true},
	{"reindex", Unreserved, true},
	{"relative", Unreserved, true},
	{"release", Unreserved, true},
	{"rename", Unreserved, true},
	{"repeatable", Unreserved, true},
	{"replace", Unreserved, true},
	{"replica", Unreserved, true},
	{"reset", Unreserved, true},
	{"restart", Unreserved, true},
	{"restrict", Unreserved, true},
	{"return", Unreserved, true},
	{"returning", Reserved, false},
	{"returns", Unreserved, true},
	{"revoke", Unreserved, true},
	{"right", TypeFuncName, true},
	{"role", Unreserved, true},
	{"rollback", Unreserved, true},
	{"rollup", Unreserved, true},
	{"routine", Unreserved, true},
	{"routines", Unreserved, true},
	{"row", ColName, true},
	{"rows", Unreserved, true},
	{"rule", Unreserved, true},
	{"savepoint", Unreserved, true},
	{"schema", Unreserved, true},
	{"schemas", Unreserved, true},
	{"scroll", Unreserved, true},
	{"search", Unreserved, true},
	{"second", Unreserved, false},
	{"security", Unreserved, true},
	{"select", Reserved, true},
	{"sequence", Unreserved, true},
	{"sequences", Unreserved, true},
	{"serializable", Unreserved, true},
	{"server", Unreserved, true},
	{"session", Unreserved, true},
	{"session_user", Reserved, true},
	{"set", Unreserved, true},
	{"setof", ColName, true},
	{"sets", Unreserved, true},
	{"share", Unreserved, true},
	{"show", Unreserved, true},
	{"similar", TypeFuncName, true},
	{"simple", Unreserved, true},
	{"skip", Unreserved, true},
	{"smallint", ColName, true},
	{"snapshot", Unreserved, true},
	{"some", Reserved, true},
	{"sql", Unreserved, true},
	{"stable", Unreserved, true},
	{"standalone", Unreserved, true},
	{"start", Unreserved, true},
	{"statement", Unreserved, true},
	{"statistics", Unreserved, true},
	{"stdin", Unreserved, true},
	{"stdout", Unreserved, true},
	{"storage", Unreserved, true},
	{"stored", Unreserved, true},
	{"strict", Unreserved, true},
	{"strip", Unreserved, true},
	{"subscription", Unreserved, true},
	{"substring", ColName, true},
	{"support", Unreserved, true},
	{"symmetric", Reserved, true},
	{"sysid", Unreserved, true},
	{"system", Unreserved, true},
	{"table", Reserved, true},
	{"tables", Unreserved, true},
	{"tablesample", TypeFuncName, true},
	{"tablespace", Unreserved, true},
	{"temp", Unreserved, true},
	{"template", Unreserved, true},
	{"temporary", Unreserved, true},
	{"text", Unreserved, true},
	{"then", Reserved, true},
	{"ties", Unreserved, true},
	{"time", ColName, true},
	{"timestamp", ColName, true},
	{"to", Reserved, false},
	{"trailing", Reserved, true},
	{"transaction", Unreserved, true},
	{"transform", Unreserved, true},
	{"treat", ColName, true},
	{"trigger", Unreserved, true},
	{"trim", ColName, true},
	{"true", Reserved, true},
	{"truncate", Unreserved, true},
	{"trusted", Unreserved, true},
	{"type", Unreserved, true},
	{"types", Unreserved, true},
	{"uescape", Unreserved, true},
	{"unbounded", Unreserved, true},
	{"uncommitted", Unreserved, true},
	{"unencrypted", Unreserved, true},
	{"union", Reserved, false},
	{"unique", Reserved, true},
	{"unknown", Unreserved, true},
	{"unlisten", Unreserved, true},
	{"unlogged", Unreserved, true},
	{"until", Unreserved, true},
	{"update", Unreserved, true},
	{"user", Reserved, true},
	{"using", Reserved, true},
	{"vacuum", Unreserved, true},
	{"valid", Unreserved, true},
	{"validate", Unreserved, true},
	{"validator", Unreserved, true},
	{"value", Unreserved, true},
	{"values", ColName, true},
	{"varchar", ColName, true},
	{"variadic", Reserved, true},
	{"varying", Unreserved, false},
	{"verbose", TypeFuncName, true},
	{"version", Unreserved, true},
	{"view", Unreserved, true},
	{"views", Unreserved, true},
	{"volatile", Unreserved, true},
	{"when", Reserved, true},
	{"where", Reserved, false},
	{"whitespace", Unreserved, true},
	{"window", Reserved, false},
	{"with", Reserved, false},
	{"within", Unreserved, false},
	{"without", Unreserved, false},
	{"work", Unreserved, true},
	{"wrapper", Unreserved, true},
	{"write", Unreserved, true},
	{"xml", Unreserved, true},
	{"xmlattributes", ColName, true},
	{"xmlconcat", ColName, true},
	{"xmlelement", ColName, true},
	{"xmlexists", ColName, true},
	{"xmlforest", ColName, true},
	{"xmlnamespaces", ColName, true},
	{"xmlparse", ColName, true},
	{"xmlpi", ColName, true},
	{"xmlroot", ColName, true},
	{"xmlserialize", ColName, true},
	{"xmltable", ColName, true},
	{"year", Unreserved, false},
	{"yes", Unreserved, true},
	{"zone", Unreserved, true},
}
