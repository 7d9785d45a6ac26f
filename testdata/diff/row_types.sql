-- Rows that differ in their types or in the names of their fields alone.
create table p(x int,y int); insert into p values (1,2);
select json_agg((k,l)), json_agg(s) from (select x k, y l from p) s;
create type ct as (p int,q int); create type cu as (x int,y int);
select max(row_to_json(row(x,y)::ct)::text), max(row_to_json(row(x,y)::cu)::text) from p;
select to_json(s)::text, to_json((k,l))::text from (select x k, y l from p) s group by s,(k,l);
select json_agg(s) from (select x k,y l from p) s having json_agg((k,l))::text like '%f1%';
select json_agg(array[s]), json_agg(array[(k,l)]) from (select x k, y l from p) s;
select row(x,y)::ct = row(1,2)::ct from p group by row(x,y)::ct; 
select row_to_json(row(x,y)::ct), count(*) from p group by row(x,y)::ct; 
select row(x,y)::ct, count(*) from p group by row(x,y)::ct; 
select row(x,y)::ct, row(x,y)::cu, count(*) from p group by 1,2; 
select row_to_json(row(x,y)::ct), row_to_json(row(x,y)::cu) from p group by row(x,y)::ct,row(x,y)::cu;
select row_to_json(row(x,y)) from p group by row(x,y);
select row_to_json(p) , p from p group by p;
select p.x from p group by p;
select (p).x from p group by p;
select row_to_json(row(x,y)::ct), row_number() over (order by row(x,y)::ct) from p group by row(x,y)::ct order by row(x,y)::ct;
select distinct on (row(x,y)::ct) row_to_json(row(x,y)::ct) from p order by row(x,y)::ct;
