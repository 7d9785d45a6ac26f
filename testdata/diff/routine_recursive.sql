CREATE FUNCTION nested(x int) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT CASE WHEN x < 3 THEN x ELSE nested(x - 1) + nested(x - 2) END$$;
SELECT nested(15);
CREATE TABLE ch(x int CHECK (nested(x) > 2));
INSERT INTO ch VALUES (5);
INSERT INTO ch VALUES (1);
DROP FUNCTION nested(int);
