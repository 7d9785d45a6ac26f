-- The location-based services schema of the founding paper.
CREATE TABLE city (
  city_id      integer PRIMARY KEY,
  name         text NOT NULL,
  alt_name     text,
  country      char(2),
  admin_code   text,
  feature_code text,
  population   bigint NOT NULL,
  latitude     double precision NOT NULL,
  longitude    double precision NOT NULL
);

CREATE TABLE geo (
  poi_id    integer PRIMARY KEY,
  latitude  double precision NOT NULL CHECK (latitude BETWEEN -90 AND 90),
  longitude double precision NOT NULL CHECK (longitude BETWEEN -180 AND 180)
);
CREATE INDEX geo_lat ON geo (latitude, longitude);

CREATE TABLE poi (
  poi_id     integer NOT NULL REFERENCES geo (poi_id) ON DELETE CASCADE,
  language   integer NOT NULL,
  poi_name   varchar(100) NOT NULL,
  categories varchar(255),
  city       varchar(100),
  PRIMARY KEY (poi_id, language)
);
CREATE INDEX poi_name ON poi (poi_name);

CREATE TABLE event (
  event_id   integer PRIMARY KEY,
  event_name varchar(100) NOT NULL UNIQUE,
  language   integer NOT NULL,
  category   varchar(30) NOT NULL
);

CREATE TABLE showtime (
  poi_id     integer NOT NULL REFERENCES geo (poi_id) ON DELETE CASCADE,
  event_id   integer NOT NULL REFERENCES event (event_id),
  start_time timestamp NOT NULL,
  end_time   timestamp NOT NULL,
  PRIMARY KEY (poi_id, event_id, start_time),
  CHECK (start_time < end_time)
);
CREATE INDEX showtime_start ON showtime (start_time);
