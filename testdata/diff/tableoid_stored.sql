-- tableoid in constraints and generated columns is that of the table, also before the table has a number.
create table sg(a int, check (tableoid::int > 5), check (not (a > 5 and sg.tableoid::regclass::text = 'sg')));
select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'sg'::regclass order by 1;
insert into sg values (1);
insert into sg values (7);
alter table sg rename to sh;
insert into sh values (7);
alter table sh add check (tableoid <> 1);
select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'sh'::regclass order by 1;
create index on sh ((tableoid::int));
create index on sh ((ctid >= '(1000,0)'));
create index on sh (a) where ctid >= '(1000,0)';
create table si(a int, b int generated always as (tableoid::int) stored);
insert into si values (1);
select b = tableoid::int, a from si;
-- A lateral entry whose column is that of an entry outside of the outer join it stands in.
create table ta(a int, b int);
create table tb(a int, c int);
insert into ta values (1, 1), (2, 2);
insert into tb values (1, 5), (3, 6);
select s1.x, l5.x as lx, a8.a from (select nullif(a, 0) from ta) s1(x), (select b from ta) s3(y) join lateral (select s1.x from (values (1), (2)) v6) l5 on true left join tb a8 on case when a8.a in (2) then l5.x end is distinct from s3.y order by 1, 2, 3;
select s1.x, l5.x as lx, a8.a from (select nullif(a, 0) from ta) s1(x), (select b from ta) s3(y) join lateral (select s1.x from (values (1), (2)) v6(z) join tb on s1.x < tb.c and z = tb.a) l5 on l5.x = s3.y left join tb a8 on a8.a = l5.x order by 1, 2, 3;
select ta.a, l.* from ta, tb left join lateral (select ta.a + tb.a as s, u.c from tb u where u.a = ta.a) l on l.s < 9 order by 1, 2, 3;
-- expressions of a new table may name it
create table own_name (a int primary key, b bool generated always as (tableoid = 'own_name'::regclass) stored, c oid default 'own_name'::regclass::oid, d regclass default 'own_name', check (c = 'own_name'::regclass::oid or a > 10));
insert into own_name values (1), (2);
insert into own_name values (3, default, 5);
insert into own_name values (11, default, 5);
select a, b, c = 'own_name'::regclass, d from own_name order by a;
alter table own_name rename to own_name_now;
select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 'own_name_now'::regclass order by adnum;
insert into own_name_now values (4) returning c = 'own_name_now'::regclass, d;
insert into own_name_now values (5, default, 5);
drop table own_name_now;
create table own_other (a oid default 'own_nobody'::regclass::oid);
create temp table own_temp (a regclass default 'own_temp', b regclass default 'pg_temp.own_temp');
insert into own_temp default values returning *;
drop table own_temp;
