INSERT INTO log (a, b) VALUES (42, 'a short note');
