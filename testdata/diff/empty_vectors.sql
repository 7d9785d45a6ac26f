-- An empty oidvector or int2vector has a dimension of no elements, where other empty arrays have none.
select to_json(''::oidvector), to_jsonb(''::int2vector), json_build_array(''::oidvector), jsonb_build_object('a', ''::int2vector), to_json(''::oidvector::oid[]);
select row_to_json(p)->'proargtypes', to_jsonb(p)->>'proname' from pg_proc p where oid = 'now()'::regprocedure;
select json_agg(proargtypes), jsonb_agg(proargtypes::oid[]), array_agg(proargtypes::text) from pg_proc where oid = 'now()'::regprocedure;
select array_to_json(proargtypes::oid[]), array_to_json(proargtypes::oid[], true) from pg_proc where oid = 'now()'::regprocedure;
select array_to_string(''::oidvector, ','), ''::oidvector::oid[], ''::int2vector::int2[], cardinality(''::oidvector), count(*) from unnest(''::oidvector) group by 1, 2, 3;
select ''::oidvector::oid[] || 5::oid, array_cat(''::oidvector::oid[], '{1}'), ''::oidvector::oid[] = '{}'::oid[], array_append(''::int2vector::int2[], 3::int2);
select array_position(''::oidvector::oid[], 1::oid), array_positions(''::oidvector::oid[], 1::oid), 1 = any (''::oidvector), 1 <> all (''::oidvector);
select array_dims(''::oidvector), array_ndims(''::int2vector), array_length(''::int2vector, 1), array_upper(''::oidvector, 1), array_lower(''::oidvector, 1);
select array_remove(''::oidvector::oid[], 1::oid), array_replace(''::oidvector::oid[], 1::oid, 2::oid), trim_array(''::int2vector::int2[], 0), array_prepend(1::oid, ''::oidvector::oid[]);
select (''::oidvector)[0], (''::oidvector::oid[])[0:1], ''::oidvector = ''::oidvector, ''::oidvector < '1'::oidvector, ''::oidvector::oid[] @> '{}', ''::oidvector::oid[] && '{1}';
select generate_subscripts(''::oidvector, 1);
select * from unnest(''::oidvector, '1 2'::int2vector) with ordinality;
select x from (values (''::oidvector), ('1'), (null)) v (x) order by x;
select ''::oidvector::text, ''::int2vector::text = '', pg_column_size(''::oidvector) > 0, hashoidvector('') is not null;
select json_array_elements(to_json('1 2 3'::int2vector)), xmlcount from (select 1 as xmlcount) s;
