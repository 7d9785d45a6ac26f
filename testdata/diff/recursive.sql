-- WITH attached to a recursive query.
create table g (a int, b int);
insert into g values (1, 2), (2, 3), (3, 4);
with recursive x(n) as (with y as (select 1 as a) select a from y union all select n + 1 from x where n < 4) select * from x;
with recursive x(n) as (with y as (select 1 as a) (select a from y) union all (with z as (select 5 as lim) select n + 1 from x, z where n < lim)) select * from x;
with recursive x(n) as (with y as (select * from g) select a from y where a = 1 union all select y.b from x join y on y.a = x.n) select * from x order by 1;
with recursive x(n) as (with y as materialized (select * from g) select a from y where a = 1 union select y.b from x join y on y.a = x.n) select * from x a, x b order by 1, 2;
with recursive x(n) as (with x as (select 7 as q) select q from x) select * from x;
with recursive x(n) as (with y as (select n from x) select 1 union all select n + 1 from x, y) select * from x;
with recursive x(n) as (with y as (select random() r, a from g) select a from y union all select n + 1 from x where n < 4) select count(*) from x;
select a, (with recursive x(n) as (with y as (select g.a as k) select k from y union all select n + k from x, y where n < 5) select max(n) from x) from g order by 1;
with recursive x(n) as (with recursive y(k) as (select 1 union all select k + 1 from y where k < 3) select k from y union all select n + 10 from x where n < 20) select * from x order by 1;
