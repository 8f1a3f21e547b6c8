"""A client-side ledger for crash tests: it remembers what the server acknowledged and compares after a restart.

    ledger.py setup  HOST PORT           create the tables
    ledger.py load   HOST PORT FILE SEED run until the server goes away; append to FILE what was acknowledged
    ledger.py lazy   HOST PORT FILE SEED the same with innodb_flush_log_at_trx_commit 0 at times: the end may be lost
    ledger.py check  HOST PORT FILE      compare the server with FILE; exit 1 and say what is lost or half there
    ledger.py whole  HOST PORT FILE      the same after lazy: what is there is whole, and FILE is made to agree
    ledger.py canary HOST PORT FILE      plant faults, a lost commit the first of them: check must find each

Every transaction of writer W number N inserts entry (W, N), sets counter W to N, moves an amount between two accounts,
and writes N into slot N mod 20 of W: by an update of an indexed column, or by deleting the row and inserting it again.
The last two writers do each in an XA transaction, which they prepare first and then commit or roll back.
Meanwhile one thread creates, alters, indexes and drops a table, and another changes, again and again, how the log is
written (innodb_log_writer_threads, innodb_flush_log_at_trx_commit) and how large it is (innodb_redo_log_capacity). So, whatever the moment of the crash:
  * entries of W are exactly 1..M, and M is the last acknowledged number or the one that was in flight;
  * counter W is M (a transaction is there whole or not at all);
  * the accounts' sum is what it was at the start;
  * slot S of W holds the greatest number up to M that is S mod 20;
  * both indexes of entry, and both of slot, find the same rows;
  * the table of the DDL is as after its last acknowledged change, or as after the one that was in flight;
  * a branch whose PREPARE was acknowledged is in XA RECOVER until its end, and no longer. The check ends those that it
    finds, by commit or rollback, and expects their entries there or not.
"""
import os
import random
import sys
import threading
import time

import pymysql

WRITERS = 8
# the writers from this one on use XA
FIRST_XA = 6
ACCOUNTS = 50
BALANCE = 1000
SLOTS = 20
# the table of the DDL: its number of columns and of indexes after each of the changes, which go round
SHAPES = [
    ("CREATE TABLE ledger.shape (id INT NOT NULL PRIMARY KEY) PAGE_SINK='out-of-place'", (1, 1)),
    ("ALTER TABLE ledger.shape ADD COLUMN n INT NOT NULL DEFAULT 7", (2, 1)),
    ("CREATE INDEX by_n ON ledger.shape (n)", (2, 2)),
    ("DROP TABLE ledger.shape", (0, 0)),
]
DDL = WRITERS


def connect(host, port):
    return pymysql.connect(host=host, port=int(port), user="root", connect_timeout=10)


def setup(host, port):
    connection = connect(host, port)
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS ledger")
    cursor.execute("DROP TABLE IF EXISTS ledger.entry, ledger.counter, ledger.account, ledger.slot, ledger.shape")
    cursor.execute(
        "CREATE TABLE ledger.entry (writer INT NOT NULL, n INT NOT NULL, tag INT NOT NULL, filler VARCHAR(3000),"
        " PRIMARY KEY (writer, n), KEY by_tag (tag, n)) PAGE_SINK='out-of-place' COMPRESSION='lz4'"
    )
    cursor.execute("CREATE TABLE ledger.counter (writer INT NOT NULL PRIMARY KEY, n INT NOT NULL)")
    cursor.execute("CREATE TABLE ledger.account (id INT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL)")
    cursor.execute(
        "CREATE TABLE ledger.slot (writer INT NOT NULL, slot INT NOT NULL, n INT NOT NULL, filler VARCHAR(3000),"
        " PRIMARY KEY (writer, slot), KEY by_n (n, writer))"
    )
    cursor.executemany("INSERT INTO ledger.counter VALUES (%s, 0)", [(w,) for w in range(WRITERS)])
    cursor.executemany("INSERT INTO ledger.account VALUES (%s, %s)", [(a, BALANCE) for a in range(ACCOUNTS)])
    connection.commit()


