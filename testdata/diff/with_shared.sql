-- A WITH query that is read in several places, of which a statement that changes rows is one,
-- is the same everywhere: neither conditions nor the columns that one of them wants touch it.
create temp table b (x int, t text);
insert into b values (1, 'a'), (2, 'b');
with res as (select x, t from b), d as (insert into b select x from res) select string_agg(t, ',' order by t) from res;
with res as (select 1 as x union all select 2), i as (insert into b select x, 'p' from res where x = 1 returning x) select x from res order by x;
with res as (select 1 as x union all select 2), i1 as (insert into b select x, 'p' from res where x = 1 returning x),
  i2 as (insert into b select x, 'q' from res where x = 2 returning x) select (select array_agg(x) from i1), (select array_agg(x) from i2);
with res as (select x, max(t) as t from b group by x), d as (update b set t = 'u' where x in (select x from res where x = 1) returning t)
  select (select count(*) from d), string_agg(t, ',' order by t), count(*) from res;
with res as (select distinct x, t from b), d as (delete from b using res where res.x = b.x and b.x = 1) select count(*), count(t) from res;
with res as (select * from (select x, t from b limit 10) s), d as (delete from b using res where res.x = b.x and b.x = 2 returning b.x)
  select (select count(*) > 0 from d), count(*) > 0, count(t) > 0 from res;
select * from b order by x, t;
insert into b values (1, 'a'), (2, 'b');
with res as (select 1 as x union all select 2) update b set t = (select string_agg(x::text, ',' order by x) from res) from res r where r.x = b.x and r.x > 1
  returning b.*, (select count(*) from res);
with res as (select 1 as x union all select 2) delete from b using res where res.x = b.x and res.x = 2 returning b.*, (select sum(x) from res);
with res as (select 1 as x union all select 2) insert into b select x, 'n' from res where x = 2 returning x, (select count(*) from res);
with res as (select 1 as x union all select 20) merge into b using (select * from res where x > 5) s on s.x = b.x
  when not matched then insert values (s.x, (select count(*)::text from res));
with res as (select x from generate_series(1, 4) as x order by x desc limit 3), i as (insert into b select x, 'w' from res where x < 3 returning x)
  select (select count(*) from i), (select count(*) from res);
with r0 as (select 1 as x union all select 2), res as (select * from r0), i as (insert into b select x, 'w' from res where x < 2 returning x)
  select (select count(*) from r0), (select count(*) from res);
with res (x) as (values (1), (2) union all values (3)), d as (insert into b select x, 'v' from res where x = 3) select sum(x) from res;
with res as (select 1 as x, 'k' as t union all select 2, 'l'), d as (insert into b select x, 'v' from res) select string_agg(t, ',' order by t) from res;
with res as (select 1 as x union all select 2 union all select 3), d as (insert into b select 9, 'v' where exists (select from res where x = 2)) select count(*) from res;
with res as not materialized (select 1 as x union all select 2 union all select 3), d as (insert into b select x, 'd' from res returning x)
  select (select count(*) from d), count(*) from res where x = 2;
with once as (select x, t from b where t = 'v'), d as (insert into b select x + 100, t from once where x = 3 returning x) select x from d;
prepare p (int) as with res as (select 1 as x union all select 2), i as (insert into b select x, 'p' from res where x = $1 returning x) select count(*) from res;
execute p (1);
execute p (2);
select x, t, count(*) from b group by x, t order by x, t;
