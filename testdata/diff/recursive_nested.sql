with recursive x(a) as ((values ('a'), ('b')) union all (with z as not materialized (select * from x) select z.a || z1.a as a from z cross join z as z1 where length(z.a || z1.a) < 5)) select * from x;
with recursive x(a) as ((values (1)) union all (with z as materialized (select a+1 as a from x where a < 5) select z.a from z)) select * from x;
with recursive x(a) as ((values (1)) union (with z as materialized (select a+1 as a from x where a < 5), y as materialized (select z.a * 2 as a from z where exists (select from z z2 where z2.a < 4)) select z.a from z union all select a from y union all select count(*) from z)) select * from x order by 1;
CREATE TABLE department (id INTEGER PRIMARY KEY, parent_department INTEGER REFERENCES department, name TEXT);
INSERT INTO department VALUES (0, NULL, 'ROOT'), (1, 0, 'A'), (2, 1, 'B'), (3, 2, 'C'), (4, 2, 'D'), (5, 0, 'E'), (6, 4, 'F'), (7, 5, 'G');
with recursive q as (select * from department union all (with x as (select * from q) select * from x)) select * from q limit 24;
with recursive q as (select * from department union (with recursive x(id, p, name, d) as (select *, 1 from q where id > 5 union all select id, p, name || '+', d + 1 from x where d < 3) select id, p, name from x where d = 3 and length(name) < 9)) select * from q order by 1, 3;
WITH RECURSIVE
  tab(id_key,link) AS (VALUES (1,17), (2,17), (3,17), (4,17), (6,17), (5,17)),
  iter (id_key, row_type, link) AS (
      SELECT 0, 'base', 17
    UNION ALL (
      WITH remaining(id_key, row_type, link, min) AS (
        SELECT tab.id_key, 'true'::text, iter.link, MIN(tab.id_key) OVER ()
        FROM tab INNER JOIN iter USING (link)
        WHERE tab.id_key > iter.id_key
      ),
      first_remaining AS (
        SELECT id_key, row_type, link
        FROM remaining
        WHERE id_key=min
      ),
      effect AS (
        SELECT tab.id_key, 'new'::text, tab.link
        FROM first_remaining e INNER JOIN tab ON e.id_key=tab.id_key
        WHERE e.row_type = 'false'
      )
      SELECT * FROM first_remaining
      UNION ALL SELECT * FROM effect
    )
  )
SELECT * FROM iter;
select k, (with recursive x(a) as (values (k) union all (with z as materialized (select a+1 as a from x where a < k + 3) select z.a from z)) select string_agg(a::text, ',') from x) from generate_series(1, 3) k;
-- a query of the same name within reads the one around it, unless it is recursive
with recursive x(col) as (select 1 union (with x as (select * from x) select * from x)) select * from x;
with recursive x(col) as (select 1 union all (with x as (select col + 1 from x where col < 3), z as (select * from x) select * from z)) select * from x;
with recursive x(col) as (select 1 union all (with y as (select col + 1 from x where col < 3), x as (select 7) select * from y)) select * from x;
with recursive x(col) as (select 1 union all (with recursive x as (select 1) select * from x)) select * from x;
with recursive x(col) as (select 1 union all (with a as (select * from x), x as (select * from x) select * from x)) select * from x;
with recursive x(col) as (select 1 union (with x as (select * from x) select * from x)) search depth first by col set seq select * from x;