def write(host, port, writer, seed, out):
    prng = random.Random(f"{seed}/{writer}")
    end = end_branch if writer >= FIRST_XA else end_transaction
    try:
        connection = connect(host, port)
        cursor = connection.cursor()
        cursor.execute("SELECT n FROM ledger.counter WHERE writer = %s", (writer,))
        n = cursor.fetchone()[0]
        connection.rollback()
        while True:
            n += 1
            branch = f"{writer}.{n}.{prng.getrandbits(48)}"
            try:
                cursor.execute(f"XA START '{branch}'" if writer >= FIRST_XA else "BEGIN")
                change(cursor, prng, writer, n)
                is_there = end(connection, branch, prng.randrange(10) != 0, out)
            except pymysql.err.MySQLError as error:
                if error.args[0] not in (1205, 1213):
                    raise
                give_up(connection, branch, writer)
                is_there = False
            if is_there:
                out(f"{writer} {n}\n")
            else:
                n -= 1
    except (pymysql.err.MySQLError, OSError) as error:
        gone_or_exit(f"writer {writer}", error)


def change(cursor, prng, writer, n):
    """Number n of a writer's transactions."""
    size = prng.choice((0, 20, 200, 3000))
    source, target = sorted(prng.sample(range(ACCOUNTS), 2))
    amount = prng.randrange(-20, 20)
    cursor.execute("INSERT INTO ledger.entry VALUES (%s, %s, %s, %s)", (writer, n, prng.randrange(100), "x" * size))
    cursor.execute("UPDATE ledger.account SET balance = balance - %s WHERE id = %s", (amount, source))
    cursor.execute("UPDATE ledger.account SET balance = balance + %s WHERE id = %s", (amount, target))
    cursor.execute("UPDATE ledger.counter SET n = %s WHERE writer = %s", (n, writer))
    place = (writer, n % SLOTS)
    if n % 3 == 0 and n > SLOTS:
        cursor.execute("UPDATE ledger.slot SET n = %s WHERE writer = %s AND slot = %s", (n, *place))
    else:
        cursor.execute("DELETE FROM ledger.slot WHERE writer = %s AND slot = %s", place)
        cursor.execute("INSERT INTO ledger.slot VALUES (%s, %s, %s, %s)", (*place, n, "y" * size))


def end_transaction(connection, _branch, is_kept, _out):
    """Ends it; whether its changes are there."""
    connection.commit() if is_kept else connection.rollback()
    return is_kept


def end_branch(connection, branch, is_kept, out):
    """The same of an XA transaction, which is prepared first. What is certain is told as soon as it is."""
    cursor = connection.cursor()
    cursor.execute(f"XA END '{branch}'")
    cursor.execute(f"XA PREPARE '{branch}'")
    out(f"prepared {branch}\n")
    if not is_kept:
        out(f"undone {branch}\n")
    cursor.execute(f"XA COMMIT '{branch}'" if is_kept else f"XA ROLLBACK '{branch}'")
    out(f"ended {branch}\n")
    return is_kept


def give_up(connection, branch, writer):
    """A lock was not to be had: nothing of it stays."""
    if writer < FIRST_XA:
        connection.rollback()
        return
    cursor = connection.cursor()
    try:
        cursor.execute(f"XA END '{branch}'")
    except pymysql.err.MySQLError as error:
        # a deadlock has rolled it back, which the end of the branch says
        if error.args[0] not in (1399, 1402, 1613, 1614):
            raise
    cursor.execute(f"XA ROLLBACK '{branch}'")


def gone_or_exit(who, error):
    """2003, 2006, 2013: the server went away, which is what this test does to it."""
    if error.args and error.args[0] not in (0, 2003, 2006, 2013) and not isinstance(error, OSError):
        print(f"{who}: {error}", file=sys.stderr)
        os._exit(1)


def define(host, port, done, out):
    try:
        cursor = connect(host, port).cursor()
        while True:
            cursor.execute(SHAPES[done % len(SHAPES)][0])
            done += 1
            out(f"{DDL} {done}\n")
            if shape_after(done)[0]:
                cursor.execute("REPLACE INTO ledger.shape (id) VALUES (%s), (%s)", (done, done + 1))
    except (pymysql.err.MySQLError, OSError) as error:
        gone_or_exit("DDL", error)


def shape_after(done):
    return SHAPES[(done - 1) % len(SHAPES)][1]


def switch(host, port, seed, flush):
    prng = random.Random(f"{seed}/switch")
    try:
        cursor = connect(host, port).cursor()
        while True:
            cursor.execute("SET GLOBAL innodb_flush_log_at_trx_commit = %s", (prng.choice(flush),))
            cursor.execute("SET GLOBAL innodb_log_writer_threads = %s", (prng.choice(("ON", "OFF", "AUTO")),))
            cursor.execute("SET GLOBAL innodb_redo_log_capacity = %s", (prng.choice((8, 16, 48)) << 20,))
            cursor.execute("SET GLOBAL innodb_log_write_ahead_size = %s", (prng.choice((512, 4096, 16384)),))
            time.sleep(prng.uniform(0.01, 0.5))
    except (pymysql.err.MySQLError, OSError) as error:
        gone_or_exit("switch", error)


