-- Paths of which only counts whether they find something: a sign passes over what is
-- no number there, and nowhere else.
SELECT '["1", 2]'::jsonb @? '-$[*]', '["1"]'::jsonb @? '-$[*]', '["1", 2]'::jsonb @? 'strict -$[*]';
SELECT jsonb_path_exists('["1", 2]', '+$[*]'), jsonb_path_exists('["1"]', '+$[*]');
SELECT jsonb_path_exists('["1", 2]', '(-$[*]).abs()');
SELECT jsonb_path_query('[["1", 2], ["1"], [3]]', '$[*] ? (exists (-@[*]))');
SELECT jsonb_path_query('["1", 2]', '-$[*]');
SELECT jsonb_path_exists('["1", 2]', '-(-$[*])');
