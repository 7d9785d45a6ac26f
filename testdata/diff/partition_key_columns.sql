-- A column that is cast to its own type is a column of a partition key.
create table t3 ( b text , primary key ( b ) , unique ( b ) ) partition by list ( ( b::text ) );
\d t3
create table t4 ( b text , primary key ( b ) ) partition by list ( ( b ) );
create table t5 ( b text , c int, primary key ( b ) ) partition by range ( (b||''), c );
create table t6 ( b text , c int, primary key ( b ) ) partition by range ( (b::varchar), c );
create table t7 ( b varchar , c int, primary key ( b, c ) ) partition by range ( (b::text), (c::int4) );
create table t8 ( b varchar(4) , c int, primary key ( b, c ) ) partition by range ( (b::varchar(4)), (c+0) );
\d t7
select partattrs, partexprs is null, pg_get_partkeydef(partrelid) from pg_partitioned_table order by partrelid::regclass::text;
create table t9 ( b text ,c int) partition by list ( ( b collate "C") );
\d t9
