-- What clients ask of the catalogs without ORDER BY, relying on the order of PostgreSQL's
-- nested loops: the columns of an index, of a key, of a table come in their own order.
create table account (id bigint primary key, name varchar(50), age smallint, born date, note text not null default '');
create index account_name_age on account (name, age);
create unique index account_note_id_born on account (note, id, born);
create table bill (account_id bigint references account, no int, total numeric(10,2), primary key (no, account_id));

select i.relname, a.attname, y.typname
from pg_class t join pg_index ix on ix.indrelid = t.oid
join pg_attribute a on a.attrelid = t.oid and a.attnum = any(ix.indkey)
join pg_class i on i.oid = ix.indexrelid join pg_type y on y.oid = a.atttypid
where t.relname = 'account' and i.relname = 'account_name_age' and not indisprimary;

select i.relname, a.attname, y.typname
from pg_class t join pg_index ix on ix.indrelid = t.oid
join pg_attribute a on a.attrelid = t.oid and a.attnum = any(ix.indkey)
join pg_class i on i.oid = ix.indexrelid join pg_type y on y.oid = a.atttypid
where i.relname = 'account_note_id_born';

select opcname, attname, i.indoption[s.g] as option, pg_am.amname
from (select generate_series(array_lower(isub.indkey, 1), array_upper(isub.indkey, 1)) as g
  from pg_index isub join pg_class cis on cis.oid = isub.indexrelid join pg_namespace ns on cis.relnamespace = ns.oid
  where cis.relname = 'account_note_id_born' and ns.nspname = current_schema()) as s,
  pg_attribute, pg_opclass opcls, pg_am,
  pg_class ci join pg_index i on ci.oid = i.indexrelid join pg_class ct on ct.oid = i.indrelid join pg_namespace n on ci.relnamespace = n.oid
where ci.relname = 'account_note_id_born' and n.nspname = current_schema() and attrelid = ct.oid
  and i.indkey[s.g] = attnum and i.indclass[s.g] = opcls.oid and pg_am.oid = opcls.opcmethod;

select a.attname, t.typname, pg_get_expr(d.adbin, d.adrelid) as def, col_description(a.attrelid, a.attnum) as comment
from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
join pg_type t on t.oid = a.atttypid left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where c.relname = 'account' and n.nspname = current_schema() and a.attnum > 0 and not a.attisdropped;

select con.conname, a.attname
from pg_constraint con join pg_class c on c.oid = con.conrelid
join pg_attribute a on a.attrelid = con.conrelid and a.attnum = any(con.conkey)
where c.relname = 'bill' and con.contype = 'p';

comment on column pg_class.relname is 'a name';
select obj_description('pg_class'::regclass, 'pg_class'), col_description('pg_class'::regclass, 2);
select obj_description(oid, 'pg_proc') from pg_proc where proname = 'sqrt';
select count(obj_description(oid, 'pg_type')) from pg_type where oid < 2000;
comment on table account is 'accounts';
comment on constraint account_pkey on account is 'key';
create type pair as (a int, b int);
comment on column pair.b is 'second';
select obj_description(oid, 'pg_constraint') from pg_constraint where conname = 'account_pkey';
select col_description(typrelid, 2) from pg_type where typname = 'pair';
select objsubid, description from pg_description where objoid = 'account'::regclass;
select relname, relkind from pg_class where relname = 'pair' or relname = 'account_pkey' order by 1;

select * from pg_available_extensions() where name = 'plpgsql';
select * from pg_available_extension_versions() where name = 'plpgsql';
select relname, relreplident from pg_class where relname in ('sql_parts', 'pg_class', 'account', 'account_pkey') order by 1;

alter table bill add check (total > 0 and no > 0 or account_id is null and no < total), add check (no > 0);
select conname, conkey from pg_constraint where conrelid = 'bill'::regclass and contype = 'c' order by 1;

-- few rows, and more than were thought, that look the catalog's up
create function some_oids(n int) returns setof oid language sql volatile rows 10 as 'select g::oid from generate_series(1, n) g';
select count(*), count(t.oid), sum(t.typlen) filter (where t.typtype = 'b') from some_oids(5000) g left join pg_type t on t.oid = g and t.typtype = 'b' and t.oid < 1300;
select count(*), min(t.typname), max(t.typname) from some_oids(40) g join pg_type t on t.oid = g;
select g, t.typname from some_oids(40) g join pg_type t on t.oid = g;
select g, t.typname from some_oids(24) g left join pg_type t on t.oid = g where g > 18;
select count(*) from some_oids(5000) g where not exists (select from pg_type t where t.oid = g and t.oid < 1300);
select count(*) from some_oids(100) g where exists (select from pg_attribute a where a.attrelid = 1259 and a.atttypid = g);
select length(v), t.typname from (select repeat('x', 100000) || g as v, g from some_oids(30) g) x join pg_type t on t.oid = x.g;
select c.relname, a.attname from (values ('pg_class'), ('pg_type'), ('pg_am')) v(n) join pg_class c on c.relname = v.n join pg_attribute a on a.attrelid = c.oid where a.attnum in (1, 2);
