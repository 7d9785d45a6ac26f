-- Everything that pg_dump writes and the server keeps. The roles dump_reader and
-- dump_owner are made by the test.
CREATE SCHEMA app;
CREATE SCHEMA "Odd ""Name";
COMMENT ON SCHEMA app IS 'the application''s schema';
CREATE TYPE app.mood AS ENUM ('sad', 'ok', 'it''s happy');
COMMENT ON TYPE app.mood IS 'moods';
CREATE TYPE app.addr AS (street text, zip varchar(10), geo double precision[]);
CREATE DOMAIN app.posint AS integer DEFAULT 1 NOT NULL CONSTRAINT positive CHECK (VALUE > 0);
CREATE DOMAIN app.email AS text CHECK (VALUE ~ '^[^@]+@[^@]+$');
CREATE TYPE app.speed AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = float8mi, MULTIRANGE_TYPE_NAME = app.speeds);
CREATE TYPE app.moods AS RANGE (SUBTYPE = app.mood);
COMMENT ON TYPE app.speed IS 'from here to there';
CREATE TABLE app.limits (road text, at app.speed DEFAULT app.speed(0, 50, '[]'), felt app.moods, CHECK (at @> 30::float8));
INSERT INTO app.limits VALUES ('A1', '[0,130]', '[sad,ok]'), ('lane', DEFAULT, 'empty');
CREATE SEQUENCE app.counter AS bigint INCREMENT BY 5 MINVALUE 5 MAXVALUE 1000000 START WITH 10 CYCLE;
SELECT nextval('app.counter'), nextval('app.counter');
CREATE FUNCTION app.twice(x integer) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS 'SELECT x * 2';
CREATE FUNCTION app.addthem(a integer, b integer DEFAULT 7, OUT total integer, OUT diff integer) LANGUAGE sql STABLE AS $$ SELECT a + b, a - b $$;
CREATE FUNCTION app.standard(x integer) RETURNS integer LANGUAGE sql IMMUTABLE RETURN app.twice(x);
CREATE FUNCTION app.rows_of(n integer) RETURNS TABLE(i integer, t text) LANGUAGE sql AS $_$ SELECT g, 'r' || g FROM generate_series(1, $1) g $_$;
CREATE FUNCTION app.path(x integer) RETURNS text LANGUAGE sql STABLE SET search_path TO 'app', 'public' SET "DateStyle" TO 'ISO, DMY' AS $$ SELECT current_setting('search_path') $$;
CREATE PROCEDURE app.noop(x integer) LANGUAGE sql AS 'SELECT 1';
COMMENT ON FUNCTION app.twice(integer) IS 'doubles';
CREATE FUNCTION app.near(integer, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT abs($1 - $2) < 10';
CREATE FUNCTION app.far(integer, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT abs($1 - $2) >= 10';
CREATE OPERATOR app.~=~ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = app.near, COMMUTATOR = OPERATOR(app.~=~), NEGATOR = OPERATOR(app.!~=~));
CREATE OPERATOR app.!~=~ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = app.far, COMMUTATOR = OPERATOR(app.!~=~), NEGATOR = OPERATOR(app.~=~));
COMMENT ON OPERATOR app.~=~ (integer, integer) IS 'near';
CREATE FUNCTION app.felt(app.mood) RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT CASE $1 WHEN 'sad'::app.mood THEN 0 ELSE 1 END $$;
CREATE CAST (app.mood AS integer) WITH FUNCTION app.felt(app.mood) AS ASSIGNMENT;
CREATE CAST (text AS app.mood) WITH INOUT;
CREATE VIEW app.feelings AS SELECT felt, lower(felt)::integer AS level, 5 OPERATOR(app.~=~) 7 AS near FROM app.limits;
CREATE TABLE app.customer (
  id integer GENERATED ALWAYS AS IDENTITY (START WITH 100 INCREMENT BY 10),
  name varchar(40) NOT NULL,
  mail app.email,
  feels app.mood DEFAULT 'ok',
  address app.addr,
  rank app.posint,
  tags text[] DEFAULT '{a,b}'::text[],
  doc jsonb DEFAULT '{"k": [1, 2]}'::jsonb,
  born date,
  made timestamp with time zone DEFAULT '2020-01-01 00:00:00+00',
  amount numeric(10,2) DEFAULT 0.00,
  double_amount numeric GENERATED ALWAYS AS (amount * 2) STORED,
  flag boolean DEFAULT true,
  raw bytea DEFAULT '\x00ff'::bytea,
  u uuid,
  bits bit varying(8),
  ivl interval DEFAULT '1 day 02:00:00'::interval,
  "weird ""Col" text DEFAULT 'it''s',
  CONSTRAINT customer_pkey PRIMARY KEY (id),
  CONSTRAINT customer_mail_key UNIQUE (mail) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT amount_positive CHECK (amount >= 0::numeric),
  CONSTRAINT either CHECK (name IS NOT NULL OR mail IS NOT NULL)
);
COMMENT ON TABLE app.customer IS 'people';
COMMENT ON COLUMN app.customer.name IS 'full name';
COMMENT ON CONSTRAINT amount_positive ON app.customer IS 'no debts';
CREATE INDEX customer_lower ON app.customer (lower(name), born DESC NULLS LAST);
CREATE UNIQUE INDEX customer_u ON app.customer (u) WHERE u IS NOT NULL;
CREATE INDEX customer_incl ON app.customer (born) INCLUDE (name, amount);
CREATE INDEX customer_tags ON app.customer USING gin (tags);
CREATE INDEX customer_pat ON app.customer (name varchar_pattern_ops);
CREATE UNIQUE INDEX customer_nnd ON app.customer (born, rank) NULLS NOT DISTINCT;
COMMENT ON INDEX app.customer_lower IS 'by name';
ALTER TABLE app.customer ADD CONSTRAINT late CHECK (amount < 1e9) NOT VALID;
INSERT INTO app.customer (name, mail, feels, address, rank, tags, born, amount, u, bits) VALUES
 ('Ann', 'ann@x.org', 'sad', ROW('Main "St"', '123', '{1.5,2}'), 3, '{x,"y z",NULL}', '1990-01-02', 12.50, '11111111-2222-3333-4444-555555555555', B'101'),
 (E'tab\there', 'b@y', 'it''s happy', NULL, 4, NULL, NULL, 0, NULL, NULL),
 ('Ünïcode', NULL, NULL, ROW(NULL, '', NULL), 5, '{}', '2020-02-29', 99999.99, NULL, B'');
