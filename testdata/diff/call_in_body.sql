-- CALL in bodies: of procedures without output arguments.
CREATE TABLE cp (a int);
CREATE PROCEDURE out2(INOUT a int, INOUT b int) LANGUAGE sql AS $$ SELECT 1, 2; $$;
CREATE PROCEDURE store(v int) LANGUAGE sql AS $$ INSERT INTO cp VALUES (v); $$;
CALL out2(NULL, NULL);
CREATE PROCEDURE p1(INOUT b int, INOUT a int) LANGUAGE sql AS $$ CALL out2(a, b); $$;
CREATE PROCEDURE p2() LANGUAGE sql AS $$ CALL out2(1, 2); $$;
CREATE FUNCTION f1() RETURNS int LANGUAGE sql AS $$ CALL out2(1, 2); SELECT 1; $$;
CREATE PROCEDURE p3() BEGIN ATOMIC CALL store(1); END;
CREATE PROCEDURE p4() LANGUAGE sql AS $$ CALL store(1); CALL store(2); $$;
CALL p4();
CREATE FUNCTION f2() RETURNS bigint LANGUAGE sql AS $$ CALL p4(); SELECT count(*) FROM cp; $$;
SELECT f2();
TABLE cp;
-- a body in standard form has no commands
create procedure atomic_q() language sql begin atomic select 1; end;
create procedure atomic_p() language sql begin atomic call atomic_q(); end;
create procedure atomic_p() language sql begin atomic create table x (a int); end;
create procedure atomic_p() language sql begin atomic truncate x; end;
create procedure atomic_p() language sql begin atomic drop table if exists y; end;
create procedure atomic_p() language sql begin atomic set a.b = 1; end;
create procedure atomic_p() language sql begin atomic notify x; end;
create procedure atomic_p() language sql begin atomic create index on x (a); end;
create procedure atomic_p() language sql begin atomic commit; end;
create procedure atomic_p() language sql begin atomic lock table x; end;
drop procedure atomic_q();
