-- A predicate that is the constant true is none.
create table t (c int);
create index on t (c) where true;
create index on t (c) where true and c > 0;
create index on t (c) where (1 = 1);
create index on t (c) where not false;
create index on t (c) where false;
create unique index u on t (c) where true;
select indexdef from pg_indexes where tablename = 't' order by indexname;
insert into t values (1) on conflict (c) do nothing;
insert into t values (1) on conflict (c) do nothing;
table t;
