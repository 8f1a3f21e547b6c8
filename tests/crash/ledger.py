"""A client-side ledger for crash tests: it remembers what the server acknowledged and compares after a restart.

    ledger.py setup  HOST PORT           create the tables
    ledger.py load   HOST PORT FILE SEED run until the server goes away; append to FILE what was acknowledged
    ledger.py check  HOST PORT FILE      compare the server with FILE; exit 1 and say what is lost or half there
    ledger.py canary HOST PORT FILE      plant a lost commit, then a half transaction: check must find both

Every transaction of writer W number N inserts entry (W, N), sets counter W to N, and moves an amount between two
accounts. So, whatever the moment of the crash:
  * entries of W are exactly 1..M, and M is the last acknowledged number or the one that was in flight;
  * counter W is M (a transaction is there whole or not at all);
  * the accounts' sum is what it was at the start;
  * both indexes of entry find the same rows.
"""
import os
import random
import sys
import threading

import pymysql

WRITERS = 8
ACCOUNTS = 50
BALANCE = 1000


def connect(host, port):
    return pymysql.connect(host=host, port=int(port), user="root", connect_timeout=10)


def setup(host, port):
    connection = connect(host, port)
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS ledger")
    cursor.execute("DROP TABLE IF EXISTS ledger.entry, ledger.counter, ledger.account")
    cursor.execute(
        "CREATE TABLE ledger.entry (writer INT NOT NULL, n INT NOT NULL, tag INT NOT NULL, filler VARCHAR(3000),"
        " PRIMARY KEY (writer, n), KEY by_tag (tag, n))"
    )
    cursor.execute("CREATE TABLE ledger.counter (writer INT NOT NULL PRIMARY KEY, n INT NOT NULL)")
    cursor.execute("CREATE TABLE ledger.account (id INT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL)")
    cursor.executemany("INSERT INTO ledger.counter VALUES (%s, 0)", [(w,) for w in range(WRITERS)])
    cursor.executemany("INSERT INTO ledger.account VALUES (%s, %s)", [(a, BALANCE) for a in range(ACCOUNTS)])
    connection.commit()


def write(host, port, writer, seed, out):
    prng = random.Random(f"{seed}/{writer}")
    try:
        connection = connect(host, port)
        cursor = connection.cursor()
        cursor.execute("SELECT n FROM ledger.counter WHERE writer = %s", (writer,))
        n = cursor.fetchone()[0]
        while True:
            n += 1
            size = prng.choice((0, 20, 200, 3000))
            source, target = sorted(prng.sample(range(ACCOUNTS), 2))
            amount = prng.randrange(-20, 20)
            try:
                cursor.execute("BEGIN")
                cursor.execute(
                    "INSERT INTO ledger.entry VALUES (%s, %s, %s, %s)", (writer, n, prng.randrange(100), "x" * size)
                )
                cursor.execute("UPDATE ledger.account SET balance = balance - %s WHERE id = %s", (amount, source))
                cursor.execute("UPDATE ledger.account SET balance = balance + %s WHERE id = %s", (amount, target))
                cursor.execute("UPDATE ledger.counter SET n = %s WHERE writer = %s", (n, writer))
                if prng.randrange(10) == 0:
                    connection.rollback()
                    n -= 1
                    continue
                connection.commit()
            except pymysql.err.MySQLError as error:
                if error.args[0] not in (1205, 1213):
                    raise
                connection.rollback()
                n -= 1
                continue
            out(f"{writer} {n}\n")
    except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError) as error:
        # 2003, 2006, 2013: the server went away, which is what this test does to it
        if error.args and error.args[0] not in (0, 2003, 2006, 2013) and not isinstance(error, OSError):
            print(f"writer {writer}: {error}", file=sys.stderr)
            os._exit(1)


def load(host, port, file, seed):
    with open(file, "ab", buffering=0) as ledger:
        lock = threading.Lock()

        def out(line):
            with lock:
                ledger.write(line.encode())

        writers = [threading.Thread(target=write, args=(host, port, w, seed, out)) for w in range(WRITERS)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()


def check(host, port, file):
    acknowledged = [0] * WRITERS
    if os.path.exists(file):
        with open(file) as ledger:
            for line in ledger:
                writer, n = map(int, line.split())
                acknowledged[writer] = max(acknowledged[writer], n)
    connection = connect(host, port)
    cursor = connection.cursor()
    wrong = []
    total = 0
    for writer in range(WRITERS):
        cursor.execute("SELECT n FROM ledger.entry WHERE writer = %s ORDER BY n", (writer,))
        entries = [n for (n,) in cursor.fetchall()]
        last = len(entries)
        total += last
        if entries != list(range(1, last + 1)):
            wrong.append(f"writer {writer}: entries are not 1..{last}")
        if not acknowledged[writer] <= last <= acknowledged[writer] + 1:
            wrong.append(f"writer {writer}: {acknowledged[writer]} acknowledged, {last} there")
        cursor.execute("SELECT n FROM ledger.counter WHERE writer = %s", (writer,))
        (counter,) = cursor.fetchone()
        if counter != last:
            wrong.append(f"writer {writer}: counter {counter}, {last} entries: half a transaction")
    cursor.execute("SELECT SUM(balance) FROM ledger.account")
    (balance,) = cursor.fetchone()
    if balance != ACCOUNTS * BALANCE:
        wrong.append(f"accounts hold {balance}, not {ACCOUNTS * BALANCE}: half a transaction")
    cursor.execute("SELECT tag, n, writer FROM ledger.entry FORCE INDEX (by_tag) WHERE tag >= 0 ORDER BY tag, n")
    by_tag = sorted(cursor.fetchall())
    cursor.execute("SELECT tag, n, writer FROM ledger.entry FORCE INDEX (PRIMARY)")
    if by_tag != sorted(cursor.fetchall()):
        wrong.append("the indexes of entry disagree")
    for line in wrong:
        print(line)
    if wrong:
        return 1
    print(f"{total} transactions, all acknowledged ones there, none half")
    # one may have been durable without its acknowledgement having reached us: from now on it counts
    with open(file, "a") as ledger:
        for writer in range(WRITERS):
            cursor.execute("SELECT n FROM ledger.counter WHERE writer = %s", (writer,))
            ledger.write(f"{writer} {cursor.fetchone()[0]}\n")
    return 0


def canary(host, port, file):
    connection = connect(host, port)
    cursor = connection.cursor()
    for damage, repair in [
        ("DELETE FROM ledger.entry WHERE writer = 0 ORDER BY n DESC LIMIT 1", None),
        ("UPDATE ledger.account SET balance = balance + 1 WHERE id = 0",
         "UPDATE ledger.account SET balance = balance - 1 WHERE id = 0"),
    ]:
        cursor.execute(damage)
        connection.commit()
        if check(host, port, file) == 0:
            print(f"the check did not notice: {damage}")
            return 1
        if repair:
            cursor.execute(repair)
            connection.commit()
    print("the check noticed both planted faults")
    return 0


command = sys.argv[1]
sys.exit({"setup": setup, "load": load, "check": check, "canary": canary}[command](*sys.argv[2:]) or 0)
