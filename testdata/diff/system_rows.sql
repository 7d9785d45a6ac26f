-- The rows of system relations have types, as those of tables do, and
-- information_schema has functions.
select null::pg_am;
select row(1,'a',2,'t')::pg_am;
create function method_name(pg_am) returns name language sql as 'select $1.amname';
select method_name(a) from pg_am a where oid = 403;
select a.method_name from pg_am a where oid = 403;
select (a).amname from (select a from pg_am a where oid = 2) s;
drop function method_name(pg_am);
select (null::information_schema.tables).table_name;
select pg_typeof(t), pg_typeof(array[t]) from information_schema.tables t where table_name = 'pg_am';
select row_to_json(t) from pg_am t where oid = 2;
create view of_rows as select a, a.amname from pg_am a where oid = 403;
select * from of_rows;
drop view of_rows;
create table kept (a pg_am, b information_schema.tables[]);
insert into kept values (row(2, 'x', 3, 't'));
update kept set a.amname = 'y';
select * from kept;
drop table kept;
select typname, typlen, typalign, typinput, typoutput, typsend, typstorage, typrelid::regclass from pg_type where typname in ('tables', '_tables') order by 1;
create domain short as varchar(12);
create table facts (a numeric(10,3), b varchar(7), c short, d interval day to second(2), e timestamp(3), f bit(5), g int, h float4, i text,
  j char, k interval(2), l numeric(3,-2), m interval, n timetz, o date, p numeric, primary key (g, b));
select attname, information_schema._pg_truetypid(a, t)::regtype as type, information_schema._pg_truetypmod(a, t) as mod,
  information_schema._pg_char_max_length(information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)) as length,
  information_schema._pg_char_octet_length(atttypid, atttypmod) as octets, information_schema._pg_numeric_precision(atttypid, atttypmod) as precision,
  information_schema._pg_numeric_precision_radix(atttypid, atttypmod) as radix, information_schema._pg_numeric_scale(atttypid, atttypmod) as scale,
  information_schema._pg_datetime_precision(atttypid, atttypmod) as datetime, information_schema._pg_interval_type(atttypid, atttypmod) as fields,
  information_schema._pg_index_position('facts_pkey'::regclass, attnum) as place
  from pg_attribute a join pg_type t on t.oid = a.atttypid where attrelid = 'facts'::regclass and attnum > 0 order by attnum;
select column_name, numeric_scale, interval_type, datetime_precision from information_schema.columns where table_name = 'facts' order by ordinal_position;
select information_schema._pg_char_max_length(1042, -1), information_schema._pg_char_max_length(1042, null), information_schema._pg_index_position(2662, 1::int2);
drop table facts;
drop domain short;
-- pg_subscription hides one column, and pg_toast is a schema.
create role stranger_to_subscriptions;
set role stranger_to_subscriptions;
select subname from pg_subscription;
select subconninfo from pg_subscription;
select * from pg_subscription;
select has_column_privilege('pg_subscription', 'subname', 'select'), has_column_privilege('pg_subscription', 'subconninfo', 'select'),
  has_table_privilege('pg_subscription', 'select'), has_any_column_privilege('pg_subscription', 'select');
reset role;
drop role stranger_to_subscriptions;
select oid, nspname, nspacl, obj_description(oid, 'pg_namespace') from pg_namespace where nspname = 'pg_toast';
create table pg_toast.x (a int);
create schema pg_toast;
drop schema pg_toast;
select attrelid::regclass, attname, attacl from pg_attribute where attacl is not null order by 1::text, 2;
