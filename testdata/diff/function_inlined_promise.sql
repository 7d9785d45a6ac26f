-- Functions that are expressions promise what the expressions do.
create function twice(int) returns int language sql immutable return $1*2;
create function twice2(int) returns int language sql immutable as 'select $1*2';
alter function twice(int) stable;
alter function twice2(int) stable;
create table t (a int) partition by range ((twice(a)));
create table t2 (a int) partition by range ((twice2(a)));
create table t1 (a int);
create index on t1 (twice(a));
create index on t1 (twice2(a));
alter function twice2(int) volatile;
create index on t1 (twice2(a));
create table t4 (a int, b int generated always as (twice(a)) stored, c int generated always as (twice2(a)) stored);
create function tw3(int) returns int language sql stable as 'select $1*length(current_date::text)';
create index on t1 (tw3(a));
