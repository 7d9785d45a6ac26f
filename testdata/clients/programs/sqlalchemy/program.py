"""Tables of every kind of column, reflection, ORM, upserts, and Alembic's comparison and operations."""
import datetime
import decimal
import enum
import uuid

import alembic
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import orm
from sqlalchemy.dialects import postgresql as pg

print("# SQLAlchemy", sa.__version__, "Alembic", alembic.__version__)
engine = sa.create_engine("postgresql+psycopg2://", future=True)


class Mood(enum.Enum):
    sad = 1
    ok = 2


meta = sa.MetaData()
kinds = sa.Table(
    "kinds", meta, sa.Column("id", sa.BigInteger, sa.Identity(start=10, increment=5), primary_key=True), sa.Column("b", sa.Boolean, server_default=sa.true()), sa.Column("s", sa.String(20), nullable=False, comment="a string"),
    sa.Column("n", sa.Numeric(10, 3)), sa.Column("f", sa.Float), sa.Column("d", sa.Date), sa.Column("t", sa.Time), sa.Column("ts", sa.DateTime(timezone=True), server_default=sa.func.now()), sa.Column("i", sa.Interval), sa.Column("m", sa.Enum(Mood, name="mood")),
    sa.Column("u", pg.UUID(as_uuid=True)), sa.Column("j", pg.JSONB), sa.Column("a", pg.ARRAY(sa.Integer)), sa.Column("ta", pg.ARRAY(sa.Text, dimensions=2)), sa.Column("ip", pg.INET), sa.Column("r", pg.INT4RANGE), sa.Column("raw", sa.LargeBinary),
    sa.Column("bits", pg.BIT(5)), sa.Column("twice", sa.Integer, sa.Computed("length(s) * 2")), sa.CheckConstraint("n > 0", name="n_positive"), sa.UniqueConstraint("s", "d", name="uq_s_d"), comment="of kinds")
sa.Index("ix_expr", sa.func.lower(kinds.c.s), postgresql_where=kinds.c.b.is_(True))
sa.Index("ix_incl", kinds.c.n.desc().nulls_last(), postgresql_include=["s"])
sa.Index("ix_gin", kinds.c.j, postgresql_using="gin")
sa.Table("child", meta, sa.Column("k", sa.BigInteger, sa.ForeignKey("kinds.id", ondelete="CASCADE", deferrable=True, initially="DEFERRED"), primary_key=True), sa.Column("no", sa.SmallInteger, primary_key=True, autoincrement=False), sa.Column("x", sa.Text, server_default="its"), schema=None)
sa.Table("other", meta, sa.Column("id", sa.Integer, primary_key=True), sa.Column("k", sa.BigInteger), sa.Column("no", sa.SmallInteger), sa.ForeignKeyConstraint(["k", "no"], ["child.k", "child.no"], match="FULL", onupdate="SET NULL"), schema="second")
with engine.begin() as c:
    c.execute(sa.text("CREATE SCHEMA second"))
    meta.create_all(c)
    c.execute(sa.text("CREATE VIEW seen AS SELECT id, s FROM kinds WHERE n > 1"))
    c.execute(sa.text("CREATE MATERIALIZED VIEW kept AS SELECT count(*) AS n FROM kinds"))

ins = sa.inspect(engine)
print(ins.get_schema_names(), sorted(ins.get_table_names()), sorted(ins.get_view_names()), ins.get_sequence_names(), ins.get_enums(), ins.get_table_names(schema="second"))
for t, schema in (("kinds", None), ("child", None), ("other", "second"), ("seen", None)):
    for f in ("get_columns", "get_pk_constraint", "get_foreign_keys", "get_indexes", "get_unique_constraints", "get_check_constraints", "get_table_comment"):
        r = getattr(ins, f)(t, schema=schema)
        print(t, f, sorted(map(str, r)) if isinstance(r, list) else r)
print(ins.get_view_definition("seen"), ins.get_table_oid("kinds") > 0, ins.has_table("absent"), ins.has_sequence("kinds_id_seq"))
back = sa.MetaData()
back.reflect(engine)
for t in back.sorted_tables:
    print(sa.schema.CreateTable(t).compile(engine))

