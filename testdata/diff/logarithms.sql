SELECT i, ln(i::numeric), ln(i / 7.0), ln((1 + i / 1e12)::numeric), log(i::numeric), log((i + 1)::numeric, (i * i)::numeric), log(10 ^ (i - 60)::numeric) FROM generate_series(1, 120) i;
SELECT i, power(i / 3.0, 1.5), power(1.0000001, i * 1000.1), (i / 100.0) ^ (-0.37), exp(ln(i / 9.0)), sqrt(i / 7.0), power(2.5, i / 10.0) FROM generate_series(1, 300) i;
SELECT ln(0.00000000000000000000000000000123), ln(123456789012345678901234567890.123456789), ln(1e1000), ln(1e-1000), log(1e500), log(2, 1e-300), log(1e-300, 2), log(0.5, 4), log(100, 10), log(3, 3);
SELECT ln(1.0), ln(1.00000000000000000001), ln(0.99999999999999999999), log(1.0000000001, 1.0000000002), log(0.99999, 1.00001), power(10, 0.5), power(10, -400.5), power(1.5, 1000.25);
SELECT ln(repeat('9', 3000)::numeric), ln(('0.' || repeat('0', 900) || '7')::numeric), power(9.99e5, 100.001), 0.1 ^ 3.5, 3 ^ 0.3333333333333333333333, 123.456 ^ 7.89;
SELECT log(64, 2), log(2, 64), log(1.23e-89, 6.4689e45), log(0.99923, 4.58934e34), log(1.000016, 8.452010e18), log(3.1954752e47, 9.4792021e-73);
