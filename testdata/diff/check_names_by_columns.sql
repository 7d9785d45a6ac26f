-- A check that reads one column has its name, whatever it calls.
create function pf(anyelement) returns text immutable language sql as 'select ''poly''';
create function pi(int) returns int immutable language sql as 'select 1';
create table c1(a int, s smallint, b text, v varchar(3), check (pf(a) = 'poly'));
create table c2(a int, s smallint, b text, v varchar(3), check (pi(s) = 1));
create table c3(a int, s smallint, b text, v varchar(3), check (length(v) = 1));
create table c4(a int, s smallint, b text, v varchar(3), check (pi(a) + pi(a) = 2), check (a > 0 and a < 10), check (a > s), check (coalesce(a, 1) > 0), check (v like 'x%'), check (s > 1.5));
create table c5(a int, check (pf(a) is not null), check (abs(a) > 0), check (abs(a::bigint) > 0), check (case when a > 0 then true end));
alter table c5 add check (pf(a) <> 'q');
select conrelid::regclass, conname, conkey from pg_constraint where conrelid in ('c1'::regclass, 'c2'::regclass,'c3'::regclass,'c4'::regclass,'c5'::regclass) order by 1, 2;
create domain dm as int check (pf(value) <> 'q');
select conname from pg_constraint where contypid = 'dm'::regtype;
