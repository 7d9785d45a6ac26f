"""Migrations written and run, the ORM's queries, constraints and inspectdb of Django."""
import datetime
import decimal
import io
import os
import re
import sys
import tempfile
import uuid

import django
from django.conf import settings

print("# Django", django.get_version())
sys.path.insert(0, tempfile.mkdtemp())
app = os.path.join(sys.path[0], "shop")
os.mkdir(app)
open(os.path.join(app, "__init__.py"), "w").close()
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "TEST": {"NAME": os.environ["PGDATABASE"] + "_test"}}}, USE_TZ=True, SECRET_KEY="x", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "django.contrib.sites", "django.contrib.postgres", "shop"])
MODELS = '''
import uuid
from django.contrib.postgres.fields import ArrayField, BigIntegerRangeField, CICharField, DateTimeRangeField, IntegerRangeField
from django.contrib.postgres.indexes import BTreeIndex, GinIndex, HashIndex
from django.db import models
from django.db.models import F, Q

class Tag(models.Model):
    name = models.SlugField(unique=True)

class Shop(models.Model):
    name = models.CharField(max_length=40, db_index=True, verbose_name="the name")
    opened = models.DateField(null=True)
    data = models.JSONField(default=dict)
    token = models.UUIDField(default=uuid.uuid4, editable=False)

class Item(models.Model):
    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="items")
    title = models.CharField(max_length=100)
    price = models.DecimalField(max_digits=8, decimal_places=2, null=True)
    weight = models.FloatField(default=0)
    stock = models.PositiveSmallIntegerField(default=0)
    sold = models.BooleanField(default=False)
    at = models.DateTimeField(auto_now_add=%(auto)s, null=True)
    took = models.DurationField(null=True)
    raw = models.BinaryField(null=True)
    ip = models.GenericIPAddressField(null=True)
    tags = models.ManyToManyField(Tag)
    words = ArrayField(models.CharField(max_length=10), default=list)
    span = IntegerRangeField(null=True)
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL)
    %(extra)s

    class Meta:
        unique_together = [("shop", "title")]
        ordering = ["id"]
        indexes = [GinIndex(fields=["words"], name="item_words"), models.Index(fields=["-price", "title"], name="item_price"), models.Index(fields=["stock"], condition=Q(sold=False), name="item_unsold", include=["price"])%(indexes)s]
        constraints = [models.CheckConstraint(check=Q(price__gte=0), name="price_positive"), models.UniqueConstraint(fields=["title"], condition=Q(sold=True), name="sold_once")%(constraints)s]
'''


def models(**kw):
    with open(os.path.join(app, "models.py"), "w") as f:
        f.write(MODELS % {"auto": "False", "extra": "", "indexes": "", "constraints": "", **kw})


models()
django.setup()
from django.apps import apps
from django.core.management import call_command
from django.db import IntegrityError, connection, models as m, transaction
from django.db.models import Avg, Case, CharField, Count, Exists, Expression, F, FilteredRelation, Func, Max, OuterRef, Prefetch, Q, StdDev, Subquery, Sum, Value, When, Window
from django.db.models import functions as fn
from django.contrib.postgres import aggregates as agg
from django.contrib.postgres.search import SearchVector


