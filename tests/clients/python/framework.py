"""Django: its own migrations, a schema that changes, and queries, through PyMySQL."""

import sys

import pymysql

# Django asks for mysqlclient, and takes what calls itself so
pymysql.version_info = (2, 2, 7, "final", 0)
pymysql.install_as_MySQLdb()
host, port = sys.argv[1], sys.argv[2]
with pymysql.connect(host=host, port=int(port), user="root") as connection:
    connection.cursor().execute("DROP DATABASE IF EXISTS framework")
    connection.cursor().execute("CREATE DATABASE framework CHARACTER SET utf8mb4")

import django
from django.conf import settings

settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.mysql", "NAME": "framework", "USER": "root", "HOST": host, "PORT": port,
        }
    },
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    SECRET_KEY="test",
)
django.setup()

from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction

call_command("migrate", verbosity=0)
tables = connection.introspection.table_names()
assert "auth_user" in tables and "django_session" in tables, tables

from django.contrib.auth.models import Group, Permission, User

assert Permission.objects.count() == 20, Permission.objects.count()
ada = User.objects.create_user("ada", "ada@example.org", "secret")
staff = Group.objects.create(name="staff")
ada.groups.add(staff)
assert User.objects.filter(groups__name="staff").get().username == "ada"
assert ada.check_password("secret") and User.objects.get(pk=ada.pk).date_joined.tzinfo is not None
try:
    with transaction.atomic():
        User.objects.create_user("ada")
    raise AssertionError("the name is taken")
except IntegrityError as error:
    assert error.args[0] == 1062, error


class Shelf(models.Model):
    label = models.CharField(max_length=20)

    class Meta:
        app_label = "library"


class Book(models.Model):
    title = models.CharField(max_length=80, db_index=True)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    shelf = models.ForeignKey(Shelf, on_delete=models.CASCADE)
    printed = models.DateField(null=True)
    extra = models.JSONField(null=True)

    class Meta:
        app_label = "library"
        constraints = [models.CheckConstraint(condition=models.Q(price__gte=0), name="price_not_negative")]
        unique_together = [("title", "shelf")]


with connection.schema_editor() as editor:
    editor.create_model(Shelf)
    editor.create_model(Book)
shelf = Shelf.objects.create(label="a")
Book.objects.bulk_create([Book(title=f"t{n}", price=n, shelf=shelf) for n in range(20)])
assert Book.objects.filter(title__startswith="t1", price__gt=5).count() == 10
assert Book.objects.aggregate(models.Sum("price"))["price__sum"] == 190
assert list(Book.objects.values("shelf__label").annotate(n=models.Count("id"))) == [{"shelf__label": "a", "n": 20}]
Book.objects.filter(price__lt=5).update(price=models.F("price") * 2)
assert Book.objects.select_related("shelf").order_by("-price")[0].shelf.label == "a"
with transaction.atomic():
    assert Book.objects.select_for_update().get(title="t3").price == 6

# the schema changes under the rows
field = models.IntegerField(default=7)
field.set_attributes_from_name("pages")
with connection.schema_editor() as editor:
    editor.add_field(Book, field)
field.contribute_to_class(Book, "pages")
assert Book.objects.filter(pages=7).count() == 20
longer = models.CharField(max_length=200)
longer.set_attributes_from_name("title")
longer.model = Book
with connection.schema_editor() as editor:
    editor.alter_field(Book, Book._meta.get_field("title"), longer)
    editor.add_index(Book, models.Index(fields=["pages", "-price"], name="pages_price"))
    editor.remove_constraint(Book, Book._meta.constraints[0])
with connection.cursor() as cursor:
    constraints = connection.introspection.get_constraints(cursor, "library_book")
    relations = connection.introspection.get_relations(cursor, "library_book")
assert constraints["pages_price"]["columns"] == ["pages", "price"], constraints
assert constraints["pages_price"]["orders"] == ["ASC", "DESC"], constraints
assert "price_not_negative" not in constraints and relations["shelf_id"] == ("id", "library_shelf"), relations
Book.objects.all().delete()
assert Book.objects.count() == 0
with connection.schema_editor() as editor:
    editor.delete_model(Book)
    editor.delete_model(Shelf)
call_command("flush", verbosity=0, interactive=False)
print("Django", django.get_version(), "ok")
