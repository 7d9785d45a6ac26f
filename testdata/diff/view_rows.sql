-- Rows of named types in views: comparing them is comparing records, as it is where the
-- query stands alone.
create type vr_t as (a int, b int);
create table vr (x vr_t, y vr_t);
insert into vr values (row(1, null), row(1, 3)), (row(1, 2), row(1, null)), (row(1, null), row(1, null)), (null, row(null, null));
create view vr_v as select row(1, null)::vr_t < row(1, 3)::vr_t as a, row(1, null)::vr_t = row(1, null)::vr_t as b, x < y as c, x = y as d, row((x).a, (x).b)::vr_t = y as e, row((x).a, (x).b)::vr_t <> row(1, 2)::vr_t as f, row((x).a, (x).b)::vr_t is distinct from row(1, 2)::vr_t as g, row((x).a, (x).b) = row(1, 2)::vr_t as h, row((x).a, (x).b)::vr_t is null as i, not (row((x).a, (x).b)::vr_t is not null) as j, case row((x).a, (x).b)::vr_t when row(1, 2)::vr_t then 1 end as k, nullif(row((x).a, (x).b)::vr_t, y) as l, row((x).a, (x).b)::vr_t between x and y as m, row_to_json(row(1, 2)::vr_t) as n, array[row(1, 2)::vr_t, x] as o, row((x).a, 5) = row(1, 5) as p, row((x).a, 5) < row(1, 6) as q, x *= y as r from vr;
select * from vr_v;
select pg_get_viewdef('vr_v');
create view vr_w as select * from vr where row(1, null)::vr_t = row((x).a, (x).b)::vr_t order by row((x).a, (x).b)::vr_t;
table vr_w;
create table vr_base (i int, s text);
create table vr_child (j int) inherits (vr_base);
insert into vr_child values (1, 'a', 2), (null, null, null);
create view vr_c as select vr_child::vr_base as x, null::vr_child::vr_base as y, (vr_child::vr_base).s as z from vr_child;
select *, x is null, y is null, pg_typeof(x), row_to_json(x) from vr_c;
select pg_get_viewdef('vr_c');
create materialized view vr_m as select vr_child::vr_base as x, row(1, null)::vr_t = row(1, null)::vr_t as b from vr_child;
table vr_m;
refresh materialized view vr_m;
table vr_m;
create function vr_f(vr_base) returns text language sql as 'select $1.s || $1.i';
create view vr_g as select vr_f(c) as f from vr_child c;
table vr_g;
drop table vr, vr_base cascade;
drop type vr_t cascade;
