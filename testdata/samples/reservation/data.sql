INSERT INTO dining_table VALUES (1, 2), (2, 2), (3, 4), (4, 6), (5, 8);
INSERT INTO reservation VALUES
  (101, 1, '2026-12-04', 'Anna', 2), (102, 3, '2026-12-04', 'Barbu', 4), (103, 5, '2026-12-04', 'Csaba', 7),
  (104, 1, '2026-12-05', 'Dana', 2), (105, 4, '2026-12-05', 'Elek', 4);
