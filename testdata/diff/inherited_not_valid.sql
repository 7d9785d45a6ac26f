-- A new child's checks are valid, whatever those of its parents are.
create table c1 (a int);
alter table c1 add constraint k check (a > 0) not valid;
create table c2 () inherits (c1);
create table c3 (constraint k check (a > 0)) inherits (c1);
create table c4 (a int, constraint k check (a > 0) not valid) inherits (c1);
create table c5 (like c1 including all);
select conrelid::regclass, conname, convalidated, conislocal, coninhcount from pg_constraint where contype='c' and conrelid <> 0 order by 1;
create table p (a int) partition by list (a);
alter table p add constraint k check (a > 0) not valid;
create table p1 partition of p for values in (1);
create table p2 partition of p (constraint k check (a > 0)) default;
select conrelid::regclass, conname, convalidated, conislocal, coninhcount from pg_constraint where conname = 'k' order by 1;
