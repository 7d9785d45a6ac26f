-- An expression with another COLLATE is another expression to GROUP BY and DISTINCT.
create table cc (b text);
insert into cc values ('a'), ('b');
select b collate "C" from cc group by b collate "POSIX";
select b collate "C" from cc group by b collate "C" order by 1;
select b collate "POSIX" from cc group by b collate "POSIX" order by 1;
select b collate "C" from cc group by b order by 1;
select b collate "C" from cc order by b collate "POSIX";
select distinct b collate "C" from cc order by b collate "POSIX";
select distinct on (b collate "C") b from cc order by b collate "POSIX";
select max(b collate "C") from cc group by b collate "default";
select b collate "default" from cc group by b order by 1;
select b from cc group by b collate "default" order by 1;
select b collate "default" from cc group by b collate "C" order by 1;
select b from cc group by b collate "C";
