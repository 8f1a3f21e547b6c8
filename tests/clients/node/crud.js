// mysql2 against a running server: CRUD over the text (query) and the binary (execute) protocol.
//
// Usage: crud.js HOST PORT. Prints one line on success; an assertion names what differs.
const assert = require('node:assert');
const mysql = require('mysql2/promise');

async function crud(connection, run) {
  await connection.query('DROP TABLE IF EXISTS t');
  await connection.query(
    'CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n BIGINT, s VARCHAR(100), b BLOB, d DECIMAL(8,3), x DOUBLE, j JSON, UNIQUE KEY s (s))');
  const blob = Buffer.from([...Array(256).keys()]);
  const [inserted] = await run('INSERT INTO t (n, s, b, d, x, j) VALUES (?, ?, ?, ?, ?, ?)',
    [-42, 'žluť 🐎', blob, '12345.678', 0.1, JSON.stringify({ a: [1, 'x'] })]);
  assert.strictEqual(inserted.insertId, 1);
  assert.strictEqual(inserted.affectedRows, 1);
  const [[row]] = await run('SELECT n, s, b, d, x, j FROM t WHERE id = ?', [1]);
  assert.strictEqual(row.n, -42);
  assert.strictEqual(row.s, 'žluť 🐎');
  assert.deepStrictEqual(row.b, blob);
  assert.strictEqual(row.d, '12345.678');
  assert.strictEqual(row.x, 0.1);
  assert.deepStrictEqual(row.j, { a: [1, 'x'] });
  await assert.rejects(run('INSERT INTO t (s) VALUES (?)', ['žluť 🐎']), { errno: 1062, sqlState: '23000' });
  await connection.beginTransaction();
  for (let i = 0; i < 50; i++) await run('INSERT INTO t (n, s) VALUES (?, ?)', [i, `row ${i}`]);
  await connection.rollback();
  const [[{ count }]] = await run('SELECT COUNT(*) AS count FROM t', []);
  assert.strictEqual(count, 1);
  await run('UPDATE t SET n = n + ?, s = NULL WHERE id = ?', [2, 1]);
  const [[after]] = await run('SELECT n, s FROM t', []);
  assert.deepStrictEqual({ ...after }, { n: -40, s: null });
  const [deleted] = await run('DELETE FROM t WHERE n < ?', [0]);
  assert.strictEqual(deleted.affectedRows, 1);
}

async function main() {
  const [, , host, port] = process.argv;
  const admin = await mysql.createConnection({ host, port, user: 'root' });
  await admin.query('DROP DATABASE IF EXISTS client_node');
  await admin.query('CREATE DATABASE client_node');
  const connection = await mysql.createConnection({ host, port, user: 'root', database: 'client_node' });
  await crud(connection, (text, values) => connection.query(text, values));
  await crud(connection, (text, values) => connection.execute(text, values));
  await connection.ping();
  await connection.changeUser({ user: 'root', database: 'client_node' });
  await admin.query('DROP USER IF EXISTS client_node');
  await admin.query("CREATE USER client_node IDENTIFIED BY 'geheim'");
  await admin.query('GRANT ALL ON client_node.* TO client_node');
  const secret = { host, port, user: 'client_node', password: 'geheim', database: 'client_node' };
  // encrypted with the server's RSA key, remembered, in TLS, compressed
  for (const more of [{}, {}, { ssl: { rejectUnauthorized: false } }, { compress: true }]) {
    const other = await mysql.createConnection({ ...secret, ...more });
    await crud(other, (text, values) => other.execute(text, values));
    const [[{ Value: version }]] = await other.query("SHOW SESSION STATUS LIKE 'Ssl_version'");
    assert.strictEqual(version !== '', more.ssl !== undefined);
    const [[{ Value: compression }]] = await other.query("SHOW SESSION STATUS LIKE 'Compression'");
    assert.strictEqual(compression, more.compress ? 'ON' : 'OFF');
    await other.end();
  }
  await connection.changeUser({ user: 'client_node', password: 'geheim', database: 'client_node' });
  await assert.rejects(mysql.createConnection({ ...secret, password: 'wrong' }), { errno: 1045 });
  await admin.query('DROP USER client_node');
  await connection.end();
  await admin.query('DROP DATABASE client_node');
  await admin.end();
  console.log('mysql2: ok');
}

main().catch((error) => { console.error(error); process.exit(1); });