def read(file):
    acknowledged = [0] * (WRITERS + 1)
    for first, second in lines(file):
        if first.isdecimal():
            acknowledged[int(first)] = max(acknowledged[int(first)], int(second))
    return acknowledged


def branches(file):
    """Branches of which the ledger says so: that they were prepared, are being rolled back, and have ended."""
    known = {"prepared": set(), "undone": set(), "ended": set()}
    for first, second in lines(file):
        if not first.isdecimal():
            known[first].add(second)
    return known


def lines(file):
    if not os.path.exists(file):
        return []
    with open(file) as ledger:
        return [line.split() for line in ledger]


def number_of(branch):
    """Its writer, and the number of the transaction."""
    writer, n, _ = branch.split(".")
    return int(writer), int(n)


def end_recovered(cursor, file, acknowledged, may_lose, wrong):
    """Ends the branches that are prepared. What they and the ledger leave: the number of entries by writer."""
    known = branches(file)
    cursor.execute("XA RECOVER")
    recovered = [row[3] for row in cursor.fetchall()]
    recovered = [name.decode() if isinstance(name, bytes) else name for name in recovered]
    entries = {}
    for branch in known["prepared"] - known["ended"] - known["undone"] - set(recovered):
        # its COMMIT was in flight, and has been carried out
        writer, n = number_of(branch)
        entries[writer] = n
    for branch in recovered:
        writer, n = number_of(branch)
        if not may_lose and (branch in known["ended"] or n != acknowledged[writer] + 1):
            wrong.append(f"branch {branch} is prepared although it has ended")
        is_kept = random.Random(branch).randrange(2) == 0
        cursor.execute(f"XA COMMIT '{branch}'" if is_kept else f"XA ROLLBACK '{branch}'")
        entries[writer] = n if is_kept else n - 1
    cursor.execute("XA RECOVER")
    if cursor.fetchall():
        wrong.append("a branch is prepared after its end")
    with open(file, "a") as ledger:
        for branch in known["prepared"] | set(recovered):
            if branch not in known["ended"]:
                ledger.write(f"ended {branch}\n")
    return {} if may_lose else entries


def lazy(host, port, file, seed):
    load(host, port, file, seed, flush=(0, 1))


def load(host, port, file, seed, flush=(1, 2)):
    done = read(file)[DDL]
    with open(file, "ab", buffering=0) as ledger:
        lock = threading.Lock()

        def out(line):
            with lock:
                ledger.write(line.encode())

        writers = [threading.Thread(target=write, args=(host, port, w, seed, out)) for w in range(WRITERS)]
        writers.append(threading.Thread(target=define, args=(host, port, done, out)))
        writers.append(threading.Thread(target=switch, args=(host, port, seed, flush)))
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()


def whole(host, port, file):
    return check(host, port, file, may_lose=True)


