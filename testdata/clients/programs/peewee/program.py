"""Models, queries, JSON and arrays, migrations and introspection with peewee."""
import datetime
import logging
import os
import sys
import uuid
from decimal import Decimal

import peewee as pw
from playhouse import migrate as mig
from playhouse.postgres_ext import ArrayField, BinaryJSONField, DateTimeTZField, IntervalField, JSONField, PostgresqlExtDatabase, ServerSide
from playhouse.reflection import Introspector, print_model

print("# peewee", pw.__version__)
db = PostgresqlExtDatabase(os.environ["PGDATABASE"])
log = logging.getLogger("peewee")
log.setLevel(logging.DEBUG)
statements = logging.StreamHandler(sys.stdout)
statements.format = lambda record: record.msg[0]
log.addHandler(statements)


class Base(pw.Model):
    class Meta:
        database = db


class Author(Base):
    name = pw.CharField(max_length=30, unique=True)
    born = pw.DateField(null=True, index=True)
    data = BinaryJSONField(default=dict)
    token = pw.UUIDField(default=lambda: uuid.UUID(int=1))


class Book(Base):
    author = pw.ForeignKeyField(Author, backref="books", on_delete="CASCADE")
    title = pw.TextField()
    price = pw.DecimalField(max_digits=8, decimal_places=2, constraints=[pw.Check("price >= 0")])
    tags = ArrayField(pw.TextField, default=list)
    raw = pw.BlobField(null=True)
    at = DateTimeTZField(null=True)
    long = IntervalField(null=True)
    j = JSONField(null=True)
    prequel = pw.ForeignKeyField("self", null=True, backref="sequels", deferrable="INITIALLY DEFERRED")

    class Meta:
        indexes = ((("author", "title"), True),)


def rows(q):
    if isinstance(q, pw._WriteQuery):
        q = q.execute()
        print([m.__data__ if isinstance(m, pw.Model) else m for m in q])
    else:
        print(list(q.tuples()))


db.create_tables([Author, Book])
a = Author.create(name="Ann", born=datetime.date(1970, 1, 2), data={"k": [1, {"x": None}], "s": "q"})
b = Author.create(name="Bob")
Book.insert_many([{"author": a, "title": f"T{i}", "price": Decimal(i) / 2, "tags": ["x", f"t{i}"], "raw": b"\0\1", "long": datetime.timedelta(days=i, seconds=1), "j": {"i": i}} for i in range(6)]).execute()
Book.create(author=b, title="Other", price=1, at=datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc), prequel=1)
rows(Author.select(Author.name, pw.fn.COUNT(Book.id).alias("n"), pw.fn.SUM(Book.price)).join(Book, pw.JOIN.LEFT_OUTER).group_by(Author.name).having(pw.fn.COUNT(Book.id) > 0).order_by(pw.SQL("n").desc()))
rows(Book.select(Book.title, Book.tags[1]).where(Book.tags.contains("t3") | Book.tags.contains_any("t4", "t5")).order_by(Book.title))
rows(Author.select(Author.data["k"][0], Author.data["k"][1]["x"].as_json(), Author.data["s"]).where(Author.data.contains({"s": "q"})))
rows(Author.select(Author.name).where(Author.data.has_key("k") | Author.data.contains_any("z", "s")))
rows(Author.update(data=Author.data.concat({"new": 1})).where(Author.name == "Bob").returning(Author.data))
rows(Book.select(Book.title, pw.fn.RANK().over(partition_by=[Book.author], order_by=[Book.price.desc()])).order_by(Book.id))
rows(Book.select(pw.fn.date_trunc("month", Book.at), Book.at.year, Book.long).where(Book.at.is_null(False)))
base = Book.select(Book.id, Book.title, pw.Value(1).alias("level")).where(Book.prequel.is_null()).cte("base", recursive=True, columns=("id", "title", "level"))
step = Book.select(Book.id, Book.title, (base.c.level + 1)).join(base, on=(Book.prequel == base.c.id))
cte = base.union_all(step)
rows(cte.select_from(cte.c.title, cte.c.level).order_by(cte.c.title))
rows(Author.insert(name="Ann", born=None).on_conflict(conflict_target=[Author.name], preserve=[Author.born], update={Author.token: uuid.UUID(int=9)}).returning(Author.name, Author.born, Author.token))
print(Author.insert(name="Bob").on_conflict_ignore().execute())
rows(Book.select(Book.title).where(Book.title ** "t%", Book.title.regexp("[0-2]$"), Book.price.between(0, 5), Book.author.in_(Author.select().where(Author.name.startswith("A")))).order_by(pw.fn.LOWER(Book.title)))
rows((Book.select(Book.title).where(Book.price < 1) | Book.select(Book.title).where(Book.price > 2)).order_by(pw.SQL("1")))
rows(Book.select(pw.Case(None, [(Book.price > 1, "dear")], "cheap"), pw.fn.COUNT(1)).group_by(pw.SQL("1")).order_by(pw.SQL("1")))
for q in (lambda: Book.create(author=a, title="T1", price=1), lambda: Book.create(author=a, title="neg", price=-1), lambda: Author.create(name=None), lambda: Author.create(name="x" * 40), lambda: db.execute_sql("SELECT nothing")):
    try:
        with db.atomic():
            q()
    except pw.PeeweeException as e:
        print(type(e).__name__, e)
with db.atomic() as tx:
    Book.delete().where(Book.price > 1).execute()
    with db.savepoint() as sp:
        Author.delete().execute()
        sp.rollback()
    print(Book.select().count(), Author.select().count())
    tx.rollback()
with db.atomic():
    print([x.title for x in ServerSide(Book.select().order_by(Book.id))])
    rows(Book.select().where(Book.id == 1).for_update(nowait=True).tuples())
for author in pw.prefetch(Author.select().order_by(Author.id), Book.select().order_by(Book.id)):
    print(author.name, [x.title for x in author.books])
m = mig.PostgresqlMigrator(db)
mig.migrate(m.add_column("book", "pages", pw.IntegerField(default=100)), m.rename_column("book", "raw", "cover"), m.drop_not_null("book", "title"), m.add_index("book", ("pages", "price"), False),
            m.alter_column_type("book", "pages", pw.BigIntegerField()), m.add_constraint("book", "pages_positive", pw.Check("pages > 0")), m.drop_column("book", "j"), m.add_not_null("book", "title"), m.rename_table("author", "writer"),
            m.set_search_path("public"))
print(db.get_tables(), [(c.name, c.data_type, c.null, c.primary_key, c.default) for c in db.get_columns("book")], db.get_primary_keys("book"))
print(sorted((i.name, i.sql, i.columns, i.unique) for i in db.get_indexes("book")), [tuple(f) for f in db.get_foreign_keys("book")], db.get_views())
for model in sorted(Introspector.from_database(db).generate_models().values(), key=lambda x: x._meta.table_name):
    print_model(model)
db.drop_tables([Book], cascade=True)
