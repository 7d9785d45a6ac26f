-- ARRAY[…] makes an oidvector or int2vector, another array does not
SELECT ARRAY['text'::regtype]::oidvector, ARRAY[1, 2]::int2vector, ARRAY['1', '2']::oidvector, pg_typeof(ARRAY[1]::int2vector);
SELECT EXISTS (SELECT * FROM pg_proc WHERE proname = 'lower' AND proargtypes = ARRAY['character varying(20)'::regtype]::oidvector) OR
       EXISTS (SELECT * FROM pg_proc INNER JOIN pg_cast ON ARRAY[casttarget]::oidvector = proargtypes
               WHERE proname = 'lower' AND castsource = 'character varying'::regtype);
SELECT proname FROM pg_proc WHERE proname IN ('lower', 'upper') AND proargtypes = ARRAY['text'::regtype]::oidvector ORDER BY 1;
SELECT ARRAY[1, 2]::oidvector = '1 2'::oidvector, ARRAY[1, 2]::oidvector = '1 3'::oidvector, (ARRAY[1, 2]::oidvector)[1], array_dims(ARRAY[1, 2]::int2vector);
SELECT ARRAY[1, 2]::oid[]::oidvector;
SELECT ARRAY(SELECT 1)::int2vector;
CREATE VIEW vectors AS SELECT ARRAY[1, 2]::oidvector AS v;
SELECT * FROM vectors;
DROP VIEW vectors;
