-- A cursor over a view or a subquery that only filters stands on the rows of its table.
create table t(id int primary key, b text, n int); insert into t select i, 'x' || i, i from generate_series(1, 5) i;
create view v as select n, b, id from t where id > 1;
create view vv as select id, upper(b) as b from v where n > 2;
begin; declare c cursor for select * from v where id > 2; fetch 1 c; update t set b = 'z' where current of c returning *; fetch 1 c; delete from t where current of c returning *; fetch 1 c; select * from t order by id; commit;
begin; declare c cursor for select * from vv where id = 5; fetch 1 c; update t set b = 'vv' where current of c returning *; rollback;
begin; declare c cursor for select s.b || s.id from (select * from (select id, b from t where n < 5) r where id > 1) s; fetch 2 c; update t set n = 100 where current of c returning *; rollback;
begin; declare c cursor for select b from (select * from v) s limit 2; fetch 1 c; update t set n = 100 where current of c returning *; rollback;
begin; declare c cursor for select * from vv where id = 5; fetch 1 c; update v set b = 'q' where current of c returning *; rollback;
create view vj as select t.id, t.b, u.n from t join (values (1, 10), (2, 20)) u(i, n) on u.i = t.id;
begin; declare c cursor for select * from vj; fetch 1 c; update t set b = 'z' where current of c returning *; rollback;
begin; declare c cursor for select * from (select distinct id from t) s; fetch 1 c; update t set b = 'z' where current of c returning *; rollback;
begin; declare c cursor for select * from (select count(*) from t) s; fetch 1 c; update t set b = 'z' where current of c returning *; rollback;
create table p(a int, b int) partition by list (a); create table p1 partition of p for values in (1); create table p2 partition of p for values in (2); insert into p values (1, 1), (2, 2);
create view pv as select * from p where b > 0;
begin; declare c cursor for select * from pv where b = 2; fetch 1 c; update p set b = 7 where current of c returning tableoid::regclass, *; rollback;
