-- Bodies of functions keep their meaning when the tables below a join with an alias get
-- and lose columns.
create table c1(id int, a int, x text); create table c2(id int, b int, x text); create table c3(id int, d int, x text);
insert into c1 values (1,1,'one'); insert into c2 values (1,2,'two'); insert into c3 values (1,3,'three');
create view v as select s.id, s.d from (c2 full join c3 using(id)) s;
create function f1() returns int language sql begin atomic select s.d from (c2 full join c3 using(id)) s; end;
create function f2() returns int language sql begin atomic update c1 set a = s.d from (c2 full join c3 using(id)) s where c1.id = s.id returning c1.a; end;
create function f3() returns int language sql begin atomic merge into c1 t using (c2 full join c3 using(id)) s on t.id=s.id when matched then update set a = s.d; select a from c1; end;
select f1(), f2(), f3(); table v;
alter table c2 add a int default 77; alter table c3 add b int default 88;
select f1(), f2(), f3(); table v;
alter table c2 rename x to y; alter table c3 rename d to dd; alter table c2 drop b;
select f1(), f2(), f3(); table v;
alter table c3 add b2 int default 88; alter table c3 rename x to z;
select f1(), f2(), f3(); table v;
insert into c1 values (5,1,'f'); create function f4() returns setof int language sql begin atomic select s.d from (c2 natural full join c3) s order by 1; insert into c1 select s.id, s.dd from (c2 full join c3 using (id)) as s where s.id > 5 returning a; delete from c1 using (c2 cross join c3) j(p, q, r, t, u, v) where c1.id = j.p and j.v is null; select count(*) from c1; end;
alter table c2 add q int; select f4(); select f2();
