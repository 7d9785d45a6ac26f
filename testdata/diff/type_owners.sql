-- Types of rows and of arrays belong to who owns what brought them about.
create role type_owner_x;
grant all on schema public to type_owner_x;
create type pair as (x int, y text);
create type mood as enum ('a');
set role type_owner_x;
create view v as select 1 as a;
create table t (a int);
create materialized view m as select 1 as a;
reset role;
create table t2 (a int);
alter table t2 owner to type_owner_x;
alter type pair owner to type_owner_x;
alter type mood owner to type_owner_x;
create domain d as int; alter domain d owner to type_owner_x;
select typname, typowner::regrole from pg_type where typnamespace='public'::regnamespace order by 1;
select relname, relowner::regrole from pg_class where relnamespace='public'::regnamespace order by 1;
drop owned by type_owner_x; drop role type_owner_x;
