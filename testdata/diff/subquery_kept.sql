-- Parts of correlated subqueries that are the same for all outer rows are kept:
-- every form gives the same with few rows, with many, and with little memory.
create table kept_a (id int primary key, k int, v int, s text);
create table kept_b (id int primary key, k int, v int, s text);
insert into kept_a select i, nullif(i % 250, 7), (i * 79) % 503, 's' || (i % 100) from generate_series(1, 500) i;
insert into kept_b select i, nullif((i * 3) % 300, 9), (i * 97) % 503, nullif('s' || (i % 150), 's3') from generate_series(1, 500) i;
select count(*), sum(id) from kept_a a where exists (select 1 from kept_b b where b.k = a.k) or v < 10;
select count(*), sum(id) from kept_a a where not exists (select 1 from kept_b b where b.k = a.k and b.v > 100) or v < 10;
select count(*), sum(id) from kept_a a where exists (select 1 from kept_b b where b.k = a.k::bigint) or v < 10;
select count(*), sum(id) from kept_a a where exists (select 1 from kept_b b where b.k = a.k::numeric and b.s = a.s) or v < 10;
select count(*), sum(id) from kept_a a where a.k in (select b.k from kept_b b where b.s = a.s) or v < 10;
select count(*), sum(id) from kept_a a where a.k not in (select b.k from kept_b b where b.s = a.s) or v < 10;
select count(*), sum(id) from kept_a a where a.k > all (select b.k from kept_b b where b.s = a.s) or v < 10;
select sum((select count(*) from kept_b b where b.k = a.k and b.v > a.v)), sum((select sum(b.v) filter (where b.v > a.v) from kept_b b where b.k = a.k)) from kept_a a;
select a.id, (select string_agg(b.v::text, ',' order by b.id) from kept_b b where b.k = a.k), array(select b.id from kept_b b where b.s = a.s and b.k > 100 order by 1) from kept_a a order by 1 limit 40;
select count(*), sum(id) from kept_a a where exists (select 1 from kept_b b join kept_a c on b.v = c.v where b.k = a.k) or v < 10;
select sum((select count(*) from kept_b b join kept_a c on b.v = c.v and b.id <> c.id where b.k = a.k)), sum((select count(c.id) from kept_b b left join kept_a c on b.v = c.v and c.k > 50 where b.k = a.k)), sum((select count(*) from kept_b b full join kept_a c on b.v = c.v where b.k = a.k or b.k is null)) from kept_a a;
select sum((select count(*) from kept_b b where b.k = a.k and b.s in (select s from kept_a))), sum((select count(*) from kept_b b where b.k = a.k and b.s not in (select s from kept_a))), sum((select count(*) from kept_b b where b.k = a.k and b.v > (select avg(v) from kept_a))) from kept_a a;
select sum((select n from (select k, count(*) n from kept_b group by k union all select -1, 0) g where g.k = a.k)), sum((select max(n) from (select s, count(*) n from kept_b group by s) g where g.n > a.k % 7)) from kept_a a;
select count(*), sum(q.v), sum(q.c) from kept_a a left join lateral (select b.v, count(*) over () c from kept_b b where b.k = a.k order by v limit 1) q on true;
select count(*), sum(q.n) from kept_a a cross join lateral (select count(*) n from kept_b b where b.k = a.k) q where n > 1;
with m as materialized (select k, v from kept_b where v > 50) select count(*), sum((select count(*) from m where m.k = a.k)), sum((select max(m.v) from m where m.v < a.v)) from kept_a a;
with recursive r as (select 1 n, 0::bigint c union all select n + 1, (select count(*) from kept_b b where b.k = r.n) from r where n < 250) select count(*), sum(n), sum(c) from r;
with recursive r as (select 1 n union all select n + 1 from r where n < 200 and exists (select 1 from r x, kept_b b where b.k = x.n or b.id > r.n)) select count(*), sum(n) from r;
select count(*), sum(id) from kept_a a where (k, s) in (select k, s from kept_b) or v < 10;
select count(*), sum(id) from kept_a a where (k, s) not in (select k, s from kept_b) or v < 10;
select count(*), sum(id) from kept_a a where (k, s) not in (select k, s from kept_b where k is not null and s is not null) or v < 10;
select count(*), sum(id) from kept_a a where ((k, s) in (select k, s from kept_b)) is null;
select count(*), sum(id) from kept_a a where (v > 100) in (select v > 1000 from kept_b) or (interval '1 day' * k) in (select interval '24 hours' * k from kept_b);
-- what fails for rows that no run wants does not fail
select sum((select sum(1 / b.id) from kept_b b where b.k = a.k and 1000 / (b.v - 97) > 0)) from kept_a a where a.k > 100 and a.k % 3 = 1;
select sum((select count(*) from kept_b b where b.id = 0 and b.k = 1 / (a.k - a.k))) from kept_a a where a.id < 100;
select sum((select count(*) from kept_b b where b.k = 1 / (a.k - a.k))) from kept_a a where a.id < 100;
-- statements that write
begin;
update kept_a a set v = (select max(b.v) from kept_b b where b.k = a.k), s = case when exists (select 1 from kept_a c where c.v = a.v + 1) then 'next' else s end where id % 2 = 0;
select count(*), sum(v), count(*) filter (where s = 'next') from kept_a;
delete from kept_a a where (select count(*) from kept_a c where c.k = a.k) < 2 or exists (select 1 from kept_b b where b.v = a.v) and id % 3 = 0;
select count(*), sum(id) from kept_a;
merge into kept_a a using kept_b b on a.id = b.id when matched and exists (select 1 from kept_b c where c.k = a.k) then update set v = (select min(c.v) from kept_b c where c.k = a.k) when not matched and (select count(*) from kept_a c where c.k = b.k) > 0 then insert values (b.id, b.k, -1, 'new');
select count(*), sum(v), count(*) filter (where s = 'new') from kept_a;
insert into kept_b select id + 1000, k, (select count(*) from kept_b c where c.k = kept_b.k), s from kept_b;
select count(*), sum(v) from kept_b;
rollback;
-- a key of the side that is kept, with a value of the run in it
select a.id, l.* from kept_a a cross join lateral (select b.id, c.id from kept_b b join kept_a c on b.v = c.k + a.k order by 1, 2 limit 2) l(b, c) where a.id < 30 order by 1, 2, 3;
select sum((select count(*) from kept_b b join kept_a c on b.v - a.id = c.k)), sum((select count(*) from kept_b b left join kept_a c on b.v = c.k + a.id)), sum((select count(*) from kept_b b where b.v not in (select c.k + a.k from kept_a c where c.k is not null and a.k is not null))) from kept_a a where a.id < 60;
-- subqueries in subqueries that only depend on what is further out
select o.k, (select count(*) from kept_a a where (a.k, a.v) not in (select b.k, b.v from kept_b b where b.v > 100 + o.k and b.k is not null)), (select count(*) from kept_a a where a.k < 50 or (a.k, a.s) in (select b.k, b.s from kept_b b where b.v > o.k)), (select count(*) from kept_a a where a.v > all (select b.v from kept_b b where b.k = o.k)), (select sum((select max(b.v) from kept_b b where b.k <= o.k)) from kept_a a where a.k < 9), (select count(*) from kept_a a where a.v = 5 or exists (select 1 from kept_b b where b.v = o.k)) from (values (0), (50), (400), (null), (50)) o(k);
select o.k, l.* from (values (0), (50), (400), (50)) o(k), lateral (select count(*), count(*) filter (where a.v in (select b.v from kept_b b where b.k > o.k) or a.v < 3), sum(case when a.k > 200 then (select min(b.id) from kept_b b where b.v >= o.k) else 0 end) from kept_a a where (a.k, a.s) not in (select b.k, b.s from kept_b b where b.v < o.k and b.k is not null and b.s is not null)) l order by 1;
select o.k, (select sum((select count(*) from kept_b b where b.k = a.k and b.v in (select c.v from kept_a c where c.id > o.k))) from kept_a a where a.id < 40 and a.v not in (select c.v from kept_b c where c.id = o.k)) from generate_series(1, 30, 7) o(k);
-- one plan, run several times with other parameters and rows
prepare kept_p(int) as select count(*), sum((select count(*) from kept_b b where b.k = a.k and b.v > $1)) from kept_a a;
execute kept_p(10);
execute kept_p(400);
delete from kept_b where id % 2 = 0;
execute kept_p(10);
create function kept_f(int) returns bigint language sql as 'select count(*) + case when $1 > 0 then kept_f($1 - 100) else 0 end from kept_b where k = $1';
select sum(kept_f(k)) from kept_a where id < 300;
-- little memory: not all can be kept
set work_mem = '64kB';
insert into kept_b select i + 5000, i % 1000, i % 503, repeat('x', i % 50) from generate_series(1, 4000) i;
select count(*), sum(id) from kept_a a where id < 120 and (exists (select 1 from kept_b b where b.k = a.k and b.s > a.s) or v < 10);
select sum((select count(*) from kept_b b where b.v < a.v and b.s <> a.s)) from kept_a a where id < 120;
select sum((select count(*) from kept_b b join kept_b c on b.v = c.v and b.id > c.id where b.k = a.k)) from kept_a a where id < 80;
select count(*), sum(id) from kept_a a where (k, s) not in (select k, s from kept_b where k is not null and s is not null) or v < 10;
reset work_mem;
declare kept_c cursor with hold for select a.id, (select count(*) from kept_b b where b.k = a.k) from kept_a a order by 1;
fetch 100 from kept_c;
fetch 3 from kept_c;
close kept_c;
drop function kept_f(int);
drop table kept_a, kept_b;
