# Scripts that PostgreSQL 15's grammar accepts, one a line.
select a, b.c as x from t left join b on t.x = b.y where a > 1 and b < 2 or c group by 1,2 having count(*) > 1 order by 1 limit 10
select * from a join b join c on c.x=b.x on a.x=b.x cross join d natural full join e
select * from a join b cross join c on true
select * from a left join b left join c on x on y, d right join e using (z) as q
select from t where x
select a from (t join u on x) k
select a from ((t join u on x))
select a from ((t join u on x) as z join v on w)
select a from ((select 1) x join y using (a))
select a from (((select 1)) x join y using (a) ) as z
select a from ((select 1) union (select 2)) x
select ((select 1) + 1), ((select 1) union select 2)
select (((select 1)))
select ((select 1)).x, ((select 1), 2), (((select 1)) + 2)
select
select distinct on (a) b from t
select all a from t
select 1 as from
select a b, c d from t e, f
select a.b.c.d.e from x
select a[1][2:3].x[:], $1[1].y, (a).b.*, (a).*, x.* from t
select (row(1,2)).f1
select a is null is null, a is distinct from b, a isnull notnull
select a between symmetric b and c and d, a not between asymmetric 1 and 2
select a between 1 and 2 or b, a between (b and c) and d
select a like b escape c, a not ilike b, a similar to b, a not similar to b escape c
select not a = b, not not a, not a is null
select - - 1, -a ^ b, - 1::int, +1, @ -1, ~ 1 + 2, !! 3 || 4
select 1 + + 2, 1 - - 2, 1 * @ 2 + 3
select a operator(pg_catalog.+) b, operator(-) a, a operator(x.y.=) any (b)
select a collate "C" || b collate x.y, a at time zone 'utc' at time zone b
select a || b collate "C" collate d
select date '2020-01-01', timestamp(3) with time zone 'x', time without time zone 'y', interval '1' day, interval(3) '1', interval '1' second(3), interval '1' day to second(2)
select timestamp from t
select time, date, interval, char, row from t
select trim(a), trim(both from a), trim(leading 'x' from a), trim(trailing from a, b), trim(a, b), trim('x' from a), trim(both a)
select sum(a) over (), sum(a) over (partition by a, b order by c rows 1 preceding), sum(a) over (w rows between unbounded preceding and 1 following exclude ties), sum(a) over (order by a range between '1' preceding and current row exclude no others), sum(a) over (groups unbounded preceding)
select a from t window w as (partition by x), v as (w order by y)
select a from t group by (), a, rollup(a,(b,c)), cube(a), grouping sets ((), (a), rollup(b), grouping sets(a))
select a from t group by all a
select a from t order by a asc nulls last, b desc, c using operator(pg_catalog.<), d limit 1 offset 2
select a from t limit all offset 1 rows
select a from t offset 1 row fetch first row only
select a from t order by a fetch first (1+2) rows with ties
select a from t limit 1 for update
select a from t for update limit 1
select a from t for update of a, b nowait for share skip locked for no key update for key share
select a from t for read only
(select a from t order by 1) limit 2
select 1 union select 2 intersect select 3 except all select 4 order by 1
select 1 union all (select 2 order by 1) union distinct values (1) 
values (1), (2,3), (default)
table t union table only u order by 1
table t.x.y*
select * from only t, only (u), v*, w as x(a,b), y z(a), z as q
select * from t tablesample system (10) repeatable (1) where x
select * from t x tablesample foo.bar (1,2)
select * from rows from (f(1), g(2) as (a int)) with ordinality as x(a,b)
select * from a, lateral rows from (f(1)) x
select * from current_date, current_user as x, coalesce(1,2) y, cast(1 as int) z
select * from left(1,2), generate_series(1,2) left join x on y
select a into t from b
select a into temp table t from b
select a into strict from b
with x(a,b) as materialized (select 1), y as not materialized (insert into t values (1) returning a) select 1
with x as (select 1) insert into t select 2
with x as (select 1) update t set a = 1
with x as (select 1) delete from t
insert into t (a,b[1],c.d) values (1, 'x', default), (2, default, 3) on conflict (a, lower(b), (c+1) collate "C" text_ops) where x do update set b = excluded.b, (c,d) = (1,2), (e) = row(1) where t.a > 1 returning *, a as b, c d
insert into t default values returning a
insert into t as x select 1
insert into t overriding system value values (1)
insert into t (a) overriding user value select 1 on conflict do nothing
insert into t (select 1)
insert into t ((select 1))
insert into t values (1) on conflict on constraint x do nothing
insert into t values (1) on conflict do update set a = 1
insert into t (a) with x as (select 1) select * from x order by 1 limit 1
insert into t table u
update t set a=1, (b,c) = (select 1,2), d[1] = 2, e.f = default from x, y join z on true where y returning z
update only t as x set a = 1
update t x set a = 1 where current of c returning *
update t set set = 1
update t as set set a = 1
update t set (a, b) = 1
delete from only t as q using u, v join w on x where a = b returning q.*
delete from t * where current of x
merge into t as x using u on x.a = u.a when matched and x.b then update set a = 1, (b,c) = (1,2) when matched then delete when not matched and u.c then insert (a,b) values (1,default) when not matched then do nothing
merge into t using (select 1) x on true when not matched then insert default values
merge into t using u on true when not matched then insert (a) overriding user value values (1)
select E'\'x', e'\x41\101\u0041\U00000041', U&'\0041', U&'d!0061' uescape '!', N'x', B'01', X'1f', b'2'
select U&"\0041" uescape '!', U&"d!0061" uescape '!'
select E'\ud83d\ude00'
select .5, 5., 1e5, 1e-5, 1.e5
select a . b
select a, * , b.* from t
select ((a, b)).c
select (select 1).x
select (select 1)[1]
select /* a /* b */ c */ 1 -- x
select a<>b, a!=b, a<=b, a>=b, a=-1, a*-1, a->'b'->>'c', a#>>'{x}', a@>b, a<@b, a?b, a?|b, a&&b, a||-1, a~*b, a!~~b, a|/b
select 1 +-+ 2
select interval '1 day' + now(), now() - interval '2' hour
select case when 1 then 2 else 3 end case
select all
select a all
select true is null and false is not null or null is null
select if(a), if from t
select coalesce from t
select a.coalesce(1), x.left(1), a.select
select "a"."b"."c", "A b", "a""b"
select 1 where exists (select from t) and not exists (select) 
select a from b union select
select a from b intersect all select c from d except distinct select e
;;select 1;;
select 1;; select 2
select $1, $2::int, $1[1], $0
select a from t having b
select a from t left outer join u on a right outer join v on b full outer join w on c
select count(*) from (select 1) as x (a, b)
select * from (a join b on c) as x(y,z) join d using (y)
select * from ((a cross join b) cross join (c cross join d))
select * from (((a join b on c)))
select * from a where b = any('{1,2}'::int[]) and c = all(array[1,2])
select a.b.c(1,2), a.b[1].c
select -a.b, - a[1]::int
select cast(1 as varchar(10)), cast(1 as x.y), 1::char, 1::"char", 1::bit(3), 1::timestamptz(3), 1::time(3) with time zone, 1::national char(3), 1::dec(3,2)
select 1::int[3][], 1::int array, 1::int array[3]
select 1::setof int
create table t (a int, b varchar(10) not null default 'x' collate "C" unique, c serial primary key, constraint k check (a > 1) no inherit, unique (a,b) include (c) with (fillfactor=70) using index tablespace x, primary key (a), foreign key (a,b) references u (c,d) match full on delete set null (a) on update cascade deferrable initially deferred, like v including all excluding defaults, exclude using gist (a with =, b with operator(pg_catalog.&&)) where (a > 1))
create table if not exists a.b.c (x int generated always as identity (start with 1 increment by 2 no cycle), y int generated by default as identity, z int generated always as (x+1) stored)
create temp table t (a int) on commit delete rows
create temporary table t (a int) on commit preserve rows
create local temp table t (a int) on commit drop
create unlogged table t ()
create table t () inherits (a, b) partition by range (a, b) using heap with (fillfactor = 70, toast.autovacuum_enabled = false, user_catalog_table) tablespace x
create table t (a int) without oids
create table t of x
create table t of x (a with options not null, primary key (a))
create table t partition of u for values from (1) to (2)
create table t partition of u (a not null) default partition by list (b)
create table t as select 1
create table t (a,b) as select 1,2 with no data
create table t (a) with (fillfactor=1) on commit drop tablespace x as values (1) with data
create table t as execute p(1,2)
create table t as table u
create table t (a int constraint x not null null constraint y default 1)
create table t (a int default 1 + 2 * 3 not null)
create table t (a int default (a and b))
create table t (a int default 'x'::text collate "C" check (a ~ 'b'))
create table t (a int references u deferrable initially immediate)
create table t (a int unique deferrable not null)
create table t (check (a) not valid)
create table t (a text compression lz4)
create table t (a text compression default not null)
create table t (unique nulls not distinct (a))
create table t (a int unique nulls distinct)
create table t (a int primary key using index tablespace x)
create table t (a setof int)
create table t ("A b" "my type", c x.y(1)[])
create table t (a double precision, b character varying, c timestamp with time zone, d interval day to second(3), e bit varying(3), f time (3) without time zone, g national character (3))
create unique index concurrently if not exists i on only t using gin (a, lower(b) text_pattern_ops, (c+1) collate "C" x.y asc nulls first, d desc) include (e,f) nulls not distinct with (fillfactor = 70) tablespace x where a > 1
create index on t (a)
create or replace temp recursive view v (a) with (security_barrier) as select 1 with local check option
create view v as select 1 with cascaded check option
create view v as select 1 with check option
create view v as (select 1)
create or replace view a.b as with x as (select 1) select * from x union values (2) order by 1
create materialized view if not exists v (a,b) with (x=1) as select 1 with no data
create sequence if not exists s as bigint increment by -1 minvalue 1 maxvalue 10 start 5 cache 3 cycle owned by a.b.c
create temp sequence s no minvalue no maxvalue no cycle restart restart with 5 owned by none
create schema s
create schema if not exists s authorization x
create schema authorization current_user create table t (a int) create view v as select 1 grant select on t to x
create database d with owner = x template template0 encoding 'utf8' connection limit 5 lc_collate='C' is_template true
create database d owner default
create type t as enum ()
create type t as enum ('a','b')
create type t as (a int, b text collate "C")
create type t as ()
create type t as range (subtype = int4, subtype_diff = x)
create type t (input = a, output = b, internallength = variable, passedbyvalue)
create type t
create domain d as int default 1 not null check (value > 0) constraint x null collate "C"
create domain d text
create or replace function f(a int, out b text, inout c int default 1, variadic d int[], in e x.y = 5, int, g in int) returns setof record language sql immutable strict security definer cost 10 rows 5 parallel safe set search_path = a, b set x from current leakproof as $$select 1$$
create function f() returns table (a int, b text) as 'a', 'b' language 'c' called on null input not leakproof external security invoker support x.y window
create function f() returns int return 1 + 2
create function f() returns int language sql begin atomic select 1; select 2; end
create function f() returns int begin atomic end
create function f(a t.b%type) returns setof x.y%type language sql as ''
create function f(double precision, a double precision, b timestamp with time zone) returns trigger as ''
create procedure p(a int) language sql as 'x'
create or replace procedure p(inout a int) begin atomic insert into t values (a); end
create function f(int) as 'x'
create function x.f(a int default 1 + 2, b text = 'x') returns void as 'x'
create role r with login superuser nocreatedb password 'x' valid until 'y' connection limit 5 in role a, b role c admin d sysid 5 inherit noinherit
create user u encrypted password 'x' in group g user a
create user u password null
create group g
create extension if not exists "uuid-ossp" with schema public version '1.0' cascade
create trigger t before insert on x for each row execute function f()
create or replace trigger t after update of a,b or delete on x referencing old table as o for each statement when (a.b > 1) execute procedure f('a',1)
create constraint trigger t after insert on x deferrable for each row execute function f()
create rule r as on insert to t do instead (select 1; select 2)
create or replace rule r as on update to t where a do also nothing
create policy p on t for select to x using (a) with check (b)
create aggregate a (int) (sfunc = x, stype = y)
create operator + (leftarg = int, procedure = f)
create operator class c default for type int using btree as operator 1 <, function 1 f(int)
create cast (int as text) with function f(int) as implicit
create collation c (locale = 'x')
create collation c from "C"
create conversion c for 'a' to 'b' from f
create foreign table t (a int) server s
create foreign data wrapper w
create server s foreign data wrapper w options (a 'b')
create user mapping for u server s
create tablespace t location '/x'
create event trigger e on x execute function f()
create language l
create trusted language l handler h
create publication p for all tables
create subscription s connection 'x' publication p
create statistics s (ndistinct) on a, b from t
create text search configuration c (parser = x)
create text search dictionary d (template = x)
create transform for int language sql (from sql with function f(int))
create access method a type index handler h
drop table if exists a, b.c cascade
drop table a restrict
drop index concurrently if exists i
drop view v; drop materialized view if exists v; drop sequence s; drop schema s, t cascade; drop type t; drop domain d; drop extension e
drop function f(a int, b text), g
drop procedure p(int); drop routine r; drop aggregate a(int), b(*)
drop role if exists a, b; drop user u; drop group g
drop database if exists d with (force)
drop database d (force, force)
drop trigger t on x; drop rule r on t cascade; drop policy p on t; drop owned by x; drop cast (int as text); drop operator + (int, int); drop language l; drop server s; drop user mapping for u server s; drop tablespace t; drop publication p; drop statistics s; drop collation c; drop event trigger e; drop foreign table t; drop text search parser p; drop access method m; drop transform for int language sql; drop operator class c using btree; drop conversion c; drop subscription s
truncate a, only b, c* restart identity cascade; truncate table a continue identity restrict
alter table t alter a set default 1 and 2, alter column b drop default, alter c set not null, alter d drop not null, alter e set statistics 100, alter f set (n_distinct = 5), alter g reset (n_distinct), alter h set storage plain, alter i set compression pglz, alter 1 set statistics -1
alter table t alter a add generated always as identity (start 1), alter b set generated by default set increment 5 restart with 3, alter c drop identity if exists, alter d drop expression, alter e set data type text collate "C" using e::text || 'x', alter f type int
alter table t alter constraint c deferrable initially deferred, validate constraint d
alter table t owner to current_user, cluster on i, set without cluster, set without oids, set logged, set unlogged, set tablespace x, set access method heap, set (fillfactor = 7), reset (fillfactor, a.b)
alter table t enable trigger all, disable trigger x, enable always trigger y, enable replica rule z, disable rule a, enable row level security, no force row level security, force row level security, inherit p, no inherit q, of x, not of, replica identity using index i, replica identity full
alter table t attach partition u for values in (1, 2)
alter table t detach partition u concurrently
alter table t rename to u
alter table t rename a to b
alter table t rename column a to b
alter table t rename constraint a to b
alter table t set schema s
alter table all in tablespace x set tablespace y
alter index i rename to j; alter index i set (fillfactor=1); alter index i set tablespace x; alter index if exists i reset (a); alter index i attach partition j; alter index i alter column 1 set statistics 5
alter view if exists v alter column a set default 1; alter view v rename to w; alter view v owner to x; alter view v set schema s; alter view v set (security_barrier); alter view v rename column a to b
alter materialized view v rename to w; alter materialized view v set schema s; alter materialized view v cluster on i; alter materialized view v depends on extension e; alter materialized view v no depends on extension e
alter sequence if exists s increment 5 restart; alter sequence s owner to x; alter sequence s rename to t; alter sequence s set schema x; alter sequence s owned by none; alter sequence s set logged
alter schema s rename to t; alter schema s owner to x
alter database d rename to e; alter database d owner to session_user; alter database d set tablespace x; alter database d set a to 1; alter database d reset all; alter database d with connection limit 5 is_template false; alter database d refresh collation version; alter database d set timezone from current
alter type t add value if not exists 'a' before 'b'; alter type t add value 'a' after 'b'; alter type t rename value 'a' to 'b'; alter type t rename to u; alter type t owner to x; alter type t set schema s; alter type t add attribute a int cascade, drop attribute b, alter attribute c type text; alter type t rename attribute a to b cascade; alter type t set (receive = f)
alter domain d set default 1; alter domain d drop default; alter domain d set not null; alter domain d drop not null; alter domain d add constraint c check (value > 1) not valid; alter domain d drop constraint if exists c cascade; alter domain d validate constraint c; alter domain d rename constraint a to b; alter domain d rename to e; alter domain d owner to x; alter domain d set schema s
alter function f(int) rename to g; alter function f owner to x; alter function f(a int) set schema s; alter function f(int) immutable strict cost 5 restrict; alter procedure p(int) set a = 1; alter routine r reset all; alter function f depends on extension e; alter aggregate a(int) rename to b
alter role r with login nosuperuser password 'x'; alter role r set a = 1; alter role all set a to default; alter role r in database d set a = 1; alter role r reset a; alter role r rename to s; alter user u in database d reset all; alter role current_user nologin; alter group g add user a, b; alter group g drop user a; alter group g rename to h
alter role r
alter extension e update; alter extension e update to '1.1'; alter extension e set schema s; alter extension e add table t; alter extension e drop function f(int)
alter default privileges in schema s grant select on tables to x; alter system set a = 1; alter trigger t on x rename to y; alter policy p on t to x; alter rule r on t rename to s; alter server s version 'x'; alter publication p add table t; alter operator + (int,int) owner to x; alter language l rename to m; alter collation c rename to d; alter foreign table t add column a int; alter event trigger e disable; alter tablespace t rename to u; alter statistics s rename to t; alter text search configuration c rename to d; alter large object 1 owner to x; alter user mapping for x server s options (set a 'b'); alter subscription s disable; alter foreign data wrapper w no handler; alter operator family f using btree rename to g; alter conversion c rename to d
begin; begin work; begin transaction isolation level read committed, read write, not deferrable; begin isolation level repeatable read read only deferrable; start transaction; start transaction isolation level serializable; commit; commit work and chain; commit transaction and no chain; end; rollback; abort and chain; savepoint a; release a; release savepoint a; rollback to a; rollback work to savepoint a; prepare transaction 'x'; commit prepared 'x'; rollback prepared 'x'
set a = 1; set a.b to 'x', y, 1.5, -2, on, true, false; set local a to default; set session a = off; set time zone 'utc'; set time zone local; set time zone default; set time zone interval '1' hour to minute; set time zone -5; set time zone pst8; set names 'utf8'; set names; set names default; set schema 'x'; set role none; set role 'x'; set session authorization x; set session authorization default; set local role r; set xml option content; set transaction isolation level serializable, read only; set transaction snapshot 'x'; set session characteristics as transaction read only; set constraints all deferred; set constraints a, b.c immediate; set local transaction read only; set a from current; set session time zone 'x'
reset a; reset all; reset time zone; reset session authorization; reset transaction isolation level; reset a.b
show a; show all; show time zone; show transaction isolation level; show session authorization; show a.b
discard all; discard plans; discard sequences; discard temp; discard temporary
prepare p as select $1; prepare p(int, text) as insert into t values ($1, $2); prepare p as values (1); prepare p as with x as (select 1) select 1
execute p; execute p(1, 'x', $1); deallocate p; deallocate prepare p; deallocate all; deallocate prepare all; deallocate prepare
declare c cursor for select 1; declare c binary insensitive no scroll cursor with hold for select 1 for update; declare c scroll cursor without hold for values (1); declare c asensitive cursor for (select 1)
fetch c; fetch next from c; fetch prior in c; fetch first c; fetch last from c; fetch absolute -5 from c; fetch relative 1 c; fetch 5 from c; fetch -5 c; fetch all from c; fetch forward c; fetch forward 5 in c; fetch forward all from c; fetch backward c; fetch backward 3 from c; fetch backward all c; move 5 from c; move c; fetch next; fetch from c; move forward all in c; fetch in c; fetch forward
close c; close all; listen a; unlisten a; unlisten *; notify a; notify a, 'b'
lock t; lock table a, only b in access share mode; lock table t in row exclusive mode nowait; lock t in share update exclusive mode; lock t in share row exclusive mode; lock t in share mode; lock t in exclusive mode; lock t in row share mode nowait; lock t in access exclusive mode
do 'x'; do language plpgsql $$begin end$$; do $$x$$ language 'sql'
call p(); call a.b(1, x => 2, variadic z => y); call p(distinct 1)
explain select 1; explain analyze select 1; explain verbose insert into t values (1); explain analyze verbose update t set a = 1; explain (analyze, verbose off, format json, costs 1, settings) delete from t; explain (analyze true) with x as (select 1) select 1; explain execute p; explain declare c cursor for select 1; explain create table t as select 1; explain create materialized view v as select 1; explain refresh materialized view v; explain (select 1); explain ((select 1)); explain (values (1))
copy t from stdin; copy t(a,b) to stdout; copy t from '/x' csv header; copy t to program 'x' with (format csv, header true, delimiter ',', null '', quote '"', escape '\', force_quote (a,b), force_quote *, force_not_null (a), encoding 'utf8', freeze); copy binary t from stdin; copy t from stdin binary; copy t from stdin with binary; copy t to stdout with delimiter as '|' null as '' csv header quote as '"' escape 'x' force quote a, b; copy t from stdin csv force not null a, b force null c encoding 'x' freeze; copy (select 1) to stdout; copy (insert into t values (1) returning a) to stdout (format binary); copy (with x as (select 1) select * from x) to '/x' csv; copy t from stdin using delimiters ','; copy t from stdin delimiters ',' ; copy t from stdin where a > 1; copy t from stdin (format text) where b; copy a.b.c from stdout; copy t to stdin; copy t from stdin csv force quote *; copy t from stdin with (header match)
copy t from stdin (format)
grant select, insert (a,b), update on t, u to x, public with grant option; grant all on table t to group g; grant all privileges (a) on t to x; grant usage on schema s to current_user; grant all on all tables in schema s, t to x; grant execute on function f(int), g to x; grant execute on all functions in schema s to x; grant connect on database d to x granted by y; grant usage on sequence s to x; grant usage on type t to x; grant usage on domain d to x; grant usage on language l to x; grant create on tablespace t to x; grant usage on foreign data wrapper w to x; grant usage on foreign server s to x; grant execute on procedure p to x; grant execute on routine r to x; grant a, b to c, d with admin option; grant a to b granted by c; revoke select on t from x cascade; revoke grant option for all on t from x restrict; revoke a from b; revoke admin option for a from b cascade; grant all on all sequences in schema s to x; grant truncate, trigger, references, create, temp, temporary on t to x
comment on table t is 'x'; comment on column a.b.c.d is null; comment on index i is 'x'; comment on schema s is 'x'; comment on function f(int) is 'x'; comment on constraint c on t is 'x'; comment on constraint c on domain d is 'x'; comment on trigger t on x is 'y'; comment on extension e is 'x'; comment on database d is 'x'; comment on role r is 'x'; comment on type x.t is 'x'; comment on domain d is 'x'; comment on materialized view v is 'x'; comment on view v is 'x'; comment on sequence s is 'x'; comment on rule r on t is 'x'; comment on policy p on t is 'x'; comment on aggregate a(*) is 'x'; comment on operator + (int,int) is 'x'; comment on cast (int as text) is 'x'; comment on large object 1 is 'x'; comment on procedure p is 'x'; comment on language l is 'x'; comment on collation c is 'x'; comment on access method m is 'x'; comment on event trigger e is 'x'; comment on tablespace t is 'x'
vacuum; vacuum t; vacuum full freeze verbose analyze t(a,b), u; vacuum (full, analyze off, parallel 2) t; analyze; analyze verbose t; analyze (verbose, skip_locked) t (a); analyse t; vacuum analyze; vacuum verbose t; vacuum full
reindex table t; reindex index concurrently i; reindex (verbose) schema s; reindex database d; reindex system d; reindex (tablespace x, verbose) table t
cluster; cluster t; cluster t using i; cluster verbose t; cluster i on t; cluster (verbose) t; cluster verbose
checkpoint; load 'x'; reassign owned by a to b; security label on table t is 'x'; import foreign schema s from server t into u; refresh materialized view concurrently v; refresh materialized view v with no data; refresh materialized view v with data
select u&"d\0061t\+000061" from "t é"
select * from t where a ilike any (array['x']) and b not ilike all ('{}') 
select * from t where (a, b) in ((1,2),(3,4)) and (a,b) < (select 1,2) and row(a) = row(1)
select * from t where a = any (array(select 1)) or b = all ((select array[1]))
select * from t where x = any ((select y from z)::int[])
select * from t where exists ((select 1)) and not exists (values (1))
select ('x'::text).y, (x.y).z[1], ($1).x, (f(x)).*, ((f(x)).a).b
select * from (select * from (values (1,2),(3,4)) v(a,b)) w where w.a in (select a from t)
select distinct on (a, b) a, b, c from t order by a, b, c desc nulls last
select case a when 1 then 'x' when 2 then 'y' else 'z' end from t
select count(distinct a), count(all a), array_agg(a order by b desc, c), string_agg(distinct a, ',' order by a)
select rank() over w, lag(a, 1, 0) over (w order by b), first_value(a) over (partition by b order by c range between unbounded preceding and unbounded following) from t window w as (partition by d)
select a from t tablesample bernoulli(1.5)
select * from unnest(array[1,2], array[3,4]) with ordinality as u(a,b,o)
select * from json_to_recordset('[]') as x(a int, b text)
select * from t1, lateral (select * from t2 where t2.a = t1.a limit 1) x
select * from t1 left join lateral f(t1.a) as x on true
select '2020-01-01'::date + interval '1 month' - '1 day'::interval
select extract(epoch from now() - interval '1' day)::int, date_part('year', now())
select a #- '{x}', a @? '$.x', a @@ '$.x', a ?& array['x'], a <-> b, a <=> b, a >> 1, a << 2, a & b | c # d, ~a
select a !~ 'x', a !~* 'x', a ~~ 'x', a !~~* 'x', a ^@ 'x', a *<= b, a &&& b
select 1;;; select 2; 
select t.user, t.order, t.select, t.table from t
select a as user, b as order, c as select from t
select a value, b name, c type from t
select 1 as "x y", 2 "z"
select * from user
select * from "user" u
create table t (name text, value text, key text, type text, date date, time time, timestamp timestamp, text text, year int, index int, "user" text, status text)
create table t (int int)
create table t (interval interval, char char, bit bit, values int, setof int, row int)
insert into t (name, value, key) values ('a', 'b', 'c')
update t set name = 'a', value = 'b', key = default
alter table t add column value int, add key text, drop column name
create index on t ((a->>'x'), lower(b), (b || c)) where b is not null and c = 'x'
create index name on t using btree (a varchar_pattern_ops, b int4_ops desc nulls last)
create view v(a, b) as values (1, 2)
create or replace view v as select * from t where a in (1,2) limit 5
create table t as (select 1) with no data
create table t (a int primary key, b int references u, c int references u (a) on delete set default on update no action, constraint fk foreign key (a) references u)
create table t (a timestamp default current_timestamp, b text default 'x' || 'y', c int default -1, d int[] default '{}', e jsonb default '{}'::jsonb not null, f bool default false)
create table t (a int default (1), b int check (b > 0 and b < 10) default 5 null)
create function add(a integer, b integer) returns integer as 'select $1 + $2;' language sql immutable returns null on null input
create function f(p_id bigint, p_name character varying, out o double precision) as $$ begin end $$ language plpgsql
create function f(date, time, timestamp with time zone, name text, type int) returns void as '' language sql
create or replace function public.f() returns trigger language plpgsql as $function$ begin return new; end; $function$
select a.b.c from d.e.f as g where g.a = $1 and g.b = any($2::int[]) limit $3 offset $4
select @@version
select * from t where a == 1
select * from t where a is not distinct from null
grant select on t to public, current_user, "x y"
select current_setting('x'), set_config('a', 'b', false), pg_catalog.current_schema(), current_schemas(true)
with a as (select 1), b as (select * from a) select * from b union all select * from a order by 1 limit 1
with t(a) as (values (1)) update u set b = t.a from t returning *
with recursive t(n, p) as (select 1, array[1] union select n + 1, p || n from t where n < 10 and not n = any(p)) select * from t
select all from t
select * from t group by grouping sets (a, (b, c), cube (d, (e, f)))
select grouping(a, b), a, b from t group by rollup (a, b) having grouping(a) = 0
select a from t for update of t nowait
select a from t for update skip locked limit 1
select not null from t
select * from (select 1) as t(a) natural join (select 2) u
table t limit 1
values (1), (2) order by 1 limit 1 offset 1
(values (1)) union (values (2))
explain (costs off, timing false, format text) select 1
explain (analyze, buffers) insert into t values (1)
with recursive t(a) as (select 1 union all select a + 1 from t) search breadth first by a set s cycle a set c to 'Y' default 'N' using p select * from t
with recursive t(a) as (select 1 union all select a + 1 from t) search depth first by a, b set s select * from t
drop operator if exists ===(int, "T"), s.-(none, numeric(3)) cascade; drop cast (int as s.t[]) restrict; drop cast if exists (text as int)
drop trigger if exists a on s.t cascade; drop policy p on t; drop rule if exists r on t; drop transform if exists for int language sql
drop operator class if exists s.oc using btree; drop operator family f using hash cascade; drop access method if exists a, b; drop server s cascade
drop user mapping if exists for current_user server s; drop user mapping for public server "S"; drop tablespace if exists ts; drop language l
drop text search parser a.b, c; drop statistics if exists s.x; drop foreign data wrapper f; drop foreign table if exists a, b.c; drop collation c1, c2
create aggregate a.b(int, text) (sfunc = x.f, stype = int[], initcond = '{}', sortop = operator(pg_catalog.<)); create aggregate c(*) (sfunc = f, stype = int8, initcond = 0)
create or replace aggregate a(variadic x "any" order by y int, text) (sfunc = f, stype = numeric(3,2), sspace = -1, parallel = safe, hypothetical); create aggregate o(basetype = int, sfunc = +, stype = setof int)
alter type a.b add attribute c int collate "C" cascade, drop attribute if exists d, alter attribute e set data type text restrict; alter type t rename attribute a to "B" cascade
insert into t (a.b, c[1].d, e[2:3]) values (1, 2, 3); update t set a.b.c = 1, (d.e, f[1]) = (2, 3)
