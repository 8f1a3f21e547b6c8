import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.Arrays;

/**
 * Connector/J against a running server: CRUD with client-side and server-side prepared statements.
 *
 * <p>Usage: Crud HOST PORT. Prints one line on success; an exception names what differs.
 */
public final class Crud {
  private static void check(boolean ok, String what, Object got) {
    if (!ok) {
      throw new AssertionError(what + ": " + got);
    }
  }

  private static void crud(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url, "root", "");
        Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS t");
      statement.execute(
          "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, n INT, s VARCHAR(100), b BLOB,"
              + " d DECIMAL(20,5), ts DATETIME(6), UNIQUE KEY s (s))");
      byte[] blob = new byte[256];
      for (int i = 0; i < blob.length; i++) {
        blob[i] = (byte) i;
      }
      Timestamp when = Timestamp.valueOf("2026-11-21 08:41:00.123456");
      try (PreparedStatement insert =
          connection.prepareStatement(
              "INSERT INTO t (n, s, b, d, ts) VALUES (?, ?, ?, ?, ?)", Statement.RETURN_GENERATED_KEYS)) {
        insert.setInt(1, -7);
        insert.setString(2, "žluť 🐎");
        insert.setBytes(3, blob);
        insert.setBigDecimal(4, new BigDecimal("123456789012.34567"));
        insert.setTimestamp(5, when);
        check(insert.executeUpdate() == 1, "affected rows", 0);
        try (ResultSet keys = insert.getGeneratedKeys()) {
          check(keys.next() && keys.getLong(1) == 1, "generated key", null);
        }
      }
      try (PreparedStatement select = connection.prepareStatement("SELECT * FROM t WHERE id = ?")) {
        select.setLong(1, 1);
        try (ResultSet row = select.executeQuery()) {
          check(row.next(), "a row", null);
          check(row.getInt("n") == -7, "n", row.getInt("n"));
          check(row.getString("s").equals("žluť 🐎"), "s", row.getString("s"));
          check(Arrays.equals(row.getBytes("b"), blob), "b", null);
          check(row.getBigDecimal("d").equals(new BigDecimal("123456789012.34567")), "d", row.getBigDecimal("d"));
          check(row.getTimestamp("ts").equals(when), "ts", row.getTimestamp("ts"));
          check(!row.next(), "one row only", null);
        }
      }
      try {
        statement.execute("INSERT INTO t (s) VALUES ('žluť 🐎')");
        throw new AssertionError("a duplicate key was accepted");
      } catch (SQLException error) {
        check(error.getErrorCode() == 1062 && error.getSQLState().equals("23000"), "duplicate", error);
      }
      connection.setAutoCommit(false);
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t (n, s) VALUES (?, ?)")) {
        for (int i = 0; i < 100; i++) {
          insert.setInt(1, i);
          insert.setString(2, "row " + i);
          insert.addBatch();
        }
        check(insert.executeBatch().length == 100, "batch", null);
      }
      connection.rollback();
      try (ResultSet count = statement.executeQuery("SELECT COUNT(*), MAX(n) FROM t")) {
        check(count.next() && count.getInt(1) == 1, "after rollback", count.getInt(1));
      }
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      check(statement.executeUpdate("UPDATE t SET n = n + 1 WHERE id = 1") == 1, "update", null);
      connection.commit();
      check(statement.executeUpdate("DELETE FROM t") == 1, "delete", null);
      connection.commit();
      try (ResultSet tables = connection.getMetaData().getColumns("client_java", null, "t", "%")) {
        int columns = 0;
        while (tables.next()) {
          columns++;
        }
        check(columns == 6, "columns in the metadata", columns);
      }
    }
  }

  /** More rows than are fetched at a time, and another statement in between. */
  private static void cursor(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url, "root", "");
        Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS c");
      statement.execute("CREATE TABLE c (id INT PRIMARY KEY, s VARCHAR(100))");
      StringBuilder insert = new StringBuilder("INSERT INTO c VALUES (0, 'x')");
      for (int i = 1; i < 1000; i++) {
        insert.append(", (").append(i).append(", REPEAT('x', ").append(i % 100).append("))");
      }
      statement.execute(insert.toString());
      try (PreparedStatement select = connection.prepareStatement("SELECT id, s FROM c ORDER BY id");
          ResultSet rows = select.executeQuery()) {
        for (int i = 0; i < 1000; i++) {
          check(rows.next() && rows.getInt(1) == i, "row of the cursor", i);
          if (i == 500) {
            check(statement.executeUpdate("DELETE FROM c WHERE id = 600") == 1, "delete meanwhile", null);
          }
        }
        check(!rows.next(), "rows after the last", null);
      }
      try (ResultSet fetched = statement.executeQuery("SHOW SESSION STATUS LIKE 'Com_stmt_fetch'")) {
        check(fetched.next() && fetched.getInt(2) >= 10, "fetches", null);
      }
    }
  }

  /** An account with a password: encrypted with the server's RSA key, remembered, and in TLS. */
  private static void password(String base) throws SQLException {
    try (Connection admin = DriverManager.getConnection(base, "root", "");
        Statement statement = admin.createStatement()) {
      statement.execute("DROP USER IF EXISTS client_java");
      statement.execute("CREATE USER client_java IDENTIFIED BY 'geheim'");
      for (String options : new String[] {
          "?sslMode=DISABLED&allowPublicKeyRetrieval=true", "?sslMode=DISABLED", "?sslMode=REQUIRED"}) {
        try (Connection connection = DriverManager.getConnection(base + options, "client_java", "geheim");
            Statement own = connection.createStatement();
            ResultSet user = own.executeQuery("SELECT CURRENT_USER()")) {
          check(user.next() && user.getString(1).equals("client_java@%"), "user", options);
        }
      }
      try {
        DriverManager.getConnection(base, "client_java", "wrong").close();
        throw new AssertionError("a wrong password was accepted");
      } catch (SQLException error) {
        check(error.getErrorCode() == 1045, "wrong password", error);
      }
      statement.execute("DROP USER client_java");
    }
  }

  public static void main(String[] arguments) throws SQLException {
    String base = "jdbc:mysql://" + arguments[0] + ":" + arguments[1] + "/";
    try (Connection admin = DriverManager.getConnection(base, "root", "");
        Statement statement = admin.createStatement()) {
      statement.execute("DROP DATABASE IF EXISTS client_java");
      statement.execute("CREATE DATABASE client_java");
    }
    crud(base + "client_java?useServerPrepStmts=false");
    crud(base + "client_java?useServerPrepStmts=true&cachePrepStmts=true");
    crud(base + "client_java?rewriteBatchedStatements=true&allowMultiQueries=true");
    crud(base + "client_java?useServerPrepStmts=true&useCursorFetch=true&defaultFetchSize=7&sslMode=DISABLED");
    crud(base + "client_java?sslMode=REQUIRED&useCompression=true&trackSessionState=true");
    cursor(base + "client_java?useCursorFetch=true&defaultFetchSize=100");
    password(base);
    try (Connection admin = DriverManager.getConnection(base, "root", "");
        Statement statement = admin.createStatement()) {
      statement.execute("DROP DATABASE client_java");
    }
    System.out.println("Connector/J: ok");
  }
}
