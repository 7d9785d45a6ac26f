-- a foreign key compares by the collation of the key that it refers to
create table pk_c(a text collate "C" primary key);
create table fk_posix(a text collate "POSIX");
create table fk_default(a text, b varchar);
insert into pk_c values ('x');
insert into fk_posix values ('x'), (null);
insert into fk_default values ('x', 'y');
alter table fk_posix add foreign key (a) references pk_c;
alter table fk_default add foreign key (a) references pk_c;
alter table fk_default add foreign key (b) references pk_c;
insert into fk_posix values ('y');
delete from pk_c;
create table pk_d(a text primary key);
create table fk_c(a text collate "C");
insert into fk_c values ('z');
alter table fk_c add foreign key (a) references pk_d;
insert into pk_d values ('z');
alter table fk_c add foreign key (a) references pk_d;
drop table fk_c, pk_d, fk_default, fk_posix, pk_c;
