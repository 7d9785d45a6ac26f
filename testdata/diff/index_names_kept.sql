-- An index calls its columns as the table did when it was made, and so do its copies.
create table t (a int, b text, primary key (a));
create index i on t (b, a);
create index on t (lower(b));
alter table t rename a to c;
\d i
\d t_pkey
select attrelid::regclass, attname from pg_attribute where attrelid in ('i'::regclass, 't_pkey'::regclass) and attnum > 0 order by 1, attnum;
select pg_get_indexdef('i'::regclass, 2, true);
create table t2 (like t including all);
\d t2
alter index i alter column 2 set statistics 5;
create table t3 (like t2 including indexes);
\d t3
alter table t rename c to a;
create table t4 (like t including indexes);
\d t4
create materialized view m as select b as x from t;
create index on m (x);
alter materialized view m rename x to y;
\d m_x_idx
create table p (a int) partition by list (a);
create table p1 partition of p for values in (1);
create index on p (a);
alter table p rename a to c;
create table p2 partition of p for values in (2);
\d p2
\d p1
create table p3 (c int);
alter table p attach partition p3 for values in (3);
\d p3
