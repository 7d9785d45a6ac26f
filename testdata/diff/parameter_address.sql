-- The privileges of parameters are objects.
create role par_rp;
grant set on parameter work_mem to par_rp;
grant set on parameter "ABC.def" to par_rp;
select pg_describe_object(tableoid, oid, 0), pg_identify_object(tableoid, oid, 0), pg_identify_object_as_address(tableoid, oid, 0) from pg_parameter_acl order by parname;
select objsubid, classid = 'pg_parameter_acl'::regclass from pg_get_object_address('parameter ACL', '{WORK_MEM}', '{}');
select * from pg_get_object_address('parameter ACL', '{nosuch}', '{}');
drop owned by par_rp;
drop role par_rp;
