-- Functions of any array take the arrays of pg_stats, of which each has elements of a type of its own.
create table aa (a int[], b text, c numeric, d date);
insert into aa select array[i, i], 'x' || i % 3, i, '2020-01-01'::date + i % 2 from generate_series(1, 200) i;
analyze aa;
select attname, array_ndims(histogram_bounds) from pg_stats where tablename = 'aa' order by attname;
select attname, cardinality(histogram_bounds) > 5, array_upper(histogram_bounds, 1) > 4, array_lower(histogram_bounds, 1) from pg_stats where tablename = 'aa' order by attname;
select attname, array_length(most_common_vals, 1), array_dims(most_common_vals), array_to_string(most_common_vals, ',') from pg_stats where tablename = 'aa' and attname = 'd';
select trim_array(most_common_vals, 1) = trim_array(most_common_vals, 1) from pg_stats where tablename = 'aa' and attname = 'd';
select unnest(most_common_vals) from pg_stats;
select most_common_vals @> most_common_vals from pg_stats;
select array_position(most_common_vals, 'x') from pg_stats;
select array_larger(most_common_vals, most_common_vals) from pg_stats;
select max(most_common_vals) is not null from pg_stats where tablename = 'aa' and attname = 'd';
create table ab as select most_common_vals from pg_stats;
create view ac as select most_common_vals from pg_stats;
create materialized view ad as select most_common_vals from pg_stats;
create function af(anyarray) returns int language sql as 'select array_length($1, 1)';
select af(most_common_vals) from pg_stats where tablename = 'aa' and attname = 'd';
