-- A restaurant's table reservations: one reservation per table and date.

CREATE TABLE dining_table (
  table_id int PRIMARY KEY,
  seats    int NOT NULL CHECK (seats > 0)
);
CREATE TABLE reservation (
  reservation_id int PRIMARY KEY,
  table_id       int NOT NULL REFERENCES dining_table,
  day            date NOT NULL,
  guest          text NOT NULL,
  diners         int NOT NULL CHECK (diners > 0),
  CONSTRAINT one_per_table_and_day UNIQUE (table_id, day)
);
CREATE INDEX reservation_diners ON reservation (diners);
