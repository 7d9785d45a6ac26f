-- The fields of anonymous rows have the types that a column definition list says, or the query fails.
select * from unnest(array[row(1, 'a'::text)]) as r (i int, t int);
select * from unnest(array[row(1, 5)]) as r (i int, t text);
select * from unnest(array[row(1, 5)]) as r (i int, t numeric);
select * from unnest(array[row(1, 'x'::text)]) as r (i int, t jsonb);
select * from rows from (unnest(array[row(1, 'q'::text)]) as (i int, t date)) r;
select i, t + 1 from unnest(array[row(1, 1.5)]) as r (i int, t float8);
select * from unnest(array[row(1, 5)]) as r (i int);
select * from unnest(array[row(1, 5)]) as r (i int, j int, k int);
select * from unnest(array[row(1, 5)]) as r (i int, j bigint);
select * from unnest(array[row(1, 'x'::varchar), row(2, null)]) as r (i int, t text) where false;
select * from unnest(array[row(1, 'x'::varchar)]) as r (i int, t text);
select * from unnest(array[row(1, 2), null::record]) as r (i int, t int);
select * from unnest(array[row(1, 2.5), row(2, 3.5)]) as r (i int, t numeric) order by t desc;
select * from rows from (unnest(array[row(1, 'q'::text)]) as (i int, t text), generate_series(1, 2)) r;
create temp table pair (a int, b text);
select * from unnest(array[row(1, 'x')::pair, null]);
select r.* from unnest((select array_agg(p) from (values (1, 'x')) v (a, b), lateral (select v.a, v.b) p)) as r (a int, b text);
