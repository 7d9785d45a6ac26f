-- Calls that act are made for no more rows than a LIMIT asks for: queues take locks so.
create table jobs(job_id bigint primary key, priority int, queue text, run_at timestamptz default now());
insert into jobs select i, i%5, '' , '2020-01-01' from generate_series(1,3000) i;
create index on jobs(queue, priority, run_at, job_id);
WITH RECURSIVE job AS (
  SELECT (j).*, pg_try_advisory_lock((j).job_id) AS locked
  FROM (SELECT j FROM jobs AS j WHERE queue = '' AND run_at <= now() ORDER BY priority, run_at, job_id LIMIT 1) AS t1
  UNION ALL (
    SELECT (j).*, pg_try_advisory_lock((j).job_id) AS locked
    FROM (SELECT (SELECT j FROM jobs AS j WHERE queue = '' AND run_at <= now() AND (priority, run_at, job_id) > (job.priority, job.run_at, job.job_id)
          ORDER BY priority, run_at, job_id LIMIT 1) AS j FROM job WHERE NOT job.locked LIMIT 1) AS t1)
) SELECT queue, priority, job_id FROM job WHERE locked LIMIT 1;
select count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
WITH RECURSIVE job AS (
  SELECT (j).*, pg_try_advisory_lock((j).job_id) AS locked
  FROM (SELECT j FROM jobs AS j WHERE queue = '' AND run_at <= now() ORDER BY priority, run_at, job_id LIMIT 1) AS t1
  UNION ALL (
    SELECT (j).*, pg_try_advisory_lock((j).job_id) AS locked
    FROM (SELECT (SELECT j FROM jobs AS j WHERE queue = '' AND run_at <= now() AND (priority, run_at, job_id) > (job.priority, job.run_at, job.job_id)
          ORDER BY priority, run_at, job_id LIMIT 1) AS j FROM job WHERE job.job_id IS NOT NULL LIMIT 1) AS t1)
) SELECT queue, priority, job_id FROM job WHERE locked LIMIT 1;
select count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
select job_id from jobs where pg_try_advisory_lock(job_id+5000) limit 3;
select count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
select job_id, pg_try_advisory_lock(job_id+10000) from jobs order by job_id limit 3;
select count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
select * from (select job_id, pg_try_advisory_lock(job_id+20000) l from jobs offset 0) q where l limit 3;
select count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
with c as (select job_id, pg_try_advisory_lock(job_id+30000) l from jobs) select * from c where l limit 3;
select count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
with c as materialized (select job_id from jobs where pg_try_advisory_lock(job_id+40000)) select * from c limit 3;
select count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
select j.job_id from jobs j join jobs k using (job_id) where pg_try_advisory_lock(j.job_id+50000) limit 3;
select count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
select pg_advisory_unlock_all();
WITH RECURSIVE r AS (select 1 as n, pg_try_advisory_lock(1) union all select n+1, pg_try_advisory_lock(n+1) from r where n < 1000) select n from r limit 5;
select count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
CREATE SEQUENCE od;
SELECT nextval('od'), generate_series(1, 5) LIMIT 2;
SELECT currval('od');
SELECT count(*) FROM (SELECT * FROM (VALUES (nextval('od')), (nextval('od')), (nextval('od'))) v(x) LIMIT 2) q;
SELECT currval('od');
SELECT count(*) FROM (SELECT nextval('od') FROM jobs UNION ALL SELECT nextval('od') FROM jobs LIMIT 4) q;
SELECT currval('od');
BEGIN;
DECLARE c CURSOR FOR SELECT job_id FROM jobs WHERE nextval('od') > 0;
FETCH 1 FROM c;
SELECT currval('od');
COMMIT;
WITH w AS (SELECT job_id, nextval('od') AS n FROM jobs) SELECT n FROM w LIMIT 3;
SELECT currval('od');
WITH w AS (SELECT job_id, nextval('od') AS n FROM jobs) SELECT count(*), sum(n), (SELECT n FROM w LIMIT 1) FROM (SELECT n FROM w LIMIT 3) q;
SELECT currval('od');
SELECT (WITH w AS (SELECT k.job_id, nextval('od') AS n FROM jobs k) SELECT count(*) FROM (SELECT n FROM w LIMIT 2) q WHERE j.job_id > 0) FROM jobs j WHERE job_id < 4 ORDER BY job_id;
SELECT currval('od');
