-- DISTINCT ON leaves rows out before volatile expressions beside its own are computed.
create sequence q;
create table s (i int);
insert into s values (1), (2), (3), (4), (5);
select distinct on (i % 2) i, nextval('q') from s order by i % 2, i;
select currval('q');
select distinct on (i % 2) i, nextval('q') from s order by i % 2, i limit 1;
select distinct on (i % 2) i, nextval('q') + 0 x from s order by i % 2, x;
select currval('q');
select distinct on (nextval('q') * 0) i from s order by nextval('q') * 0, i;
select currval('q');
select distinct i % 2, nextval('q') * 0 from s order by 1;
select currval('q');
select distinct on (i % 2) i, random() < 2 from s order by i % 2, i;
select * from (select distinct on (i % 2) i, nextval('q') n from s order by i % 2, i) z where n > 0 order by 1;
select currval('q');
