-- Rows that every database has: text search, plpgsql, the rules of system views, what they need, TOAST tables, triggers of foreign keys.
select * from pg_ts_config order by oid;
select mapcfg::oid, maptokentype, mapseqno, mapdict::oid from pg_ts_config_map order by 1, 2;
select * from pg_ts_dict order by oid;
select * from pg_ts_parser;
select * from pg_ts_template order by oid;
select pg_ts_config_is_visible(3748), pg_ts_dict_is_visible(3765), pg_ts_parser_is_visible(3722), pg_ts_template_is_visible(3727), pg_ts_config_is_visible(1);
select oid, extname, extowner, extnamespace, extrelocatable, extversion, extconfig, extcondition from pg_extension where extname = 'plpgsql';
select * from pg_available_extensions where name = 'plpgsql';
select * from pg_available_extension_versions where name = 'plpgsql';
create extension plpgsql;
create extension if not exists plpgsql;
alter extension plpgsql update;
alter extension plpgsql update to '2';
alter extension plpgsql set schema public;
select oid, rulename, ev_class, ev_type, ev_enabled, is_instead from pg_rewrite where oid < 16384 order by 1;
select * from pg_depend where objid < 16384 order by 1, 2, 3, 4, 5, 6, 7;
select oid, proname, proacl from pg_proc where proacl is not null and oid < 16384 order by 1;
select has_function_privilege('pg_monitor', 'pg_ls_waldir()', 'execute'), has_function_privilege('pg_checkpoint', 'pg_stat_reset()', 'execute'),
  has_function_privilege('pg_checkpoint', 'now()', 'execute');
select oid, relname, relacl, reltoastrelid from pg_class where oid < 16384 order by 1;
select classoid, objoid, objsubid, privtype, initprivs from pg_init_privs where objoid <> 'public'::regnamespace order by 1, 2, 3;
select initprivs from pg_init_privs where objoid = 'public'::regnamespace;
select amname from pg_am order by 1;
select * from pg_attribute where attrelid in (2836, 2837) order by attrelid, attnum;
select * from pg_index where indrelid = 2836;
select '2836'::regclass, 'pg_toast.pg_toast_1255'::regclass::oid, 'pg_toast.pg_toast_1255_index'::regclass::oid, pg_total_relation_size(2836) >= 0;
create schema sr; set search_path = sr;
create table p (a int primary key, b text unique, c numeric(10, 2));
create table q (a int references p deferrable initially deferred, b text references p (b) on delete cascade on update set null, c int, check (c > 0));
create table r (a int, b varchar(400), c char(20));
create table s (a varchar(600), b point, c int[], d numeric);
create table t (a bit(20000), b name);
create table u (a int, b varchar(490), c int);
create materialized view mv as select b from p;
create view v as select a from q;
select c.relname, t.relname = 'pg_toast_' || c.oid, t.relkind, t.relpersistence, i.relname = t.relname || '_index', i.relkind, x.indkey, x.indisprimary
  from pg_class c left join pg_class t on t.oid = c.reltoastrelid left join pg_index x on x.indrelid = t.oid left join pg_class i on i.oid = x.indexrelid
  where c.relnamespace = 'sr'::regnamespace and c.relkind in ('r', 'm', 'v') order by 1;
select attname, atttypid::regtype, attnum, attstorage from pg_attribute a join pg_class c on attrelid = reltoastrelid where c.oid = 'p'::regclass order by attnum;
select regexp_replace(tgname, '\d+', 'N'), tgrelid::regclass, tgfoid::regproc, tgtype, tgenabled, tgisinternal, tgconstrrelid::regclass, tgconstrindid::regclass,
  (select conname from pg_constraint where oid = tgconstraint), tgdeferrable, tginitdeferred, tgnargs, tgattr, tgargs, tgqual, tgoldtable, tgnewtable
  from pg_trigger where tgrelid in ('p'::regclass, 'q'::regclass) order by tgconstraint, tgfoid;
select regexp_replace(pg_get_triggerdef(oid), '\d+', 'N'), regexp_replace(pg_get_triggerdef(oid, true), '\d+', 'N') from pg_trigger
  where tgrelid in ('p'::regclass, 'q'::regclass) order by tgconstraint, tgfoid;
select regexp_replace(pg_describe_object(classid, objid, objsubid), '\d+', 'N'), regexp_replace(pg_describe_object(refclassid, refobjid, refobjsubid), '\d+', 'N'), deptype
  from pg_depend where objid >= 16384 and classid in (1259, 2620) and (objid in (select oid from pg_trigger where tgrelid in ('p'::regclass, 'q'::regclass))
  or objid in (select reltoastrelid from pg_class where relnamespace = 'sr'::regnamespace)) order by 1, 2;
select pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype from pg_depend
  where objid < 16384 and classid not in (1247, 2606) order by classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype;
select i.* from (values (3602, 3748), (3600, 13151), (3601, 3722), (3764, 3727), (3079, 13559), (3602, 1), (3079, 1), (2620, 1), (1259, 2836), (1259, 2837)) v (c, o),
  pg_identify_object(c, o, 0) i;
select i.* from (values (3602, 3748), (3600, 13151), (3601, 3722), (3764, 3727), (3079, 13559), (1259, 2836)) v (c, o), pg_identify_object_as_address(c, o, 0) i;
select * from pg_get_object_address('text search parser', '{default}', '{}');
select * from pg_get_object_address('text search dictionary', '{pg_catalog,english_stem}', '{}');
select * from pg_get_object_address('extension', '{plpgsql}', '{}');
select * from pg_get_object_address('rule', '{pg_settings,pg_settings_u}', '{}');
drop schema sr cascade;
create schema su; set search_path = su;
create table t (a int primary key, b int, g int generated always as (a + b) stored);
create view v as select a, upper(b::text) from t; create materialized view mv as select b from t;
select view_schema, view_name, table_schema, table_name from information_schema.view_table_usage order by 1, 2, 3, 4;
select view_schema, view_name, table_schema, table_name, column_name from information_schema.view_column_usage order by 1, 2, 3, 4, 5;
select table_name, specific_name from information_schema.view_routine_usage order by 1, 2;
select routine_name, specific_name from information_schema.routine_routine_usage order by 1, 2;
select table_name, column_name, dependent_column from information_schema.column_column_usage where table_schema = 'su' order by 2, 3;
select constraint_name, domain_name, is_deferrable from information_schema.domain_constraints where domain_schema = 'information_schema' order by constraint_name;
select constraint_name, check_clause from information_schema.check_constraints where constraint_schema = 'information_schema' order by constraint_name;
select * from pg_rules; select pg_get_ruledef(12108, true), pg_get_ruledef(12109, true);
select tablename, tablespace from pg_indexes where schemaname = 'pg_catalog' and tablespace is not null order by 1, 2;
drop schema su cascade;
