-- A view reads the columns of the row that a function of FROM returns.
create table fr (id text, seq int, gone bool, kept int);
insert into fr values ('a', 1, true, 10), ('b', 2, false, 20);
create function fr_all() returns setof fr language sql stable as 'select * from fr order by id';
create view fr_v as select id, kept from fr_all();
create view fr_w as select * from rows from (fr_all(), generate_series(10, 11)) with ordinality;
select * from fr_w;
alter table fr drop column kept;
alter table fr alter column seq type numeric;
alter table fr alter column id type varchar;
alter table fr add column more text default 'm';
select * from fr_w;
drop view fr_w;
alter table fr drop column gone;
select * from fr_v;
alter table fr drop column kept cascade;
select count(*) from pg_class where relname = 'fr_v';
drop function fr_all();
drop table fr;

-- Arguments by name are shown with the names of the search path.
create function fr_f(a bigint, b bigint, flag bool = true) returns bigint language sql as 'select case when $3 then $1 else $2 end';
create view fr_x as select fr_f(x, y, flag => x > y) as c, fr_f(x, flag => x < -y, b => y) as d, abs(fr_f(b => x, a => y)) from (values (1::bigint, 2::bigint)) t (x, y);
select pg_get_viewdef('fr_x');
select pg_get_viewdef('fr_x', true);
table fr_x;
drop view fr_x;
drop function fr_f;

-- Sets are not arguments in FROM.
select * from generate_series(1, generate_series(1, 3));
select * from abs(generate_series(1, 2));
select * from rows from (generate_series(1, 2), upper(unnest(array['a'])));

-- LIKE copies the comments of all indexes.
create table fr_l (a text primary key, b int unique);
comment on index fr_l_pkey is 'of the key';
comment on constraint fr_l_b_key on fr_l is 'of the constraint';
comment on index fr_l_b_key is 'of the other';
create table fr_m (like fr_l including all);
create table fr_n (like fr_l including indexes);
select c.relname, obj_description(c.oid), obj_description(k.oid, 'pg_constraint') from pg_class c join pg_constraint k on k.conindid = c.oid
 where c.relname like 'fr\__\_%' order by 1;
drop table fr_l, fr_m, fr_n;

-- A frame with offsets over a varchar is over text.
select sum(i) over (order by v range between 1 preceding and current row) from (values ('a'::varchar, 1)) t (v, i);
-- a column definition list for the row that an expression is
create table cd_t (a int, b int);
insert into cd_t values (1, 2);
with a(b) as (values (row(1, 2, 3))) select * from a, coalesce(b) as c(d int, e int);
with a(b) as (values (row(1, 2, 3))) select * from a, coalesce(b) as c(d int, e int, f int, g int);
with a(b) as (values (row(1, 2, 3))) select * from a, coalesce(b) as c(d int, e int, f float);
with a(b) as (values (row(1, 2, 3))) select * from a, coalesce(b) as c(d int, e int, f int);
select * from coalesce(row(1, 'a'::text), null) as x(a int, b text);
select * from coalesce(row(1, 'a'::varchar)) as x(a int, b text);
select * from coalesce(row(1, 'a')) as x(a int, b text);
select * from coalesce(null::record) as x(a int, b text);
select * from rows from (coalesce(row(1, 2)) as (a int, b int), generate_series(1, 2)) as y;
-- one that reads columns beside it
select * from cd_t, coalesce(cd_t) as x;
select * from cd_t, coalesce(cd_t) with ordinality as x(p, q, n);
select * from cd_t left join coalesce(cd_t) as x on x.a > 1 on true;
select * from cd_t left join lateral coalesce(cd_t) as x on x.b > 1;
select * from cd_t, coalesce(row(a, b)) as x(p int, q int) where q > 1;
select * from cd_t, lateral (select row(a, b) as r) s, coalesce(r) as x(p int, q int);
drop table cd_t;
