-- A page of rows, joined with the tables that they are of: the rows come in the page's order.
create table author (id int primary key, name text);
create table book (id int primary key, author_id int references author, title text, sold int);
insert into author values (1, 'Ada'), (2, 'Bob'), (3, 'Cyd');
insert into book values (1, 1, 'one', 5), (2, 2, 'two', 9), (3, 3, 'three', 7), (4, 1, 'four', 8), (5, 2, 'five', 1);
analyze author; analyze book;
select p.id, a.name from (select * from book order by sold desc limit 3) as p join author a on a.id = p.author_id;
select b.id, b.title from (select id from book order by sold limit 4) as p join book b on b.id = p.id;
select a.name, p.title from author a, (select author_id, title from book order by sold desc limit 2 offset 1) as p where p.author_id = a.id;
select a.name, p.title from author a, (select author_id, title from book order by sold desc limit 4) as p where p.author_id = a.id limit 1 offset 1;
with p as materialized (select * from book order by title limit 4) select p.title, a.name from p join author a on a.id = p.author_id order by p.title;
