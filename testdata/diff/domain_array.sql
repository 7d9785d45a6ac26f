-- Domains over arrays, arrays of domains, and domains over these, wherever an array may stand.
create domain ints as int[];
create domain one as int check (value > 0);
create domain ones as one[];
create domain words as varchar(4)[];
create table t (a ints, b words, c one[], d one, e ones, f ones[], g ints[]);
insert into t values ('{1,2}', '{abc,d}', '{4,5}', 3, '{6,7}', '{"{1}","{2,3}"}', '{"{4}"}');
select array_dims(a), array_dims(b), array_dims(c), cardinality(e), array_upper(b, 1), array_length(null::ints, 1) from t;
select a || 42, pg_typeof(a || 42), a || a, pg_typeof(a || a), 3 || a, c || 3, pg_typeof(c || 3::one) from t;
select array_append(a, 3), array_cat(a, a), unnest(a), array_to_string(b, '-'), array_position(a, 2), array_remove(a, 1) from t;
select a[1], pg_typeof(a[1]), c[1], pg_typeof(c[1]), a[1:1], pg_typeof(a[1:1]) from t;
select 1 = any (a), 'abc' = any (b), 6 <= all (e), a = array[1, 2], a @> array[1], a && '{1}' from t;
select max(a), min(b), array_agg(a), count(distinct a) from t;
select e, e[1], f, f[2], pg_typeof(f[2]), (f[2])[1], g[1], array_dims(f), array_dims(f[2]) from t;
select array[[1], [2]]::ones, ('{{1},{2}}'::ones)[1][1], ('{1,2}'::ones)[2], '{1,2}'::ones;
select unnest(f), unnest(g) from t;
update t set f[1] = '{9}', e[2] = 8;
select e, f from t;
update t set e[2] = -1;
update t set f[1] = array[-1];
create function dims(anyarray) returns text language sql as 'select array_dims($1)';
create function plain(anynonarray) returns text language sql as 'select $1::text';
select dims(a), dims(e) from t;
select plain(a) from t;
select array(select '11 22'::int2vector from generate_series(1, 2)), pg_typeof(array(select '11 22'::oidvector)),
  unnest(array(select '3 4'::int2vector));
drop function dims, plain;
drop table t;
drop domain ints, ones, one, words;
-- Literals of arrays whose elements are arrays by their domain, where they are no parameters.
select '{"{1}","{2,3}"}'::ones[], pg_typeof('{"{1}"}'::ones[]), ('{"{1}","{2,3}"}'::ones[])[2];
insert into t (f) select '{"{7}"}';
select '{"{0}"}'::ones[];
select '{"{x}"}'::ones[];
select f from t where f = '{"{7}"}';

-- What is read from a text is checked as well, and a literal keeps its type in stored texts.
CREATE DOMAIN filled AS text CHECK (VALUE <> '');
CREATE DOMAIN nozed AS filled CHECK (VALUE <> 'z');
CREATE DOMAIN few AS filled[] CHECK (array_length(VALUE, 1) < 3);
SELECT '{x,y}'::text::filled[], '{{x},{NULL}}'::text::filled[], NULL::text::filled[];
SELECT '{x,""}'::text::filled[];
SELECT '{x,""}'::filled[];
SELECT '{q}'::text::nozed[];
SELECT '{z}'::text::nozed[];
SELECT '{z}'::nozed[];
SELECT '{a,b}'::text::few;
SELECT '{a,""}'::text::few;
SELECT '{a,b,c}'::text::few;
PREPARE read(text) AS SELECT $1::filled[];
EXECUTE read('{x}');
EXECUTE read('{x,""}');
CREATE TABLE parcel (id int PRIMARY KEY, marks filled[] DEFAULT '{"x", y}', note text CHECK (note::filled[] <> '{"no"}'));
INSERT INTO parcel(id, marks) SELECT 1, '{a,""}'::text::filled[];
INSERT INTO parcel(id, note) VALUES (1, '{a,""}');
INSERT INTO parcel(id, note) VALUES (1, '{"no"}');
INSERT INTO parcel(id, note) VALUES (1, '{a}') RETURNING *;
SELECT column_default FROM information_schema.columns WHERE table_name = 'parcel' ORDER BY ordinal_position;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'parcel'::regclass AND contype = 'c';
