"""Entities, generated queries, JSON, arrays and decompiled generators with Pony."""
import os
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pony
from pony import orm

print("# Pony", pony.__version__)
db = orm.Database()


class Person(db.Entity):
    name = orm.Required(str, 40)
    age = orm.Optional(int, size=16)
    email = orm.Optional(str, unique=True, nullable=True)
    cars = orm.Set("Car")
    friends = orm.Set("Person", reverse="friends")
    info = orm.Optional(orm.Json)
    nums = orm.Optional(orm.IntArray)
    orm.composite_key(name, age)


class Student(Person):
    gpa = orm.Optional(float)
    since = orm.Optional(date)


class Car(db.Entity):
    owner = orm.Required(Person)
    model = orm.Required(str)
    price = orm.Required(Decimal, precision=10, scale=2)
    at = orm.Optional(datetime, precision=3)
    took = orm.Optional(timedelta)
    uid = orm.Optional(UUID)
    raw = orm.Optional(bytes)
    orm.composite_index(model, price)


db.bind("postgres", database=os.environ["PGDATABASE"])
orm.set_sql_debug(True, True)
db.generate_mapping(create_tables=True)
with orm.db_session:
    p = [Person(name=f"P{i}", age=20 + i, info={"a": {"b": i}, "l": [1, i]}, nums=[i, i + 1]) for i in range(5)]
    s = Student(name="Stu", age=19, gpa=3.5, since=date(2020, 9, 1), email="s@x")
    for i, x in enumerate(p):
        x.friends.add(p[(i + 1) % 5])
        Car(owner=x, model="M%d" % (i % 2), price=Decimal(100 * i) + Decimal("0.5"), at=datetime(2024, 1, i + 1, 1, 2, 3, 4000), took=timedelta(hours=i), uid=UUID(int=i), raw=b"\0" * i)


def show(f):
    with orm.db_session:
        try:
            r = f()
            print(list(r) if isinstance(r, (orm.core.Query, orm.core.QueryResult)) else r)
        except Exception as e:
            print(type(e).__name__, e)


show(lambda: orm.select((p.name, orm.count(c), orm.sum(c.price)) for p in Person for c in p.cars if p.age > 20).order_by(1))
show(lambda: orm.select(p.name for p in Person if "P" in p.name and p.info["a"]["b"] > 2).order_by(lambda n: orm.desc(n)))
show(lambda: orm.select((p.name, p.info["l"][1], p.nums[0]) for p in Person if p.info["l"] is not None and 2 in p.nums).order_by(1))
show(lambda: orm.select(c for c in Car if c.at.year == 2024 and c.at.day < 3 and c.owner.friends).order_by(Car.id)[:])
show(lambda: orm.select((c.model, orm.avg(c.price), orm.max(c.at), orm.group_concat(c.owner.name, sep="/")) for c in Car).order_by(1))
show(lambda: orm.select(p.name for p in Person if not orm.exists(c for c in Car if c.owner == p and c.price > 200)).order_by(1))
show(lambda: orm.select(p.name for p in Person if p.age == max(x.age for x in Person)))
show(lambda: Person.select(lambda p: p.name.startswith("P")).order_by(orm.desc(Person.age)).page(2, 2))
show(lambda: Student.get(email="s@x").gpa)
show(lambda: [type(x).__name__ for x in Person.select().order_by(Person.id).limit(9, offset=4)])
show(lambda: orm.select(p.name.upper()[:2] + "!" for p in Person).without_distinct().order_by(1)[:3])
show(lambda: orm.select((c.price * 2, abs(-c.price), round(float(c.price), 1), c.price // 3) for c in Car).order_by(1)[:2])
show(lambda: orm.select(c.at + timedelta(days=1) for c in Car).order_by(1)[:1])
show(lambda: orm.select((p.name, orm.coalesce(p.email, "none"), "old" if p.age > 22 else "young") for p in Person).order_by(1))
show(lambda: db.select("SELECT count(*) FROM car WHERE price > $x", {"x": 150}))
show(lambda: Person.select_by_sql("SELECT * FROM person WHERE age > 22 ORDER BY id"))
show(lambda: orm.select(p for p in Person if orm.raw_sql("p.age % 2 = 0")).count())
show(lambda: orm.delete(c for c in Car if c.price < 100))
show(lambda: Person(name="P1", age=21) and orm.commit())
show(lambda: Person.get_for_update(name="P2", nowait=True).set(age=99))
show(lambda: Person.get(name="P2").delete())
show(lambda: orm.commit())
db.disconnect()
sys.stdout.flush()
