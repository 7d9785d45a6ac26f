-- Definitions, EXECUTE's arguments and COPY compute what the role may execute only.
create role r1;
create schema s; grant all on schema s to r1; grant all on schema public to r1;
create function s.f(int) returns int language sql immutable as 'select $1 * 2';
create function s.g(int) returns int language sql immutable begin atomic select $1 * 2; end;
create function s.b(int) returns bool language sql immutable as 'select $1 > 0';
create function s.v() returns int language sql volatile as 'select 7';
revoke all on function s.f(int), s.g(int), s.b(int), s.v() from public;
set role r1;
create table s.t (a int); insert into s.t values (1),(2);
create table s.e (a int);
create index on s.t (s.f(a));
create index on s.t (a) where s.b(a);
create index on s.e (s.f(a));
alter table s.t add check (s.b(a));
alter table s.e add check (s.b(a));
alter table s.t add column d int default s.v();
alter table s.e add column d int default s.v();
alter table s.t add column c int generated always as (s.f(a)) stored;
alter table s.t alter column a type int using s.f(a);
alter table s.t alter column a type text using s.g(a);
prepare p(int) as select $1; execute p(s.v()); execute p(s.f(1));
copy s.t (a) from stdin where s.b(a);
1
\.
create table s.k (a int) partition by list (s.f(a));
create table s.k1 partition of s.k for values in (2);
create table s.k2 partition of s.k for values in (s.v());
insert into s.k values (1);
create statistics s.st on s.f(a), a from s.t;
create table s.w as select 1 as x where s.b(1);
create table s.w as select a from s.t where s.b(a);
create domain s.dom as int check (s.b(value));
create table s.dt (x s.dom); insert into s.dt values (1);
create view s.vw as select s.f(1); select * from s.vw;
create materialized view s.mv as select s.f(1);
create function s.wrap() returns int language sql as 'select s.v()'; select s.wrap();
select s.v() where false; select s.v() limit 0;
create policy pp on s.t using (s.b(a)); alter table s.t enable row level security; select * from s.t;
alter table s.t alter column a set default s.v(); 
call s.v();
create aggregate s.ag (int) (sfunc = s.f2, stype = int);
create operator s.+++ (leftarg = int, rightarg = int, function = s.f);
create cast (int as point) with function s.f(int);
explain (costs off) select s.v();
declare c cursor for select s.v();
begin; declare c cursor for select s.v(); rollback;
reset role; drop schema s cascade; drop owned by r1; drop role r1;
create role r1;
create schema s; grant all on schema s to r1;
create function s.v() returns int language sql volatile as 'select 7';
create function s.b(int) returns bool language sql immutable as 'select $1 > 0';
set role r1;
create table s.t (a int, d int default s.v());
create domain s.dom as int default s.v();
create table s.u (x s.dom, y int);
create table s.w (y int check (s.b(y)));
insert into s.w values (1);
create domain s.dom2 as int;
create table s.x (y s.dom2); insert into s.x values (1);
reset role;
revoke all on function s.v(), s.b(int) from public;
set role r1;
copy s.t (a) from stdin;
1
\.
copy s.u (y) from stdin;
1
\.
copy s.t (a, d) from stdin;
1	1
\.
copy s.w from stdin where s.b(y);
1
\.
alter table s.w add check (s.b(y+1)) not valid;
alter table s.w validate constraint w_y_check1;
alter domain s.dom2 add check (s.b(value));

reset role; drop schema s cascade; drop role r1;
