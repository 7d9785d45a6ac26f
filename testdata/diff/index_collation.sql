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
-- ON CONFLICT names the key of an index by its collation and operator class.
create table ict(key int4, fruit text);
create unique index on ict(key, fruit collate "C");
insert into ict values (0,'x') on conflict (key, fruit collate "C") do nothing;
insert into ict values (0,'x') on conflict (key, fruit) do nothing;
insert into ict values (0,'x') on conflict (key, fruit collate "C" text_ops) do nothing;
create table icu(key int4, fruit text);
create unique index on icu(key, fruit text_pattern_ops);
insert into icu values (0,'x') on conflict (key, fruit) do nothing;
insert into icu values (0,'x') on conflict (key, fruit text_pattern_ops) do nothing;
insert into icu values (0,'x') on conflict (key, fruit collate "C" text_pattern_ops) do nothing;
create table icv(key int4, fruit text);
create unique index on icv(key, lower(fruit));
insert into icv values (0,'x') on conflict (key, lower(fruit) collate "C") do nothing;
insert into icv values (0,'x') on conflict (lower(fruit), key, key) do nothing;
insert into icv values (0,'x') on conflict (lower(fruit) text_ops, key, key) do nothing;
