-- Windows whose partitions find the rows sorted, but downwards: what follows is sorted anew.
create temp table w (i int, v int, u int);
insert into w values (0, 1, 1), (1, 0, 2), (2, 2, 1), (90, null, 2), (91, 1, null);
select v, rank() over (order by v), rank() over (order by v desc), count(*) over (partition by v order by i) from w order by v, i;
select v, rank() over (order by v desc), count(*) over (partition by v order by i) from w order by v, i;
select v, rank() over (order by v desc), rank() over (order by v), count(*) over (partition by v order by i) from w order by v, i;
select v, rank() over (order by v), rank() over (order by v nulls first), count(*) over (partition by v order by i) from w order by v, i;
select v, u, rank() over (order by v desc, u), rank() over (order by v, u), sum(i) over (partition by v, u order by i) from w order by v, u, i;
select v, u, rank() over (order by v, u desc), rank() over (order by v, u), sum(i) over (partition by u, v order by i), count(*) over (partition by v) from w order by i;
select v, count(*), rank() over (order by v desc), rank() over (order by v), sum(count(*)) over (partition by v order by u) from w group by v, u order by v, u;
select v, i, count(*) over (partition by v order by i) from (select * from w order by v desc limit 10) s order by v, i;
select v, i, count(*) over (partition by v order by i), row_number() over (order by v, i) from (select * from w order by v desc offset 0) s order by i;
with g (a, b, c) as (select n % 3, n % 5, n from generate_series(1, 40) n)
  select a, b, c, sum(c) over (partition by b order by a), sum(c) over (partition by b order by a desc), sum(c) over (partition by a, b order by c), sum(c) over (partition by b, a) from g order by c;
create index on w (v desc, i);
analyze w;
set enable_seqscan = off;
select v, i, count(*) over (partition by v order by i), rank() over (order by v) from w order by v, i;
select v, i, count(*) over (partition by v order by u), rank() over (order by v, u) from w order by v, i limit 3;
