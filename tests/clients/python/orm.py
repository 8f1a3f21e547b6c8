"""SQLAlchemy: a schema is created and reflected, objects are kept, changed, found and related."""

import datetime
import decimal
import sys

import sqlalchemy as sa
from sqlalchemy import orm

host, port = sys.argv[1], sys.argv[2]
server = sa.create_engine(f"mysql+pymysql://root@{host}:{port}/?charset=utf8mb4")
with server.connect() as connection:
    connection.execute(sa.text("DROP DATABASE IF EXISTS orm"))
    connection.execute(sa.text("CREATE DATABASE orm"))
engine = sa.create_engine(f"mysql+pymysql://root@{host}:{port}/orm?charset=utf8mb4", pool_pre_ping=True)


class Base(orm.DeclarativeBase):
    pass


membership = sa.Table(
    "membership",
    Base.metadata,
    sa.Column("person_id", sa.ForeignKey("person.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("team_id", sa.ForeignKey("team.id", ondelete="CASCADE"), primary_key=True),
)


class Person(Base):
    __tablename__ = "person"
    __table_args__ = (
        sa.UniqueConstraint("email", name="uq_email"),
        sa.Index("ix_name_born", "name", "born"),
        sa.CheckConstraint("height > 0", name="ck_height"),
        {"comment": "people"},
    )
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(50), index=True)
    email: orm.Mapped[str] = orm.mapped_column(sa.String(100))
    born: orm.Mapped[datetime.date | None]
    seen: orm.Mapped[datetime.datetime] = orm.mapped_column(server_default=sa.func.now())
    height: orm.Mapped[decimal.Decimal | None] = orm.mapped_column(sa.Numeric(5, 2))
    active: orm.Mapped[bool] = orm.mapped_column(default=True)
    kind: orm.Mapped[str] = orm.mapped_column(sa.Enum("staff", "guest"), default="guest")
    notes: orm.Mapped[str | None] = orm.mapped_column(sa.Text)
    extra: orm.Mapped[dict | None] = orm.mapped_column(sa.JSON)
    picture: orm.Mapped[bytes | None] = orm.mapped_column(sa.LargeBinary)
    boss_id: orm.Mapped[int | None] = orm.mapped_column(sa.ForeignKey("person.id"))
    boss: orm.Mapped["Person | None"] = orm.relationship(remote_side=[id], back_populates="staff")
    staff: orm.Mapped[list["Person"]] = orm.relationship(back_populates="boss")
    orders: orm.Mapped[list["Order"]] = orm.relationship(back_populates="person", cascade="all, delete-orphan")
    teams: orm.Mapped[list["Team"]] = orm.relationship(secondary=membership, back_populates="people")


class Team(Base):
    __tablename__ = "team"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(30), unique=True)
    people: orm.Mapped[list[Person]] = orm.relationship(secondary=membership, back_populates="teams")


class Order(Base):
    __tablename__ = "orders"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    person_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("person.id", name="fk_person", ondelete="CASCADE"))
    amount: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(10, 2))
    doubled: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(10, 2), sa.Computed("amount * 2"))
    placed: orm.Mapped[datetime.datetime] = orm.mapped_column(sa.DateTime)
    person: orm.Mapped[Person] = orm.relationship(back_populates="orders")


Base.metadata.create_all(engine)
Base.metadata.create_all(engine)

# what was created is what is reflected
inspector = sa.inspect(engine)
assert inspector.get_table_names() == ["membership", "orders", "person", "team"], inspector.get_table_names()
assert inspector.get_view_names() == []
assert inspector.has_table("team") and not inspector.has_table("nothing")
columns = {column["name"]: column for column in inspector.get_columns("person")}
assert isinstance(columns["height"]["type"], sa.Numeric) and columns["height"]["type"].precision == 5
assert columns["name"]["type"].length == 50 and not columns["name"]["nullable"]
assert columns["id"]["autoincrement"] is True
assert columns["kind"]["type"].enums == ["staff", "guest"]
assert "now()" in columns["seen"]["default"], columns["seen"]["default"]
assert inspector.get_pk_constraint("membership")["constrained_columns"] == ["person_id", "team_id"]
indexes = {index["name"]: index for index in inspector.get_indexes("person")}
assert indexes["ix_name_born"]["column_names"] == ["name", "born"] and indexes["uq_email"]["unique"]
assert inspector.get_unique_constraints("team")[0]["column_names"] == ["name"]
assert [check["name"] for check in inspector.get_check_constraints("person")] == ["ck_height"]
keys = inspector.get_foreign_keys("orders")
assert keys[0]["name"] == "fk_person" and keys[0]["referred_table"] == "person", keys
assert keys[0]["options"] == {"ondelete": "CASCADE"}, keys
assert inspector.get_table_comment("person") == {"text": "people"}
computed = [column for column in inspector.get_columns("orders") if column["name"] == "doubled"][0]["computed"]
assert computed["sqltext"] == "((`amount` * 2))" and not computed["persisted"], computed
reflected = sa.MetaData()
reflected.reflect(engine)
assert set(reflected.tables) == {"membership", "orders", "person", "team"}

