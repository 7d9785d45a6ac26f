-- An application's configuration: one table of keys and values per namespace.
-- Keys are entity:account, or entity:account:attribute.

CREATE SCHEMA config;
CREATE TABLE config.customer  (key text PRIMARY KEY, name text NOT NULL, plan text DEFAULT 'basic', seats int CHECK (seats > 0));
CREATE TABLE config.dashboard (key text PRIMARY KEY, value jsonb NOT NULL);
CREATE TABLE config.alerts    (key text PRIMARY KEY, value int CHECK (value BETWEEN 0 AND 100));
CREATE TABLE config.ui        (key text PRIMARY KEY, value text);
