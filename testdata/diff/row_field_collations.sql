-- Fields of rows that functions return have the collations of the type's columns.
create type cty as (x text collate "C", y int);
create function fc() returns cty language sql as 'select row(''a'', 1)::cty';
create function fcs() returns setof cty language sql as 'select row(''a'', 1)::cty';
create table ctab (x text collate "C", y text collate "POSIX");
create function fct() returns ctab language sql as 'select row(''a'', ''b'')::ctab';
create view cv1 as select * from fc(); create view cv2 as select x from fcs(); create view cv3 as select (fc()).x; create view cv4 as select * from fct(); create view cv5 as select (fct()).y, (c).x from (select fc() c) s;
create view cv6 as select c.x from ctab t, lateral fc() c; create view cv7 as select x || 'a' as z, max(x) as m from fc() group by 1;
create table cta as select * from fct();
select attrelid::regclass, attname, attcollation::regcollation from pg_attribute where attrelid in ('cv1'::regclass,'cv2'::regclass,'cv3'::regclass,'cv4'::regclass,'cv5'::regclass,'cv6'::regclass,'cv7'::regclass,'cta'::regclass) and attnum > 0 and attcollation <> 0 order by 1, attnum;
