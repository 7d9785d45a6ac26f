-- Set-returning functions of a select list are computed above ORDER BY and
-- DISTINCT ON, where these do not read them, and below LIMIT.
create table ls (a int, b int);
insert into ls values (3, 2), (3, 1), (1, 1), (1, 4), (5, 3), (5, 1);
select distinct on (a) a, b, generate_series(1, 3) as g from ls order by a, b desc;
select distinct on (a) a, generate_series(1, b) as g from ls order by a, b desc limit 5;
select distinct on (a) a, generate_series(1, b) as g from ls order by a, b desc limit 3 offset 4;
select distinct on (a) a, generate_series(1, 2) as g from ls order by a, g desc;
select distinct on (g) generate_series(1, 3) as g, a, b from ls order by g, a, b;
select distinct a, generate_series(1, 2) as g from ls order by a, g;
select a, b, generate_series(2, 1, -1) as g from ls order by a desc, b;
select a, b, generate_series(2, 1, -1) + a as g, unnest(array['x', 'y']) from ls order by b + a, a limit 5;
select a, b, generate_series(1, generate_series(1, 2)) as g from ls order by a, b limit 7;
select a, generate_series(1, 2) as g from ls order by b, a for update;
select a, count(*), generate_series(1, 2) as g from ls group by a order by count(*), a;
select distinct on (a) a, sum(b) over (partition by a), generate_series(1, 2) from ls order by a, b;
drop table ls;

-- Two output columns are two grouping keys, also where they compute the same.
select * from (select g as x, g as y from generate_series(1, 3) g group by x, rollup (y) offset 0) t order by 1, 2;
select * from (select g as x, g as y, count(*) from generate_series(1, 2) g group by cube (x, y) offset 0) t order by 1, 2, 3;
select * from (select g as x, g as y, count(*) from generate_series(1, 2) g group by grouping sets (1, 2) offset 0) t order by 1, 2, 3;
select * from (select g + 1 as x, g + 1 as y from generate_series(1, 2) g group by x, rollup (g + 1) offset 0) t order by 1, 2;
select * from (select g as x, g as y from generate_series(1, 2) g group by rollup (g) offset 0) t order by 1, 2;
select * from (select g as x, g as y from generate_series(1, 2) g group by x, y offset 0) t order by 1, 2;

-- LIMIT ALL and LIMIT NULL are the same, and are shown.
create view la as select 1 as a limit all;
select pg_get_viewdef('la');
create or replace view la as select 1 as a limit null offset 1;
select pg_get_viewdef('la', true);
select * from la;
select 1 limit all offset 0;
(select 1 limit all) limit 1;
drop view la;