CREATE TABLE app.serials (id serial PRIMARY KEY, small smallserial, big bigserial, v text COLLATE "C");
INSERT INTO app.serials (v) VALUES ('one'), ('two');
CREATE TABLE app.orders (
  id bigint NOT NULL,
  customer integer,
  day date NOT NULL,
  region text DEFAULT 'eu'::text NOT NULL,
  total numeric(12,2) DEFAULT 0,
  CONSTRAINT total_ok CHECK (total >= 0::numeric)
) PARTITION BY RANGE (day);
ALTER TABLE app.orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id, day, region);
ALTER TABLE app.orders ADD CONSTRAINT orders_customer FOREIGN KEY (customer) REFERENCES app.customer(id) ON UPDATE CASCADE ON DELETE SET NULL;
CREATE INDEX orders_total ON app.orders (total DESC);
CREATE TABLE app.orders_2020 PARTITION OF app.orders FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE app.orders_2021 PARTITION OF app.orders FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') PARTITION BY LIST (region);
CREATE TABLE app.orders_2021_eu PARTITION OF app.orders_2021 (total DEFAULT 5, CONSTRAINT eu_big CHECK (total < 1000000)) FOR VALUES IN ('eu', 'uk', NULL);
CREATE TABLE app.orders_2021_rest PARTITION OF app.orders_2021 DEFAULT;
CREATE TABLE app.orders_rest (region text DEFAULT 'eu'::text NOT NULL, total numeric(12,2) DEFAULT 0, id bigint NOT NULL, customer integer, day date NOT NULL, CONSTRAINT total_ok CHECK (total >= 0::numeric));
ALTER TABLE app.orders ATTACH PARTITION app.orders_rest DEFAULT;
CREATE INDEX orders_2020_own ON app.orders_2020 (region);
COMMENT ON TABLE app.orders_2020 IS 'a partition';
INSERT INTO app.orders VALUES (1, 100, '2020-05-05', 'eu', 10), (2, 110, '2021-05-05', 'us', 20), (3, 120, '2021-06-06', 'eu', 30), (4, NULL, '2030-01-01', 'xx', 1);
CREATE TABLE app.hashed (k integer PRIMARY KEY, v text) PARTITION BY HASH (k);
CREATE TABLE app.hashed_0 PARTITION OF app.hashed FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE app.hashed_1 PARTITION OF app.hashed FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE app.hashed_2 PARTITION OF app.hashed FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO app.hashed SELECT g, 'v' || g FROM generate_series(1, 20) g;
CREATE TABLE app.exprs (a integer, b text) PARTITION BY RANGE (lower(b), (a + 1));
CREATE TABLE app.exprs_1 PARTITION OF app.exprs FOR VALUES FROM (MINVALUE, MINVALUE) TO ('m', 10);
CREATE TABLE app.exprs_2 PARTITION OF app.exprs FOR VALUES FROM ('m', 10) TO (MAXVALUE, MAXVALUE);
INSERT INTO app.exprs VALUES (1, 'Abc'), (2, 'Zed');
CREATE TABLE app.parent (a integer PRIMARY KEY, b integer, UNIQUE (b, a));
CREATE TABLE app.child (x integer, y integer, z integer,
  CONSTRAINT child_fk FOREIGN KEY (x) REFERENCES app.parent(a) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT child_fk2 FOREIGN KEY (y, z) REFERENCES app.parent(b, a) MATCH FULL ON DELETE RESTRICT);
