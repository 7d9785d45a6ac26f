\set id random(1, :rows - 100)
SELECT sum(length(dim.name)) FROM bench JOIN dim ON dim.d = bench.c % 100000 WHERE bench.id BETWEEN :id AND :id + 99;