def check(host, port, file, may_lose=False):
    acknowledged = read(file)
    connection = connect(host, port)
    cursor = connection.cursor()
    wrong = []
    total = 0
    expected = end_recovered(cursor, file, acknowledged, may_lose, wrong)
    for writer in range(WRITERS):
        cursor.execute("SELECT n FROM ledger.entry WHERE writer = %s ORDER BY n", (writer,))
        entries = [n for (n,) in cursor.fetchall()]
        last = len(entries)
        total += last
        if entries != list(range(1, last + 1)):
            wrong.append(f"writer {writer}: entries are not 1..{last}")
        least = 0 if may_lose else acknowledged[writer]
        if not least <= last <= acknowledged[writer] + 1:
            wrong.append(f"writer {writer}: {acknowledged[writer]} acknowledged, {last} there")
        if expected.get(writer, last) != last:
            wrong.append(f"writer {writer}: {last} there, {expected[writer]} after what was prepared")
        cursor.execute("SELECT n FROM ledger.counter WHERE writer = %s", (writer,))
        (counter,) = cursor.fetchone()
        if counter != last:
            wrong.append(f"writer {writer}: counter {counter}, {last} entries: half a transaction")
        cursor.execute("SELECT slot, n FROM ledger.slot WHERE writer = %s", (writer,))
        if dict(cursor.fetchall()) != {n % SLOTS: n for n in range(max(1, last - SLOTS + 1), last + 1)}:
            wrong.append(f"writer {writer}: the slots are not those after {last}")
    cursor.execute("SELECT SUM(balance) FROM ledger.account")
    (balance,) = cursor.fetchone()
    if balance != ACCOUNTS * BALANCE:
        wrong.append(f"accounts hold {balance}, not {ACCOUNTS * BALANCE}: half a transaction")
    cursor.execute("SELECT tag, n, writer FROM ledger.entry FORCE INDEX (by_tag) WHERE tag >= 0 ORDER BY tag, n")
    by_tag = sorted(cursor.fetchall())
    cursor.execute("SELECT tag, n, writer FROM ledger.entry FORCE INDEX (PRIMARY)")
    if by_tag != sorted(cursor.fetchall()):
        wrong.append("the indexes of entry disagree")
    cursor.execute("SELECT n, writer, slot FROM ledger.slot FORCE INDEX (by_n) WHERE n >= 0 ORDER BY n, writer")
    by_n = sorted(cursor.fetchall())
    cursor.execute("SELECT n, writer, slot FROM ledger.slot FORCE INDEX (PRIMARY)")
    if by_n != sorted(cursor.fetchall()):
        wrong.append("the indexes of slot disagree")
    cursor.execute(
        "SELECT (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'ledger' AND table_name = 'shape'),"
        " (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'ledger' AND table_name = 'shape')"
    )
    shape, done = cursor.fetchone(), acknowledged[DDL]
    possible = range(max(0, done - len(SHAPES) + 2), done + 2) if may_lose else (done, done + 1)
    found = [n for n in possible if shape_after(n) == shape]
    if not found:
        wrong.append(f"after {done} changes of its definition the table has {shape} columns and indexes")
    elif shape[0]:
        cursor.execute("SELECT COUNT(*) FROM ledger.shape")
        (rows,) = cursor.fetchone()
        cursor.execute("CHECK TABLE ledger.shape")
        if cursor.fetchone()[3] != "OK":
            wrong.append(f"the table of {rows} rows whose definition changed is damaged")
    for line in wrong:
        print(line)
    if wrong:
        return 1
    print(f"{total} transactions, all acknowledged ones there, none half")
    # one may have been durable without its acknowledgement having reached us: from now on it counts
    with open(file, "w" if may_lose else "a") as ledger:
        ledger.write(f"{DDL} {found[-1]}\n")
        for writer in range(WRITERS):
            cursor.execute("SELECT n FROM ledger.counter WHERE writer = %s", (writer,))
            ledger.write(f"{writer} {cursor.fetchone()[0]}\n")
    return 0


def canary(host, port, file):
    connection = connect(host, port)
    cursor = connection.cursor()
    # a known shape to begin with: none
    cursor.execute("DROP TABLE IF EXISTS ledger.shape")
    with open(file, "a") as ledger:
        done = read(file)[DDL]
        ledger.write(f"{DDL} {done + -done % len(SHAPES)}\n")
    lost = f"{FIRST_XA}.{read(file)[FIRST_XA] + 1}.0"
    with open(file, "a") as ledger:
        ledger.write(f"prepared {lost}\n")
    if check(host, port, file) == 0:
        print("the check did not notice a prepared branch that is lost")
        return 1
    for damage, repair in [
        ("UPDATE ledger.slot SET n = n + 1 WHERE writer = 1 AND slot = 1",
         "UPDATE ledger.slot SET n = n - 1 WHERE writer = 1 AND slot = 1"),
        ("UPDATE ledger.account SET balance = balance + 1 WHERE id = 0",
         "UPDATE ledger.account SET balance = balance - 1 WHERE id = 0"),
        ("CREATE TABLE IF NOT EXISTS ledger.shape (id INT, a INT, b INT)", "DROP TABLE ledger.shape"),
        ("DELETE FROM ledger.entry WHERE writer = 0 ORDER BY n DESC LIMIT 1", None),
    ]:
        cursor.execute(damage)
        connection.commit()
        if check(host, port, file) == 0:
            print(f"the check did not notice: {damage}")
            return 1
        if repair:
            cursor.execute(repair)
            connection.commit()
            if check(host, port, file) != 0:
                print(f"the check was not content after: {repair}")
                return 1
    print("the check noticed every planted fault")
    return 0


command = sys.argv[1]
sys.exit({"setup": setup, "load": load, "lazy": lazy, "check": check,
          "whole": whole, "canary": canary}[command](*sys.argv[2:]) or 0)
