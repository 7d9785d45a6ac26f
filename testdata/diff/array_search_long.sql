-- Long arrays: their elements are found by hashing.
select array_agg(g) && array_agg(-g) from generate_series(1,3000) g;
select array_agg(g) && array_agg(3000-g) from generate_series(1,3000) g;
select array_agg(g) @> array_agg(g+1) from generate_series(1,3000) g;
select array_agg(g) @> array_agg(g%100+1) from generate_series(1,3000) g;
select array_agg(g) <@ array_agg(g) from generate_series(1,3000) g;
select array_agg(g::text) @> array_agg((g%200)::text) from generate_series(0,3000) g;
select array_agg(g::text) || null::text @> array_agg((g%200)::text) || null::text from generate_series(0,3000) g;
select (array_agg(g) || null) && (array_agg(-g) || null) from generate_series(1,300) g;
select array_agg(array[g,g+1]) @> array_agg(array[g+1,g]) from generate_series(1,300) g;
select array_agg(g::numeric) @> array_agg(g::numeric(10,2)) from generate_series(1,300) g;
