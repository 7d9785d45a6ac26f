CREATE TABLE ac_hobby (name text, person text);
INSERT INTO ac_hobby VALUES ('chess', 'jo'), ('golf', 'al');
SELECT name(h), person(h), h.name FROM ac_hobby h ORDER BY 1;
SELECT name(h.*) FROM ac_hobby h ORDER BY 1;
SELECT text(h) FROM ac_hobby h;
SELECT pg_typeof(name('x'));
SELECT length(h) FROM ac_hobby h;
SELECT name(name) FROM ac_hobby ORDER BY 1;
