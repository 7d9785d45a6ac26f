INSERT INTO config.customer VALUES
  ('customer:17', 'Kovács Kft', 'pro', 25), ('customer:18', 'Pop SRL', 'basic', 3), ('customer:170', 'Schmidt AG', 'pro', 80);
INSERT INTO config.dashboard VALUES
  ('dashboard:17', '{"widgets": ["sales", "stock"], "refresh": 30}'), ('dashboard:18', '{"widgets": ["sales"]}');
INSERT INTO config.alerts VALUES
  ('alerts:17:cpu', 90), ('alerts:17:disk', 80), ('alerts:18:cpu', 95), ('alerts:170:cpu', 70);
INSERT INTO config.ui VALUES
  ('ui:17:theme', 'dark'), ('ui:17:language', 'hu'), ('ui:18:theme', 'light');
