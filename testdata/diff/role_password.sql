-- The empty string is no password.
create role rp_1 password 'x';
create role rp_2 password '';
alter role rp_1 password '';
alter role rp_1 password null;
alter role rp_1 password 'SCRAM-SHA-256$4096:hpFyHTUsSWcR7O9P$LgZFIt6Oqdo27ZFKbZ2nV+vtnYM995pDh9ca6WSi120=:qVV5NeluNfUPkwm7Vqat25RjSPLkGeoZBQs6wVv+um4=';
alter role rp_1 password 'SCRAM-SHA-256$4096:A6xHKoH/494E941doaPOYg==$Ky+A30sewHIH3VHQLRN9vYsuzlgNyGNKCh37dy96Rqw=:COPdlNiIkrsacU5QoxydEuOH6e/KfiipeETb/bPw8ZI';
drop role rp_1, rp_2;
-- Poolers and pg_dumpall read what is stored.
create role rp_3 login password 'secret';
select rolname, left(rolpassword, 19), length(rolpassword) from pg_authid where rolname like 'rp\_%' order by 1;
select usename, left(passwd, 19), length(passwd) from pg_shadow where usename like 'rp\_%' order by 1;
select usename, passwd from pg_user where usename like 'rp\_%' order by 1;
drop role rp_3;