def command(*args, **kw):
    out = io.StringIO()
    try:
        call_command(*args, stdout=out, stderr=out, no_color=True, **kw)
    except Exception as e:
        out.write("%s: %s" % (type(e).__name__, e))
    print("+", *args)
    print(re.sub(r"on \d{4}-.*", "on TODAY", re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d[:.\d+]*", "TIME", out.getvalue().replace(sys.path[0], ""))))


command("makemigrations", "shop")
command("sqlmigrate", "shop", "0001")
command("migrate")
command("showmigrations")
command("check", databases=["default"])
command("inspectdb")
Shop, Item, Tag = (apps.get_model("shop", n) for n in ("Shop", "Item", "Tag"))
shops = Shop.objects.bulk_create([Shop(name="S%d" % i, opened=datetime.date(2020, i + 1, 1), data={"k": i, "l": [1, {"x": i}], "n": None}, token=uuid.UUID(int=i)) for i in range(3)])
tags = [Tag.objects.create(name="t%d" % i) for i in range(3)]
for i in range(12):
    x = Item.objects.create(shop=shops[i % 3], title="Item %d" % i, price=decimal.Decimal(i) / 4, weight=i / 4, stock=i, at=datetime.datetime(2024, 1 + i, 1, 12, tzinfo=datetime.timezone.utc), took=datetime.timedelta(hours=i), raw=b"\0\1", ip="10.0.0.%d" % i, words=["w%d" % i, "x"], span=(i, i + 3), parent_id=None)
    x.tags.set(tags[: i % 4])


def show(what, q):
    try:
        r = q()
        if isinstance(r, m.QuerySet):
            r = list(r)
        print(what, r)
    except Exception as e:
        print(what, type(e).__name__, str(e).split("\n")[0])


I = Item.objects
show("annotate", lambda: Shop.objects.annotate(n=Count("items"), s=Sum("items__price"), a=Avg("items__weight"), d=StdDev("items__stock"), big=Count("items", filter=Q(items__stock__gt=5))).filter(n__gt=1).order_by("-s").values_list("name", "n", "s", "a", "d", "big"))
show("window", lambda: I.annotate(r=Window(fn.Rank(), partition_by=[F("shop")], order_by=F("price").desc()), l=Window(fn.Lag("stock", 2, default=-1), order_by=F("id").asc())).values_list("title", "r", "l")[:5])
show("subquery", lambda: Shop.objects.annotate(last=Subquery(I.filter(shop=OuterRef("pk")).order_by("-id").values("title")[:1]), has=Exists(I.filter(shop=OuterRef("pk"), stock__gt=10))).order_by("id").values_list("last", "has"))
show("json", lambda: Shop.objects.filter(data__k__gte=1, data__l__1__x__in=[1, 2], data__n=None, data__has_keys=["k", "l"], data__contains={"k": 1}).values_list("name", "data__l__1__x"))
show("json null", lambda: (Shop.objects.filter(data__absent__isnull=True).count(), Shop.objects.filter(data__n__isnull=False).count(), Shop.objects.order_by(F("data__k").desc()).values_list("name", flat=True)[0]))
show("array", lambda: I.filter(Q(words__contains=["w3"]) | Q(words__overlap=["w4", "q"]) | Q(words__0="w5") | Q(words__contained_by=["w6", "x"])).filter(words__len=2).values_list("title", "words__1", "words__0_1"))
show("range", lambda: (I.filter(span__contains=5).count(), I.filter(span__contained_by=(3, 9)).count(), I.filter(span__startswith__gte=8, span__overlap=(9, 20)).count(), I.filter(span__fully_lt=(6, 9)).count(), I.first().span))
show("dates", lambda: I.annotate(mo=fn.TruncMonth("at"), q=fn.ExtractQuarter("at"), w=fn.ExtractWeekDay("at"), iso=fn.ExtractIsoYear("at")).values("q").annotate(n=Count("id"), m=Max("mo")).order_by("q").values_list("q", "n", "m"))
show("date filters", lambda: (I.filter(at__date=datetime.date(2024, 3, 1)).count(), I.filter(at__month__in=[1, 2], at__hour=12).count(), I.dates("at", "year"), I.datetimes("at", "month")[:2], I.filter(took__gt=datetime.timedelta(hours=5)).count()))
show("functions", lambda: I.annotate(a=fn.Concat(fn.Upper("title"), Value("-"), fn.Cast("stock", CharField())), b=fn.Substr("title", 2, 3), c=fn.LPad("title", 12, Value("*")), d=fn.Coalesce("price", Value(decimal.Decimal(0))), e=fn.Greatest("stock", 5), f=fn.Mod("stock", 4), g=fn.Round("weight"), h=fn.StrIndex("title", Value("m")), i=fn.MD5("title"), j=fn.Reverse("title"), k=fn.NullIf("stock", Value(1)), l=fn.Sqrt("stock")).values_list("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l")[1:3])
show("lookups", lambda: (I.filter(title__icontains="ITEM 1").count(), I.filter(title__iregex=r"^item \d$").count(), I.filter(title__iexact="item 2").count(), I.filter(title__istartswith="it", title__endswith="1").count(), I.filter(price__range=(1, 2)).count(), I.filter(ip="10.0.0.3").count(), I.exclude(tags__name="t1").count(), I.filter(raw=b"\0\1").count(), I.filter(title__contains="%").count()))
show("case", lambda: I.values(c=Case(When(stock__lt=4, then=Value("few")), When(sold=True, then=Value("sold")), default=Value("many"), output_field=CharField())).annotate(n=Count("*")).order_by("c"))
show("aggregates", lambda: I.aggregate(agg.ArrayAgg("stock", ordering="-stock"), agg.StringAgg("title", "/", filter=Q(stock__lt=3), ordering="id"), agg.BoolOr("sold"), agg.JSONBAgg("words", ordering="id", filter=Q(id__lt=3)), agg.BitAnd("stock"), agg.Corr("stock", "weight"), s=Sum(F("price") * F("stock"))))
show("prefetch", lambda: [(s.name, [(i.title, [t.name for t in i.tags.all()]) for i in s.items.all()]) for s in Shop.objects.order_by("id").prefetch_related(Prefetch("items", I.filter(stock__lt=4)), "items__tags")])
show("related", lambda: I.select_related("shop", "parent").filter(shop__name="S1").only("title", "shop__name").values_list("shop__name", "title")[:2])
show("filtered relation", lambda: Shop.objects.annotate(heavy=FilteredRelation("items", condition=Q(items__weight__gt=3))).filter(heavy__isnull=False).distinct().count())
show("union", lambda: I.filter(stock=1).values_list("title").union(I.filter(stock=2).values_list("title"), all=True).order_by("title"))
show("difference", lambda: I.values_list("shop_id").difference(I.filter(shop=shops[0]).values_list("shop_id")).count())
show("intersection", lambda: list(I.filter(stock__gt=3).intersection(I.filter(stock__lt=5))))
show("update", lambda: (I.filter(stock__lt=3).update(price=F("price") + 1, words=["new"]), I.filter(stock=0).values_list("price", "words")))
show("update from subquery", lambda: I.filter(stock=1).update(title=Subquery(Shop.objects.filter(pk=OuterRef("shop_id")).values("name")[:1])))
show("bulk_update", lambda: I.bulk_update([Item(id=i.id, price=i.price * 2, words=["b"]) for i in I.filter(price__isnull=False)[:3]], ["price", "words"]))
show("ignore conflicts", lambda: len(Tag.objects.bulk_create([Tag(name="t1"), Tag(name="t9")], ignore_conflicts=True)))
show("get_or_create", lambda: [x[1] for x in (Tag.objects.get_or_create(name="t1"), Tag.objects.update_or_create(name="t77", defaults={"name": "t78"}))])
show("in_bulk", lambda: sorted(Tag.objects.in_bulk(["t1", "t2"], field_name="name")))
show("iterator", lambda: [i.stock for i in I.iterator(chunk_size=5)])
show("raw", lambda: [(r.title, r.extra) for r in I.raw("SELECT *, stock * %s AS extra FROM shop_item WHERE stock > %s ORDER BY id", [2, 9])])
show("explain", lambda: len(I.filter(stock=1).explain()) > 0)
show("order nulls", lambda: I.order_by(F("price").asc(nulls_first=True), "?").count())
for n, bad in enumerate([lambda: I.create(shop=shops[0], title="Item 3"), lambda: I.create(shop=shops[0], title="neg", price=-1), lambda: I.create(shop_id=999, title="none"), lambda: I.create(shop=shops[0], title=None), lambda: Tag.objects.create(name="x" * 60), lambda: I.create(shop=shops[0], title="big", price=10**7), lambda: I.filter(stock=1).update(stock=-1)]):
    def attempt():
        with transaction.atomic():
            bad()
    show("error %d" % n, attempt)
with transaction.atomic():
    show("lock", lambda: I.select_for_update(nowait=True, of=("self",)).filter(stock=3).values_list("title"))
    show("skip", lambda: I.select_for_update(skip_locked=True, no_key=True).order_by("id").first().title)
    sid = transaction.savepoint()
    I.all().delete()
    transaction.savepoint_rollback(sid)
    show("after", lambda: I.count())
show("delete", lambda: shops[0].delete())
show("filtered delete", lambda: I.filter(shop__name="S1", stock__gt=4).delete())
show("tables", lambda: connection.introspection.table_names())
with connection.cursor() as c:
    show("relations", lambda: sorted(connection.introspection.get_relations(c, "shop_item").items()))
    show("constraints", lambda: sorted((k, sorted(map(str, v.items()))) for k, v in connection.introspection.get_constraints(c, "shop_item").items()))
    show("sequences", lambda: connection.introspection.get_sequences(c, "shop_item"))
    show("description", lambda: connection.introspection.get_table_description(c, "shop_item"))
models(auto="True", extra="note = models.TextField(default='none')\n    code = models.IntegerField(null=True, unique=True)\n    big = BigIntegerRangeField(null=True)", indexes=', HashIndex(fields=["title"], name="item_hash"), models.Index(models.functions.Lower("title"), F("stock").desc(), name="item_lower")', constraints=', models.UniqueConstraint(fields=["shop", "code"], name="shop_code", deferrable=models.Deferrable.DEFERRED)')
text = open(os.path.join(app, "models.py")).read().replace("stock = models.PositiveSmallIntegerField(default=0)", "amount = models.BigIntegerField(default=1, db_column='stock2')").replace('"stock"', '"amount"').replace('F("stock")', 'F("amount")').replace("max_length=40, db_index=True", "max_length=80")
open(os.path.join(app, "models.py"), "w").write(text)
sys.stdout.flush()
if os.fork() == 0:
    os.execv(sys.executable, [sys.executable, "-c", '''
import sys, re, io
sys.path.insert(0, %r)
from django.conf import settings
settings.configure(**%r)
import django; django.setup()
from django.core.management import call_command
from django.db.migrations import autodetector, questioner
questioner.InteractiveMigrationQuestioner.ask_rename = lambda *a: True
questioner.MigrationQuestioner.ask_rename = lambda *a: True
for args in (["makemigrations", "shop", "-n", "second"], ["sqlmigrate", "shop", "0002"], ["migrate"], ["migrate", "shop", "0001"], ["migrate", "shop", "zero"], ["migrate"], ["dumpdata", "sites", "contenttypes", "--natural-foreign"], ["sqlflush"], ["flush", "--no-input"], ["sqlsequencereset", "shop", "auth"]):
    out = io.StringIO()
    try:
        call_command(*args, stdout=out, stderr=out, no_color=True)
    except Exception as e:
        out.write(type(e).__name__ + ": " + str(e))
    print("+", *args)
    print(out.getvalue().replace(%r, ""))
''' % (sys.path[0], {k: getattr(settings, k) for k in ("DATABASES", "USE_TZ", "SECRET_KEY", "DEFAULT_AUTO_FIELD", "INSTALLED_APPS")}, sys.path[0])])
os.wait()
