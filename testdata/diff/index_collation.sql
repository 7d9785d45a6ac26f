-- COLLATE of index keys, as it is shown.
create table t (a int primary key, b text collate "C", c numeric(5,2));
create index tb on t (b collate "C");
create index tb2 on t (b collate "POSIX" text_pattern_ops desc);
create index tb3 on t ((b || 'x') collate "POSIX");
create index tb4 on t (a collate "C");
create table ty (y text, z text collate "POSIX");
create index ty1 on ty (y collate "C", z, z collate "default", lower(y) collate "C");
select indexdef from pg_indexes where schemaname='public' order by 1;
select indexrelid::regclass, indcollation from pg_index where indrelid in ('t'::regclass,'ty'::regclass) order by 1;
