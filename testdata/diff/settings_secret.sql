-- Parameters that not everybody may see.
create role curious;
set role curious;
show data_directory;
show unix_socket_directories;
show hba_file;
select current_setting('config_file');
select current_setting('config_file', true);
select name from pg_settings where name in ('data_directory', 'hba_file', 'ssl_ciphers', 'work_mem') order by 1;
reset role;
grant pg_read_all_settings to curious;
set role curious;
select name from pg_settings where name in ('data_directory', 'hba_file', 'ssl_ciphers', 'work_mem') order by 1;
select length(current_setting('log_directory')) > 0;
reset role;
drop role curious;