Base = orm.declarative_base(metadata=sa.MetaData())


class Person(Base):
    __tablename__ = "person"
    id = sa.Column(sa.Integer, primary_key=True)
    kind = sa.Column(sa.String(10))
    name = sa.Column(sa.String, unique=True)
    data = sa.Column(pg.JSONB, default=dict)
    version = sa.Column(sa.Integer, nullable=False)
    boss_id = sa.Column(sa.ForeignKey("person.id"))
    boss = orm.relationship("Person", remote_side=[id], backref="staff")
    notes = orm.relationship("Note", back_populates="person", cascade="all, delete-orphan", order_by="Note.id")
    __mapper_args__ = {"polymorphic_on": kind, "polymorphic_identity": "person", "version_id_col": version}


class Manager(Person):
    __tablename__ = "manager"
    id = sa.Column(sa.ForeignKey("person.id"), primary_key=True)
    budget = sa.Column(sa.Numeric(12, 2))
    __mapper_args__ = {"polymorphic_identity": "manager"}


class Note(Base):
    __tablename__ = "note"
    id = sa.Column(sa.Integer, sa.Sequence("note_seq", start=100), primary_key=True)
    person_id = sa.Column(sa.ForeignKey("person.id", ondelete="CASCADE"), nullable=False)
    text = sa.Column(sa.Text)
    tags = sa.Column(pg.ARRAY(sa.String), server_default="{}")
    person = orm.relationship(Person, back_populates="notes")


Base.metadata.create_all(engine)
with orm.Session(engine, future=True) as s:
    m = Manager(name="Max", budget=decimal.Decimal("99.5"), data={"a": {"b": [1, 2]}})
    s.add_all([m, Person(name="Pat", boss=m, notes=[Note(text="n1", tags=["x", "y"]), Note(text="n2")]), Person(name="Quin", boss=m, data={"z": None})])
    s.commit()
    print([(type(p).__name__, p.name, p.version) for p in s.scalars(sa.select(Person).order_by(Person.id))])
    s.scalars(sa.select(Person).where(Person.name == "Pat")).one().notes[0].text = "changed"
    s.scalars(sa.select(Manager)).one().budget += 1
    s.commit()
    q = sa.select(Person.name, sa.func.count(Note.id).over(partition_by=Person.kind).label("n"), Person.data["a"]["b"][1].astext, Note.tags.contains(["x"])).outerjoin(Person.notes).order_by(Person.name, Note.id)
    print(s.execute(q).all())
    tree = sa.select(Person.id, Person.name, sa.literal(0).label("depth")).where(Person.boss_id.is_(None)).cte("tree", recursive=True)
    tree = tree.union_all(sa.select(Person.id, Person.name, tree.c.depth + 1).join(tree, Person.boss_id == tree.c.id))
    print(s.execute(sa.select(tree.c.name, tree.c.depth).order_by(tree.c.name)).all())
    late = sa.select(Note.text).where(Note.person_id == Person.id).order_by(Note.id.desc()).limit(1).lateral("late")
    print(s.execute(sa.select(Person.name, late.c.text).join(late, sa.true(), isouter=True).order_by(Person.name)).all())
    print([[n.text for n in p.notes] for p in s.scalars(sa.select(Person).options(orm.selectinload(Person.notes), orm.joinedload(Person.boss)).order_by(Person.id))])
    print(s.execute(sa.select(sa.func.json_object_agg(Person.name, Person.version)).group_by(Person.kind).order_by(Person.kind)).all())
    print(s.scalars(sa.select(Person).where(Person.data.has_key("z"), Person.data.contained_by({"z": None})).with_for_update(skip_locked=True, of=Person)).all()[0].name)
    up = pg.insert(Note.__table__).values([{"id": 1, "person_id": 2, "text": "up"}, {"id": 100, "person_id": 2, "text": "down"}])
    print(s.execute(up.on_conflict_do_update(index_elements=["id"], set_={"text": up.excluded.text + "!"}, where=Note.__table__.c.id > 50).returning(Note.id, Note.text)).all())
    print(s.execute(sa.update(Note).where(Note.person_id == sa.select(Person.id).where(Person.name == "Pat").scalar_subquery()).values(text=sa.func.upper(Note.text)).execution_options(synchronize_session="fetch")).rowcount)
    for bad in (Person(name="Max"), Note(text="nobody"), Person(kind="much too long a kind", name="x")):
        try:
            with s.begin_nested():
                s.add(bad)
                s.flush()
        except sa.exc.SQLAlchemyError as e:
            print(type(e).__name__, str(e.__cause__ or e).split("\n")[0])
    print(s.execute(sa.delete(Person).where(Person.name == "Pat").returning(Person.id)).all())
    s.rollback()
    print([x[0] for x in s.connection().execution_options(stream_results=True).execute(sa.text("SELECT g FROM generate_series(1, 10) g")).yield_per(3)])

