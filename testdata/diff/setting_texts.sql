-- The texts of pg_settings, file modes, and where slices of jsonb are refused.
select name, short_desc, extra_desc from pg_settings where context = 'user' and name ~ '^(enable|vacuum|lock|idle|array|bytea)' order by name;
select name, setting, boot_val, reset_val from pg_settings where name in ('log_file_mode', 'data_directory_mode') order by name;
show log_file_mode;
show data_directory_mode;
select count(*) from pg_settings where name = 'seed';
create table setting_j (k int primary key, j jsonb);
select ('{"a":1}'::jsonb)[1:2];
select ('{"a":1}'::jsonb)['a':];
select ('{"a":1}'::jsonb)[:];
select j['a'][1:2] from setting_j;
update setting_j set j[1:2] = '1';
update setting_j set j['a'][1:2] = '1';
-- What ON CONFLICT names is looked for last.
insert into setting_j values (1, '1') on conflict (j) do nothing returning nosuch;
insert into setting_j values (1, '1') on conflict (j) do update set j = nosuch;
insert into setting_j values (1, '1') on conflict (j) do update set j = '2' returning k;
select $65536;
select 1 + $3, $2;
drop table setting_j;