Session = orm.sessionmaker(engine)
with Session.begin() as session:
    ada = Person(name="Ada", email="ada@example.org", born=datetime.date(1815, 12, 10), height=decimal.Decimal("1.65"))
    bob = Person(name="Bob", email="bob@example.org", boss=ada, kind="staff", extra={"a": [1, "ü"]}, picture=b"\x00\xff")
    ada.teams = [Team(name="red"), Team(name="blue")]
    bob.teams = [ada.teams[0]]
    placed = datetime.datetime(2024, 5, 6, 7, 8, 9)
    ada.orders = [Order(amount=decimal.Decimal(n) / 4, placed=placed) for n in range(1, 11)]
    session.add_all([ada, bob])

with Session() as session:
    ada = session.scalars(sa.select(Person).where(Person.name == "Ada")).one()
    assert ada.id == 1 and ada.born == datetime.date(1815, 12, 10) and ada.height == decimal.Decimal("1.65")
    assert [person.name for person in ada.staff] == ["Bob"]
    assert sorted(team.name for team in ada.teams) == ["blue", "red"]
    assert ada.orders[3].doubled == decimal.Decimal("2.00")
    bob = ada.staff[0]
    assert bob.extra == {"a": [1, "ü"]} and bob.picture == b"\x00\xff" and bob.active is True and bob.kind == "staff"
    joined = sa.select(Person).options(orm.joinedload(Person.orders), orm.selectinload(Person.teams))
    people = session.scalars(joined.order_by(Person.id)).unique().all()
    assert [len(person.orders) for person in people] == [10, 0]
    total = sa.func.sum(Order.amount).over(partition_by=Order.person_id, order_by=Order.id)
    assert session.execute(sa.select(total).order_by(Order.id)).scalars().all()[-1] == decimal.Decimal("13.75")
    tree = sa.select(Person.id, sa.literal(0).label("depth")).where(Person.boss_id.is_(None)).cte(recursive=True)
    tree = tree.union_all(sa.select(Person.id, tree.c.depth + 1).join(tree, Person.boss_id == tree.c.id))
    assert session.execute(sa.select(tree).order_by(tree.c.depth)).all() == [(1, 0), (2, 1)]
    exists = sa.select(Team.name).where(Team.people.any(Person.name == "Bob"))
    assert session.scalars(exists).all() == ["red"]
    page = sa.select(Order.id).order_by(Order.amount.desc()).limit(3).offset(2)
    assert session.scalars(page).all() == [8, 7, 6]

with Session.begin() as session:
    session.execute(sa.update(Order).where(Order.id > 5).values(amount=Order.amount + 1))
    assert session.get(Order, 6).amount == decimal.Decimal("2.50")
    session.get(Person, 2).name = "Robert"
    session.execute(sa.select(Person).where(Person.id == 1).with_for_update()).one()
    with session.begin_nested() as nested:
        session.add(Team(name="green"))
        session.flush()
        nested.rollback()
    assert session.scalar(sa.select(sa.func.count()).select_from(Team)) == 2

for statement, wanted in [
    (sa.insert(Person).values(name="x", email="ada@example.org", active=True, kind="guest"), "1062"),
    (sa.insert(Order).values(person_id=99, amount=1, placed=placed), "1452"),
    (sa.delete(Person).where(Person.id == 1), "1451"),
    (sa.insert(Person).values(name="x", email="x", height=-1, active=True, kind="guest"), "3819"),
]:
    try:
        with engine.begin() as connection:
            connection.execute(statement)
        raise AssertionError(f"no error {wanted}")
    except sa.exc.DatabaseError as error:
        assert wanted in str(error.orig), error

from sqlalchemy.dialects.mysql import insert

with engine.begin() as connection:
    upsert = insert(Team.__table__).values([{"id": 1, "name": "crimson"}, {"id": 9, "name": "white"}])
    connection.execute(upsert.on_duplicate_key_update(name=upsert.inserted.name))
    assert connection.execute(sa.select(Team.id, Team.name).order_by(Team.id)).all() == [
        (1, "crimson"), (2, "blue"), (9, "white")]

with Session.begin() as session:
    session.delete(session.get(Person, 2))
    session.flush()
    session.delete(session.get(Person, 1))
with engine.connect() as connection:
    for table in ["orders", "membership", "person"]:
        assert connection.scalar(sa.text(f"SELECT COUNT(*) FROM {table}")) == 0, table
Base.metadata.drop_all(engine)
assert sa.inspect(engine).get_table_names() == []
print("SQLAlchemy", sa.__version__, "ok")
