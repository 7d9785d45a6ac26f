-- Parts of partitioned indexes go with an index that is dropped in the same statement.
create table t2 (a int, b text) partition by list (a);
create table t5 partition of t2 for values in (0);
create table t6 partition of t2 for values in (1) partition by list (b);
create table t7 partition of t6 default;
create index i1 on t2 (b, a);
drop index t5_b_a_idx;
drop index t7_b_a_idx, i1;
drop index t6_b_a_idx, t7_b_a_idx;
drop index t5_b_a_idx, i1;
select count(*) from pg_class where relname like '%_b_a_idx' or relname = 'i1';
create index i2 on t2 (b);
drop index i2, t6_b_idx, t7_b_idx, t5_b_idx;
select count(*) from pg_class where relname like '%_b_idx' or relname = 'i2';
