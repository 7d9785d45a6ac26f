CREATE TABLE fj (a jsonpath);
INSERT INTO fj VALUES ('$');
INSERT INTO fj VALUES ('$.b');
INSERT INTO fj VALUES ('$ ? (@ like_regex "(")');
SELECT count(*) FROM fj;