ALTER TABLE app.child ADD CONSTRAINT child_nv FOREIGN KEY (z) REFERENCES app.parent(a) NOT VALID;
ALTER TABLE app.child ADD CONSTRAINT child_setnull FOREIGN KEY (y, x) REFERENCES app.parent(b, a) ON DELETE SET NULL (y);
CREATE VIEW app.v1 AS SELECT c.id, c.name, upper((c.name)::text) AS up, app.twice(c.id) AS dbl FROM app.customer c WHERE c.amount > 0;
CREATE VIEW app.v2 AS SELECT v1.name, count(*) AS n FROM app.v1 GROUP BY v1.name HAVING count(*) > 0 ORDER BY v1.name;
CREATE VIEW app.v_check WITH (security_barrier) AS SELECT serials.id, serials.v FROM app.serials WHERE serials.id < 100 WITH LOCAL CHECK OPTION;
CREATE VIEW app.v_parts AS SELECT orders.id, orders.region, date_trunc('month'::text, orders.day::timestamp with time zone) AS m FROM app.orders;
CREATE RECURSIVE VIEW app.v_rec (n) AS SELECT 1 UNION ALL SELECT n + 1 FROM v_rec WHERE n < 5;
COMMENT ON VIEW app.v1 IS 'a view';
COMMENT ON COLUMN app.v1.up IS 'upper';
CREATE MATERIALIZED VIEW app.mv AS SELECT orders.region, sum(orders.total) AS s FROM app.orders GROUP BY orders.region;
CREATE UNIQUE INDEX mv_region ON app.mv (region);
CREATE MATERIALIZED VIEW app.mv_empty AS SELECT 1 AS one WITH NO DATA;
COMMENT ON MATERIALIZED VIEW app.mv IS 'sums';
CREATE TABLE "Odd ""Name"."Select" ("From" integer, "a b" text, "Ünï" text);
INSERT INTO "Odd ""Name"."Select" VALUES (1, E'new\nline', '\N'), (2, NULL, E'back\\slash');
CREATE UNLOGGED TABLE app.unl (a integer) WITH (fillfactor='70');
GRANT USAGE ON SCHEMA app TO dump_reader;
GRANT SELECT ON app.customer TO dump_reader;
GRANT SELECT (id, day), UPDATE (region) ON app.orders TO dump_reader WITH GRANT OPTION;
GRANT ALL ON app.serials TO PUBLIC;
GRANT USAGE ON SEQUENCE app.counter TO dump_reader;
GRANT EXECUTE ON FUNCTION app.twice(integer) TO dump_reader;
REVOKE ALL ON FUNCTION app.twice(integer) FROM PUBLIC;
GRANT USAGE ON TYPE app.mood TO dump_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA app GRANT SELECT ON TABLES TO dump_reader;
ALTER TABLE app.parent OWNER TO dump_owner;
ALTER TABLE app.customer ALTER COLUMN name SET STATISTICS 500;
CREATE TABLE app.ref_parts (order_id bigint, day date, region text, CONSTRAINT ref_fk FOREIGN KEY (order_id, day, region) REFERENCES app.orders(id, day, region) ON DELETE CASCADE);
INSERT INTO app.ref_parts VALUES (1, '2020-05-05', 'eu'), (2, '2021-05-05', 'us');
CREATE TABLE app.moody (m app.mood NOT NULL, n integer) PARTITION BY LIST (m);
CREATE TABLE app.moody_good PARTITION OF app.moody FOR VALUES IN ('ok', 'it''s happy');
CREATE INDEX moody_n ON ONLY app.moody (n);
CREATE FUNCTION app.reads() RETURNS integer LANGUAGE sql STABLE BEGIN ATOMIC SELECT app.twice(4) AS twice; END;
CREATE VIEW app.v_func AS SELECT app.reads() AS n, r.i FROM app.rows_of(2) r(i, t);
ALTER TABLE app.customer ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON app.customer AS RESTRICTIVE FOR UPDATE TO dump_reader USING (id < 10) WITH CHECK (name <> 'nobody');
CREATE POLICY all_rows ON app.customer USING (EXISTS (SELECT 1 FROM app.orders o WHERE o.id = customer.id));
COMMENT ON POLICY all_rows ON app.customer IS 'those with orders';
CREATE STATISTICS app.order_stats (dependencies) ON day, region, (lower(region)) FROM app.orders;
ALTER STATISTICS app.order_stats SET STATISTICS 300;
CREATE TABLE app.slots (id integer, r int4range, during tsrange, CONSTRAINT slots_free EXCLUDE USING gist (r WITH &&, during WITH &&) WITH (fillfactor='80') WHERE (id > 0) DEFERRABLE INITIALLY DEFERRED, EXCLUDE (id WITH =));
INSERT INTO app.slots VALUES (1, '[1,5)', '[2024-01-01,2024-01-02)'), (2, '[5,9)', '[2024-01-01,2024-01-02)');
COMMENT ON CONSTRAINT slots_free ON app.slots IS 'no two at once';
CREATE INDEX slots_r ON app.slots USING gist (r);
CREATE INDEX slots_during ON app.slots USING spgist (during);
CREATE FUNCTION app.nth(val anyelement, n integer DEFAULT 1) RETURNS anyelement LANGUAGE internal WINDOW IMMUTABLE STRICT AS 'window_nth_value';
CREATE VIEW app.v_window AS SELECT id, app.nth(id, 2) OVER (ORDER BY day) AS second FROM app.orders;