with engine.begin() as c:
    row = dict(s="x", n=decimal.Decimal("1.25"), f=0.1, d=datetime.date(2024, 1, 1), t=datetime.time(1, 2), ts=datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc), i=datetime.timedelta(1), m=Mood.ok, u=uuid.UUID(int=3), j={"k": [1]}, a=[1, 2], ta=[["a"], ["b"]], ip="10.0.0.1", raw=b"\0", bits="10101")
    print(c.execute(kinds.insert().returning(kinds), row).mappings().one())
    print(c.execute(sa.select(kinds.c.a.any(2), kinds.c.a[1:1], sa.func.unnest(kinds.c.a), kinds.c.j["k"][0].as_integer(), sa.extract("epoch", kinds.c.ts), sa.cast(kinds.c.m, sa.Text), kinds.c.s.regexp_match("^X$", "i"))).all())
    print(c.execute(sa.select(sa.values(sa.column("a", sa.Integer), sa.column("b", sa.String), name="v").data([(1, "x"), (2, "y")]))).all())
    print(c.execute(sa.select(sa.func.percentile_cont(0.5).within_group(kinds.c.n), sa.func.count().filter(kinds.c.b)).group_by(sa.func.rollup(kinds.c.s)).order_by(kinds.c.s)).all())

    # Alembic
    ctx = MigrationContext.configure(c, opts={"compare_type": True, "compare_server_default": True, "include_schemas": True})
    want = sa.MetaData()
    for t in list(meta.sorted_tables) + list(Base.metadata.sorted_tables):
        t.to_metadata(want)
    print(compare_metadata(ctx, want))
    t = want.tables["kinds"]
    t.append_column(sa.Column("added", sa.Integer, server_default="5", nullable=False, index=True))
    t.c.s.type = sa.String(50)
    t.c.f.nullable = False
    want.remove(want.tables["note"])
    sa.Table("fresh", want, sa.Column("id", sa.Integer, primary_key=True), sa.Column("k", sa.ForeignKey("kinds.id")))
    print(render_python_code(produce_migrations(ctx, want).upgrade_ops))
    op = Operations(ctx)
    op.alter_column("child", "x", type_=sa.String(50), server_default="dflt")
    op.add_column("kinds", sa.Column("added", sa.Integer, server_default="5", nullable=False))
    op.create_index("ix_added", "kinds", ["added", sa.text("n DESC")], unique=True)
    op.alter_column("kinds", "added", new_column_name="renamed", nullable=True, comment="was added")
    op.create_check_constraint("ck_renamed", "kinds", "renamed > 0")
    op.drop_constraint("uq_s_d", "kinds")
    op.rename_table("note", "notes")
    op.execute("ALTER TYPE mood ADD VALUE 'great' AFTER 'ok'")
    op.bulk_insert(sa.table("notes", sa.column("id"), sa.column("person_id"), sa.column("text")), [{"id": 7, "person_id": 1, "text": "bulk"}])
    op.alter_column("kinds", "renamed", type_=sa.BigInteger, postgresql_using="renamed::bigint * 2")
    op.drop_index("ix_gin")
    op.drop_table("other", schema="second")
    op.create_table_comment("child", "a child", existing_comment=None)
    print(sorted(map(str, sa.inspect(c).get_columns("kinds")))[-3:], sa.inspect(c).get_indexes("kinds"), sa.inspect(c).get_enums())
Base.metadata.tables["note"].drop(engine, checkfirst=True)
