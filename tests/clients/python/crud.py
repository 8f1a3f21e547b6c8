"""PyMySQL against a running server: CRUD, types, transactions, errors.

Usage: crud.py HOST PORT. Prints one line on success; an assertion names what differs.
"""
import datetime
import decimal
import sys

import pymysql

host, port = sys.argv[1], int(sys.argv[2])


def connect(**options):
    return pymysql.connect(host=host, port=port, user="root", charset="utf8mb4", **options)


with connect() as admin, admin.cursor() as cursor:
    cursor.execute("DROP DATABASE IF EXISTS client_python")
    cursor.execute("CREATE DATABASE client_python")

connection = connect(database="client_python")
cursor = connection.cursor()
cursor.execute(
    """CREATE TABLE item (
         id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
         name VARCHAR(100) NOT NULL,
         price DECIMAL(20,6),
         weight DOUBLE,
         born DATE,
         seen DATETIME(6),
         span TIME,
         kind ENUM('a','b'),
         body BLOB,
         note TEXT,
         ok BOOL,
         UNIQUE KEY item_name (name)
       )"""
)
row = (
    "žluťoučký 🐎",
    decimal.Decimal("12345678901234.567890"),
    0.1,
    datetime.date(2024, 2, 29),
    datetime.datetime(2026, 11, 21, 8, 41, 0, 123456),
    datetime.timedelta(hours=-25, minutes=-1),
    "b",
    bytes(range(256)),
    "it's \\ a \"note\"\n\0",
    True,
)
insert = (
    "INSERT INTO item (name, price, weight, born, seen, span, kind, body, note, ok)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, _binary %s, %s, %s)"
)
assert cursor.execute(insert, row) == 1
assert cursor.lastrowid == 1, cursor.lastrowid
connection.commit()
cursor.execute("SELECT name, price, weight, born, seen, span, kind, body, note, ok FROM item WHERE id = 1")
got = cursor.fetchone()
assert got == row[:-1] + (1,), got

# NULL in every nullable column, several rows at once
assert cursor.executemany("INSERT INTO item (name) VALUES (%s)", [(f"n{i}",) for i in range(100)]) == 100
cursor.execute("SELECT COUNT(*), MIN(id), MAX(id), SUM(price IS NULL) FROM item")
assert cursor.fetchone() == (101, 1, 101, 100)
connection.rollback()
cursor.execute("SELECT COUNT(*) FROM item")
assert cursor.fetchone() == (1,)

# update, delete, affected rows
assert cursor.execute("UPDATE item SET weight = weight * 2, note = NULL WHERE name = %s", (row[0],)) == 1
assert cursor.execute("UPDATE item SET weight = weight WHERE id = 1") == 0
cursor.execute("SELECT weight, note FROM item")
assert cursor.fetchall() == ((0.2, None),)

# the error of a duplicate key, with its code, and the transaction goes on
try:
    cursor.execute("INSERT INTO item (name) VALUES (%s)", (row[0],))
    raise AssertionError("a duplicate key was accepted")
except pymysql.err.IntegrityError as error:
    assert error.args[0] == 1062, error
    assert "item.item_name" in error.args[1], error
connection.commit()

# two connections: a snapshot does not see what was committed after it
other = connect(database="client_python", autocommit=True)
cursor.execute("SELECT COUNT(*) FROM item")
assert cursor.fetchone() == (1,)
with other.cursor() as writer:
    writer.execute("INSERT INTO item (name) VALUES ('other')")
cursor.execute("SELECT COUNT(*) FROM item")
assert cursor.fetchone() == (1,)
connection.commit()
cursor.execute("SELECT COUNT(*) FROM item")
assert cursor.fetchone() == (2,)
connection.commit()

# errors of the parser and of names
for statement, code in [
    ("SELEC 1", 1064),
    ("SELECT * FROM nowhere", 1146),
    ("SELECT nothing FROM item", 1054),
    ("USE nowhere", 1049),
]:
    try:
        cursor.execute(statement)
        raise AssertionError(f"{statement} was accepted")
    except pymysql.err.MySQLError as error:
        assert error.args[0] == code, (statement, error)

# a megabyte goes in and comes out
large = bytes(i * 7 % 256 for i in range(60_000))
cursor.execute("UPDATE item SET body = _binary %s WHERE id = 1", (large,))
connection.commit()
cursor.execute("SELECT body FROM item WHERE id = 1")
assert cursor.fetchone() == (large,)

# ping, select_db, reset by change of user, multiple results are refused unless asked for
connection.ping()
connection.select_db("information_schema")
cursor.execute("SELECT table_name FROM tables WHERE table_schema = 'client_python'")
assert [name.lower() for (name,) in cursor.fetchall()] == ["item"]

# a wrong password is refused
try:
    connect(password="wrong")
    raise AssertionError("a wrong password was accepted")
except pymysql.err.OperationalError as error:
    assert error.args[0] == 1045, error

# an account with a password: first encrypted with the server's RSA key, then by what the server remembers, then in TLS
with connect() as admin, admin.cursor() as cursor:
    cursor.execute("DROP USER IF EXISTS client_python, client_python_native")
    cursor.execute("CREATE USER client_python IDENTIFIED BY 'geheim'")
    cursor.execute("CREATE USER client_python_native IDENTIFIED WITH mysql_native_password BY 'geheim'")
    cursor.execute("GRANT SELECT ON client_python.* TO client_python, client_python_native")


def secret(**options):
    options = {"user": "client_python", "password": "geheim", "database": "client_python", **options}
    with pymysql.connect(host=host, port=port, charset="utf8mb4", **options) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SHOW SESSION STATUS LIKE 'Ssl_version'")
            version = cursor.fetchone()[1]
            cursor.execute("SELECT COUNT(*) FROM item")
            assert cursor.fetchone() == (2,)
            try:
                cursor.execute("DELETE FROM item")
                raise AssertionError("what is not granted was done")
            except pymysql.err.MySQLError as error:
                assert error.args[0] == 1142, error
            return version


assert secret(ssl_disabled=True) == ""
assert secret(ssl_disabled=True) == ""
assert secret(ssl={"check_hostname": False, "verify_mode": "none"}).startswith("TLSv1.")
assert secret(user="client_python_native", ssl_disabled=True) == ""
try:
    secret(password="geheim z")
    raise AssertionError("a wrong password was accepted")
except pymysql.err.OperationalError as error:
    assert error.args[0] == 1045, error
with connect() as admin, admin.cursor() as cursor:
    cursor.execute("DROP USER client_python, client_python_native")
connection.commit()
with connection.cursor() as cursor:
    cursor.execute("DROP DATABASE client_python")
print(f"pymysql {pymysql.__version__}: ok")
