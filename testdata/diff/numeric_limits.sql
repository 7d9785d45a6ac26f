-- Results near the limits of numeric, and sums of squares beyond them.
select length((10::numeric ^ 131071)::text), md5((2::numeric ^ 400000)::text), md5((1.0001 ^ 2500000000::numeric)::text);
select md5((12345.6789::numeric ^ 30000)::text);
select length((6*10::numeric ^ 131071)::text);
select length((9*10::numeric ^ 131071 + 10::numeric ^ 131071)::text);
select 10::numeric ^ 131072;
select trunc((7*10::numeric ^ 131071) / (10::numeric ^ 131071));
select (i / (10::numeric ^ 131071))::numeric(1,0) from generate_series(6 * (10::numeric ^ 131071), 9 * (10::numeric ^ 131071), 10::numeric ^ 131071) as a(i);
SELECT md5(variance(a)::text) from (values (0::numeric),(1e-999)) v(a);
SELECT trim_scale(variance(a) * 1e1000) from (values (0::numeric),(3e-500),(-3e-500),(4e-500 - 1e-16383),(-4e-500 + 1e-16383)) v(a);
SELECT variance(9e131071 + x) FROM generate_series(1, 5) x;
SELECT stddev_pop(a), var_pop(a) from (values (0.1),(1e-40),(3)) v(a);
select variance(a),stddev(a) from (values (1::numeric),('NaN'),(3)) v(a);
select variance(a),stddev(a) from (values (1::numeric),('inf'),(3)) v(a);
select avg(9e131071 + x), sum(x+9e131071) FROM generate_series(1, 5) x;
select avg(9e131071 + x) FROM generate_series(1, 5) x; select sum(x) over (order by x) from (values(9e131071),(2e131071)) v(x);
