/* Every way libpq has to send statements: simple, with parameters, prepared, in
 * pipelines, row by row, COPY, cancelled, notified. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>

static PGconn *c;

static void field(const PGresult *r, char code, const char *name)
{
	const char *v = PQresultErrorField(r, code);
	if (v)
		printf(" %s=%s", name, v);
}

static void show(PGresult *r)
{
	printf("%s tag=[%s] tuples=%s", PQresStatus(PQresultStatus(r)), PQcmdStatus(r), PQcmdTuples(r));
	if (PQresultStatus(r) == PGRES_FATAL_ERROR) {
		field(r, PG_DIAG_SEVERITY, "severity");
		field(r, PG_DIAG_SQLSTATE, "state");
		field(r, PG_DIAG_MESSAGE_PRIMARY, "message");
		field(r, PG_DIAG_MESSAGE_DETAIL, "detail");
		field(r, PG_DIAG_MESSAGE_HINT, "hint");
		field(r, PG_DIAG_STATEMENT_POSITION, "position");
		field(r, PG_DIAG_INTERNAL_POSITION, "internal position");
		field(r, PG_DIAG_INTERNAL_QUERY, "internal query");
		field(r, PG_DIAG_CONTEXT, "context");
		field(r, PG_DIAG_SCHEMA_NAME, "schema");
		field(r, PG_DIAG_TABLE_NAME, "table");
		field(r, PG_DIAG_COLUMN_NAME, "column");
		field(r, PG_DIAG_DATATYPE_NAME, "type");
		field(r, PG_DIAG_CONSTRAINT_NAME, "constraint");
	}
	printf(" status=%d\n", PQtransactionStatus(c));
	for (int i = 0; i < PQnparams(r); i++)
		printf("  parameter %d of type %u\n", i + 1, PQparamtype(r, i));
	for (int j = 0; j < PQnfields(r); j++)
		printf("  %s: type %u%s, size %d, modifier %d, format %d, column %d\n", PQfname(r, j), PQftype(r, j) < 16384 ? PQftype(r, j) : 1, PQftable(r, j) ? ", of a table" : "", PQfsize(r, j), PQfmod(r, j), PQfformat(r, j), PQftablecol(r, j));
	for (int i = 0; i < PQntuples(r); i++) {
		for (int j = 0; j < PQnfields(r); j++) {
			if (PQgetisnull(r, i, j))
				printf("  NULL");
			else if (PQfformat(r, j)) {
				printf("  ");
				for (int k = 0; k < PQgetlength(r, i, j); k++)
					printf("%02x", (unsigned char)PQgetvalue(r, i, j)[k]);
			} else
				printf("  %s", PQgetvalue(r, i, j));
		}
		printf("\n");
	}
	PQclear(r);
}

static void drain(void)
{
	PGresult *r;
	while ((r = PQgetResult(c)))
		show(r);
}

static void notice(void *arg, const PGresult *r)
{
	(void)arg;
	printf("notice");
	field(r, PG_DIAG_SEVERITY, "severity");
	field(r, PG_DIAG_SQLSTATE, "state");
	field(r, PG_DIAG_MESSAGE_PRIMARY, "message");
	printf("\n");
}

static void run(const char *sql)
{
	printf("> %s\n", sql);
	if (!PQsendQuery(c, sql))
		printf("%s", PQerrorMessage(c));
	drain();
}

static void with(const char *sql, int n, const Oid *types, const char *const *values, const int *lengths, const int *formats, int binary)
{
	printf("> %s\n", sql);
	show(PQexecParams(c, sql, n, types, values, lengths, formats, binary));
}

int main(void)
{
	c = PQconnectdb("application_name=libpq");
	if (PQstatus(c) != CONNECTION_OK) {
		fprintf(stderr, "%s", PQerrorMessage(c));
		return 1;
	}
	PQsetNoticeReceiver(c, notice, NULL);
	static const char *const names[] = {"server_encoding", "client_encoding", "application_name", "default_transaction_read_only", "in_hot_standby", "is_superuser", "session_authorization",
		"DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings"};
	printf("protocol %d, server %d\n", PQprotocolVersion(c), PQserverVersion(c) / 10000);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], "TimeZone"))
			printf("%s = %s\n", names[i], PQparameterStatus(c, names[i]));

	run("");
	run(" -- nothing\n;;");
	run("CREATE TABLE t (id int PRIMARY KEY, v varchar(7) NOT NULL, n numeric(6,2) CHECK (n > 0), a int[], d date); CREATE TABLE IF NOT EXISTS t (a int); INSERT INTO t VALUES (1, 'one', 1.5, '{1}', '2024-02-29'), (2, 'two', NULL, NULL, NULL) RETURNING id, v, n, a, d");
	run("SELECT 1; SELECT 1/0; SELECT 2");
	run("INSERT INTO t VALUES (3, 'three'); INSERT INTO t VALUES (1, 'dup'); SELECT 3");
	run("SELECT count(*) FROM t");
	run("BEGIN; INSERT INTO t VALUES (4, 'four'); SELECT nothing");
	run("SELECT 1");
	run("COMMIT; SELECT 1 AS after");
	run("INSERT INTO t VALUES (5, 'toolongvalue')");
	run("INSERT INTO t VALUES (5, NULL)");
	run("INSERT INTO t VALUES (5, 'five', -1)");
	run("SELECT * FROM t WHERE v = 1");
	run("SELECT pg_sleep('x')");
	run("SET datestyle = 'German'; SELECT d FROM t WHERE d IS NOT NULL");
	printf("DateStyle = %s\n", PQparameterStatus(c, "DateStyle"));
	run("RESET datestyle");
	run("SELECT E'\\u00e9', U&'\\00e9', $$a$$, B'101', X'ff', 1e3, .5, 0.1::float4, 'x'::\"char\", NULL");
	run("SELECT 'unterminated");
	run("SELECT \"\"");
	run("SELECT 1 +");
	run("DECLARE c CURSOR FOR SELECT 1");
	run("BEGIN; DECLARE c BINARY CURSOR FOR SELECT 1::int2 AS b, 'x' AS x; FETCH ALL FROM c; MOVE BACKWARD ALL FROM c; CLOSE c; COMMIT");
	run("PREPARE p (int) AS SELECT $1 + 1; EXECUTE p (1); EXECUTE p ('x'); DEALLOCATE p");
	run("SHOW server_version_num; SHOW ALL_absent");

	const char *two[] = {"2", "two"};
	with("SELECT * FROM t WHERE id = $1 AND v = $2", 2, NULL, two, NULL, NULL, 0);
	with("SELECT * FROM t WHERE id = $1 AND v = $2", 2, NULL, two, NULL, NULL, 1);
	unsigned char four[4] = {0, 0, 0, 1};
	const char *bin[] = {(char *)four, NULL};
	int lengths[] = {4, 0}, formats[] = {1, 0};
	Oid types[] = {23, 25};
	with("SELECT $1 + 1 AS next, $2 AS nothing, pg_typeof($2)", 2, types, bin, lengths, formats, 1);
	lengths[0] = 3;
	with("SELECT $1 + 1", 1, types, bin, lengths, formats, 0);
	with("SELECT $1", 0, NULL, NULL, NULL, NULL, 0);
	with("SELECT 1; SELECT 2", 0, NULL, NULL, NULL, NULL, 0);
	with("SELECT $1::int", 1, NULL, two + 1, NULL, NULL, 0);
	with("", 0, NULL, NULL, NULL, NULL, 0);
	with("VALUES ($1, $2)", 2, NULL, two, NULL, NULL, 0);
	with("SELECT $2", 2, NULL, two, NULL, NULL, 0);
	with("INSERT INTO t (id, v) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET v = excluded.v || '!'", 2, NULL, two, NULL, NULL, 0);

	show(PQprepare(c, "st", "SELECT id, v, n FROM t WHERE id > $1 ORDER BY id", 0, NULL));
	show(PQdescribePrepared(c, "st"));
	show(PQprepare(c, "st", "SELECT 1", 0, NULL));
	const char *zero[] = {"0"};
	show(PQexecPrepared(c, "st", 1, zero, NULL, NULL, 0));
	show(PQexecPrepared(c, "st", 0, NULL, NULL, NULL, 0));
	show(PQexecPrepared(c, "absent", 1, zero, NULL, NULL, 0));
	show(PQdescribePrepared(c, "absent"));
	show(PQdescribePortal(c, "absent"));
	run("BEGIN; DECLARE cur CURSOR FOR SELECT id, a FROM t");
	show(PQdescribePortal(c, "cur"));
	run("END; DEALLOCATE ALL");

	printf("row by row\n");
	PQsendQueryParams(c, "SELECT g, 10 / (4 - g) FROM generate_series(1, 6) g", 0, NULL, NULL, NULL, NULL, 0);
	PQsetSingleRowMode(c);
	PGresult *r;
	int rows = 0;
	while ((r = PQgetResult(c))) {
		rows += PQresultStatus(r) == PGRES_SINGLE_TUPLE;
		if (PQresultStatus(r) != PGRES_SINGLE_TUPLE)
			show(r);
		else
			PQclear(r);
	}
	printf("%d rows\n", rows);

	printf("pipeline\n");
	PQenterPipelineMode(c);
	PQsendQueryParams(c, "INSERT INTO t (id, v) VALUES (10, 'ten')", 0, NULL, NULL, NULL, NULL, 0);
	PQsendPrepare(c, "pp", "SELECT v FROM t WHERE id = $1", 0, NULL);
	const char *ten[] = {"10"};
	PQsendQueryPrepared(c, "pp", 1, ten, NULL, NULL, 0);
	PQsendDescribePrepared(c, "pp");
	PQpipelineSync(c);
	PQsendQueryParams(c, "INSERT INTO t (id, v) VALUES (11, 'eleven')", 0, NULL, NULL, NULL, NULL, 0);
	PQsendQueryParams(c, "SELECT 1/0", 0, NULL, NULL, NULL, NULL, 0);
	PQsendQueryParams(c, "SELECT 'never'", 0, NULL, NULL, NULL, NULL, 0);
	PQpipelineSync(c);
	PQsendQueryParams(c, "BEGIN", 0, NULL, NULL, NULL, NULL, 0);
	PQsendQueryParams(c, "SELECT count(*) FROM t WHERE id > 9", 0, NULL, NULL, NULL, NULL, 0);
	PQsendFlushRequest(c);
	PQsendQueryParams(c, "VACUUM", 0, NULL, NULL, NULL, NULL, 0);
	PQpipelineSync(c);
	PQsendQueryParams(c, "ROLLBACK", 0, NULL, NULL, NULL, NULL, 0);
	PQpipelineSync(c);
	for (int syncs = 0; syncs < 4;) {
		if (!(r = PQgetResult(c))) {
			printf("--\n");
			continue;
		}
		syncs += PQresultStatus(r) == PGRES_PIPELINE_SYNC;
		show(r);
	}
	printf("left: %d\n", PQexitPipelineMode(c));

	printf("copy\n");
	show(PQexec(c, "COPY t (id, v, n) FROM STDIN WITH (FORMAT csv, NULL 'nil')"));
	PQputCopyData(c, "20,twenty,nil\n21,\"a", 19);
	PQputCopyData(c, ",b\",2.25\n", 9);
	printf("%d\n", PQputCopyEnd(c, NULL));
	drain();
	show(PQexec(c, "COPY t (id, v) FROM STDIN"));
	PQputCopyData(c, "22\tx\nbad\n", 9);
	PQputCopyEnd(c, NULL);
	drain();
	show(PQexec(c, "COPY t (id, v) FROM STDIN"));
	PQputCopyEnd(c, "changed my mind");
	drain();
	show(PQexec(c, "COPY (SELECT id, v, n FROM t ORDER BY id) TO STDOUT (HEADER, FORMAT csv, FORCE_QUOTE (v))"));
	char *buf;
	int n;
	while ((n = PQgetCopyData(c, &buf, 0)) > 0) {
		fwrite(buf, 1, n, stdout);
		PQfreemem(buf);
	}
	drain();
	show(PQexec(c, "COPY t TO STDOUT (FORMAT nothing)"));

	printf("notify and cancel\n");
	run("LISTEN a; LISTEN \"B c\"; NOTIFY a; NOTIFY \"B c\", 'load'; NOTIFY a; UNLISTEN *");
	run("LISTEN a; NOTIFY a, '1'; NOTIFY a, '1'; NOTIFY a, '2'");
	PQconsumeInput(c);
	PGnotify *note;
	while ((note = PQnotifies(c))) {
		printf("%s [%s] %d\n", note->relname, note->extra, note->be_pid == PQbackendPID(c));
		PQfreemem(note);
	}
	PGcancel *cancel = PQgetCancel(c);
	PQsendQuery(c, "SELECT pg_sleep(100)");
	PQflush(c);
	char err[256];
	PGconn *other = PQconnectdb("");
	do {
		r = PQexec(other, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'libpq' AND state = 'active' AND query LIKE '%pg_sleep(100)%'");
		n = atoi(PQgetvalue(r, 0, 0));
		PQclear(r);
	} while (!n);
	printf("%d\n", PQcancel(cancel, err, sizeof err));
	PQfreeCancel(cancel);
	drain();
	char *q = PQescapeLiteral(c, "it's \\", 6), *id = PQescapeIdentifier(c, "a\"b", 3);
	printf("%s %s\n", q, id);
	PQfreemem(q);
	PQfreemem(id);
	run("SELECT pg_terminate_backend(pg_backend_pid())");
	printf("%d\n", PQstatus(c) == CONNECTION_BAD);
	PQreset(c);
	printf("%d\n", PQstatus(c) == CONNECTION_OK);
	PQfinish(other);
	PQfinish(c);
	static const char *const bad[] = {"sslmode=require", "dbname=absent", "user=nobody", "options=-cwork_mem=1x", "options='-c search_path=s1 -c geqo=off' client_encoding=LATIN1", "target_session_attrs=read-write", "target_session_attrs=standby"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		c = PQconnectdb(bad[i]);
		const char *m = PQerrorMessage(c), *tail = strstr(m, "failed: ");
		printf("%s: %d %s\n", bad[i], PQstatus(c), tail ? tail : m);
		if (PQstatus(c) == CONNECTION_OK && i == 4)
			run("SHOW search_path; SHOW client_encoding");
		PQfinish(c);
	}
	return 0;
}
