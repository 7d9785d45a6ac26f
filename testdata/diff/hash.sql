-- Hash functions of the types, and comparisons that the types make peculiar.
SELECT hashtext('abc'), hashtext(''), hashtext('a longer text of many bytes'), hashtextextended('abc', 0), hashtextextended('abc', 42), hashtext(NULL);
SELECT hashint2(7::int2), hashint4(5), hashint4(-1), hashint8(5), hashint8(-5), hashint8(9223372036854775807), hashint4extended(5, 7), hashint8extended(-5, -7), hashint2extended(1::int2, 0);
SELECT hashfloat4(1.5), hashfloat8(1.5), hashfloat8(0), hashfloat8('-0'), hashfloat8('NaN'), hashfloat8extended(0, 9), hashfloat8extended(2.5, 9);
SELECT hash_numeric(0), hash_numeric(12.50), hash_numeric(12.5), hash_numeric('NaN'), hash_numeric(1e20), hash_numeric_extended(0, 3), hash_numeric_extended(-12.5, 3);
SELECT hashoid(5::oid), hashname('abc'), hashbpchar('abc  '::char(9)), hashnameextended('abc', 1), hashbpcharextended('abc  '::char(9), 1);
SELECT time_hash('12:00'), timestamp_hash('2024-01-01'), interval_hash('1 mon'), interval_hash('30 days'), uuid_hash('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), interval_hash_extended('1 day', 4), uuid_hash_extended('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 4);
SELECT '4294967295'::xid = -1, '4294967295'::xid <> -1, '5'::xid = 5, '5'::xid <> 5;
SELECT date_trunc('nothing', 'infinity'::timestamptz, 'nowhere'), date_trunc('day', '-infinity'::timestamptz, 'nowhere');
SELECT date_trunc('day', '2024-01-01'::timestamptz, 'nowhere');
SELECT array_position('{1,2}'::int[], NULL, NULL::int);
SELECT array_position('{1,NULL}'::int[], NULL, NULL::int);
SELECT array_position('{1,2}'::int[], 1, NULL::int);
