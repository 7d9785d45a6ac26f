-- What the bodies of functions that are analysed use: tables, their columns, sequences and other routines.
create table ru_t (a int, b int, c int);
create view ru_v as select a, b from ru_t;
create sequence ru_s;
create function ru_f1(x int) returns void language sql begin atomic insert into ru_t (a) values (x); update ru_t set b = 1 where a = x; delete from ru_t where a = 5 and b > x; end;
create function ru_f2(x int) returns setof ru_t language sql begin atomic insert into ru_t values (x, 1, 2) returning *; end;
create function ru_f3() returns int language sql begin atomic update ru_t set a = s.a from ru_v s where ru_t.b = s.b returning ru_t.a; end;
create procedure ru_p(x int) language sql begin atomic insert into ru_t values (x, 2); end;
create function ru_f4(x int default nextval('ru_s')) returns bigint language sql return (select count(*) from ru_v);
create function ru_f5(x int) returns bigint language sql as 'select count(*) from ru_t';
select routine_schema, routine_name, table_schema, table_name, column_name from information_schema.routine_column_usage where routine_name like 'ru%' order by 2, 4, 5;
select specific_name like routine_name || '\_%', routine_name, table_name from information_schema.routine_table_usage where routine_name like 'ru%' order by 2, 3;
select routine_name, sequence_name from information_schema.routine_sequence_usage where routine_name like 'ru%' order by 1, 2;
select objid::regproc::text, refobjid::regclass::text, refobjsubid, deptype from pg_depend where classid = 'pg_proc'::regclass and refclassid = 'pg_class'::regclass and refobjid in ('ru_t'::regclass, 'ru_v'::regclass, 'ru_s'::regclass) order by 1, 2, 3;
drop table ru_t cascade;
drop sequence ru_s cascade;
drop function ru_f5;
