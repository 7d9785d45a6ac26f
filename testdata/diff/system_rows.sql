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
-- What information_schema tells of system relations, of routines and of grants.
select constraint_name, constraint_type, nulls_distinct from information_schema.table_constraints where table_name = 'pg_am' order by 1;
select conname, contype, conkey, conindid::regclass from pg_constraint where conrelid = 'pg_proc'::regclass order by 1;
select constraint_name, column_name, ordinal_position from information_schema.key_column_usage where table_name = 'pg_amop' order by 1, 3;
select attname, atttypid::regtype, attlen, attcollation::regcollation, attndims from pg_attribute where attrelid in ('pg_am_name_index'::regclass, 'pg_proc_proname_args_nsp_index'::regclass, 'pg_stat_activity'::regclass) order by attrelid, attnum;
create type around as range (subtype = float8);
select castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod from pg_cast where castsource = 'around'::regtype;
create table keyed (id int, name text, list int[], check (id > 0));
create table keyed_child () inherits (keyed);
alter table keyed alter name set storage external;
create index keyed_hash on keyed using hash (name);
create index keyed_name on keyed (name);
select attrelid::regclass, attname, atttypid::regtype, attstorage from pg_attribute where attrelid in ('keyed_hash'::regclass, 'keyed_name'::regclass) order by 1::text;
select constraint_name, check_clause from information_schema.check_constraints where constraint_name = 'keyed_id_check';
create function told(a int, b text default 'x', variadic c int[] default '{}') returns table (q int[], r text) language sql security definer as 'select array[1], $2';
create procedure untold(a int) language sql as 'select 2';
create aggregate summed(int) (sfunc = int4pl, stype = int, initcond = '0');
select parameter_name, parameter_mode, data_type, parameter_default from information_schema.parameters where specific_name ~ '^told_' order by ordinal_position;
select routine_name, routine_type, data_type, routine_body, routine_definition, external_language, is_deterministic, security_type
  from information_schema.routines where routine_name in ('told', 'untold', 'summed', 'around', 'abs', 'count', 'array_agg', 'age', '_pg_index_position') order by 1, 3, 4, 5;
select object_type, collection_type_identifier, data_type, dtd_identifier from information_schema.element_types where object_name ~ '^(told_|keyed$)' order by 1, 2;
create domain narrow as int check (value < 10);
select udt_name, domain_name from information_schema.domain_udt_usage order by 2;
select object_type, dtd_identifier from information_schema.data_type_privileges where object_name in ('keyed', 'narrow') order by 1, 2;
create role grantee_of_all;
grant select (id), update on keyed to grantee_of_all;
grant select on keyed to public;
select grantor, grantee, privilege_type, is_grantable, with_hierarchy from information_schema.role_table_grants where table_name = 'keyed' order by 2, 3;
select grantee, column_name, privilege_type from information_schema.role_column_grants where table_name = 'keyed' order by 1, 2, 3;
select grantee, routine_name, privilege_type from information_schema.routine_privileges where routine_name in ('told', 'upper') and grantee <> 'x' order by 1, 2, specific_name;
select grantee, udt_name, is_grantable from information_schema.udt_privileges where udt_name in ('keyed', 'pg_am') order by 1, 2;
select grantee, object_name, object_type from information_schema.role_usage_grants where object_name in ('C', 'narrow', 'yes_or_no') order by 2, 1;
set role grantee_of_all;
select grantor, grantee, privilege_type from information_schema.role_table_grants where table_name = 'keyed' order by 2, 3;
select grantor, grantee, privilege_type from information_schema.table_privileges where table_name = 'keyed' order by 2, 3;
select count(*) from information_schema.transforms;
select count(*) > 100 from pg_catalog.pg_class;
select pg_catalog.upper('x'), 'a'::pg_catalog.text;
select has_schema_privilege('pg_catalog', 'usage'), has_schema_privilege('information_schema', 'usage'), has_schema_privilege('pg_toast', 'usage'),
  has_schema_privilege('pg_catalog', 'create');
reset role;
drop table keyed cascade;
drop role grantee_of_all;
drop domain narrow;
drop function told;
drop procedure untold;
drop aggregate summed(int);
drop type around;

-- Every system relation has its row type, as tools that follow the references expect.
select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('pg_catalog', 'information_schema') and c.relkind in ('r', 'v')
and not exists (select from pg_type t where t.oid = c.reltype and t.typrelid = c.oid and t.typname = c.relname);
